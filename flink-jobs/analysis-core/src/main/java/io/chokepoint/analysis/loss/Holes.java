// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static io.chokepoint.analysis.wire.SequenceSpace.isBefore;

import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** Sequence numbers that the tap has not seen although higher ones passed: lost or late before the tap. */
public final class Holes {
    /** What filled a hole. */
    public enum Filling {
        /** The bytes were in no hole: the tap has seen them before. */
        NONE,
        /** Late but sent before the segment that opened the hole. */
        REORDERED,
        /** Sent again after a loss before the tap. */
        RESENT
    }

    private static final int CAPACITY = 32;

    private static final int SMALL = 2;

    // Grown up to CAPACITY as the flow needs it.
    private long[] low = {};
    private long[] high = {};
    private long[] openedNanos = {};
    private int[] openerTimestamp = {};
    private int[] openerIpId = {};
    private int size;

    /** The packet {@code opener} passed at {@code now} while {@code from} was expected next and it starts at {@code to}. */
    public void open(long now, long from, long to, Packet opener) {
        if (size == CAPACITY) {
            remove(0);
        }
        reserve(size + 1);
        low[size] = from;
        high[size] = to;
        openedNanos[size] = now;
        openerTimestamp[size] = opener.timestampValue;
        openerIpId[size] = opener.ipId;
        size++;
    }

    private void reserve(int holes) {
        if (holes > low.length) {
            int capacity = Math.min(CAPACITY, Math.max(SMALL, Math.max(holes, 2 * low.length)));
            low = Arrays.copyOf(low, capacity);
            high = Arrays.copyOf(high, capacity);
            openedNanos = Arrays.copyOf(openedNanos, capacity);
            openerTimestamp = Arrays.copyOf(openerTimestamp, capacity);
            openerIpId = Arrays.copyOf(openerIpId, capacity);
        }
    }

    /** Whether any byte is missing. */
    public boolean any() {
        return size > 0;
    }

    /**
     * A segment below the expected number passes: decides what it is, and closes what it fills.
     *
     * <p>In this order: an older TSval than the hole's opener was sent before it, a newer one after it; of equal ones the
     * IP-ID tells, where the sender counts it up; else the age, since a copy of something lost before the tap cannot come
     * earlier than one round trip after.
     */
    public Filling fill(long now, long from, long to, Packet packet, long shortestRoundTripNanos) {
        Filling filling = Filling.NONE;
        for (int i = size - 1; i >= 0; i--) {
            if (from < high[i] && low[i] < to) {
                filling = decide(now, i, packet, shortestRoundTripNanos); // the lowest hole has the last word
                cut(i, from, to);
            }
        }
        return filling;
    }

    private Filling decide(long now, int i, Packet packet, long shortestRoundTripNanos) {
        if (packet.hasTimestamps && packet.timestampValue != openerTimestamp[i]) {
            return isBefore(packet.timestampValue, openerTimestamp[i]) ? Filling.REORDERED : Filling.RESENT;
        }
        if (packet.ipId != 0 && openerIpId[i] != 0 && packet.ipId != openerIpId[i]) {
            return (short) (packet.ipId - openerIpId[i]) < 0 ? Filling.REORDERED : Filling.RESENT;
        }
        return now - openedNanos[i] < shortestRoundTripNanos / 2 ? Filling.REORDERED : Filling.RESENT;
    }

    private void cut(int i, long from, long to) {
        if (from <= low[i] && to >= high[i]) {
            remove(i);
        } else if (from <= low[i]) {
            low[i] = to;
        } else if (to >= high[i]) {
            high[i] = from;
        } else if (size < CAPACITY) {
            reserve(size + 1);
            copy(i, size);
            low[size] = to;
            high[i] = from;
            size++;
        } else {
            high[i] = from;
        }
    }

    /** The receiver has acknowledged up to {@code ack}: returns the bytes it got although the tap never saw them. */
    public long acknowledge(long ack) {
        long missed = 0;
        for (int i = size - 1; i >= 0; i--) {
            if (high[i] <= ack) {
                missed += high[i] - low[i];
                remove(i);
            } else if (low[i] < ack) {
                missed += ack - low[i];
                low[i] = ack;
            }
        }
        return missed;
    }

    /** Forgets all holes. */
    public void clear() {
        size = 0;
    }

    private void remove(int i) {
        size--;
        for (int k = i; k < size; k++) {
            copy(k + 1, k);
        }
    }

    private void copy(int from, int to) {
        low[to] = low[from];
        high[to] = high[from];
        openedNanos[to] = openedNanos[from];
        openerTimestamp[to] = openerTimestamp[from];
        openerIpId[to] = openerIpId[from];
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, size);
        for (int i = 0; i < size; i++) {
            Varint.write(out, low[i]);
            Varint.write(out, high[i] - low[i]);
            Varint.write(out, openedNanos[i]);
            Varint.write(out, openerTimestamp[i]);
            Varint.write(out, openerIpId[i]);
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        size = Varint.readInt(in);
        reserve(size);
        for (int i = 0; i < size; i++) {
            low[i] = Varint.read(in);
            high[i] = low[i] + Varint.read(in);
            openedNanos[i] = Varint.read(in);
            openerTimestamp[i] = (int) Varint.read(in);
            openerIpId[i] = (int) Varint.read(in);
        }
    }
}
