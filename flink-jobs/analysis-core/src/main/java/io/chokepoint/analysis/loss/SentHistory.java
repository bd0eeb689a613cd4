// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * When the newest data segments passed the tap. In large flights only some groups of neighbouring segments are kept, so that
 * the gap between neighbours is always exact and the oldest unacknowledged ones are still there when their ACK comes.
 */
public final class SentHistory {
    /** No time. */
    public static final long NONE = Long.MIN_VALUE;

    private static final int CAPACITY = 256;
    private static final int SMALL = 8;
    private static final int GROUP = 8;

    // Powers of two, grown up to CAPACITY as the flow needs it.
    private long[] end = new long[SMALL];
    private long[] timeNanos = new long[SMALL];
    private boolean[] clean = new boolean[SMALL];
    private boolean[] resent = new boolean[SMALL];
    private int next;
    private int size;
    private long segments;

    // The newest answer of indexOf: an ACK's end is asked for several times. Not part of the state.
    private long foundSequence = NONE;
    private int foundAt;

    /**
     * A segment of new data passes.
     *
     * @param endSequence sequence number after its last byte; higher than all before
     * @param isClean no loss was pending, so its acknowledgment can be timed
     * @param flightSegments segments in flight, to choose how many groups are kept
     */
    public void add(long now, long endSequence, boolean isClean, long flightSegments) {
        int stride = Integer.highestOneBit((int) Math.max(1, Math.min(1 << 20, flightSegments * 4 / CAPACITY)));
        if ((segments++ / GROUP & (stride - 1)) != 0) {
            return;
        }
        if (size == end.length && size < CAPACITY && flightSegments > size) {
            resize(2 * size);
        }
        foundSequence = NONE;
        end[next] = endSequence;
        timeNanos[next] = now;
        clean[next] = isClean;
        resent[next] = false;
        next = (next + 1) & mask();
        size = Math.min(size + 1, end.length);
    }

    private int mask() {
        return end.length - 1;
    }

    private void resize(int capacity) {
        long[] newEnd = new long[capacity];
        long[] newTime = new long[capacity];
        boolean[] newClean = new boolean[capacity];
        boolean[] newResent = new boolean[capacity];
        for (int i = 0; i < size; i++) {
            int at = (next - size + i) & mask();
            newEnd[i] = end[at];
            newTime[i] = timeNanos[at];
            newClean[i] = clean[at];
            newResent[i] = resent[at];
        }
        end = newEnd;
        timeNanos = newTime;
        clean = newClean;
        resent = newResent;
        next = size;
    }

    /** When the segment ending exactly at {@code endSequence} passed; {@link #NONE} if it was not kept. */
    public long timeOf(long endSequence) {
        int at = indexOf(endSequence);
        return at >= 0 && end[at] == endSequence ? timeNanos[at] : NONE;
    }

    /** Whether the segment ending exactly there was sent once and with no loss pending. */
    public boolean isClean(long endSequence) {
        int at = indexOf(endSequence);
        return at >= 0 && end[at] == endSequence && clean[at];
    }

    /** Whether the segment ending exactly there was sent once. */
    public boolean isSentOnce(long endSequence) {
        int at = indexOf(endSequence);
        return at >= 0 && end[at] == endSequence && !resent[at];
    }

    /** When the kept segment with the lowest end at or above {@code sequence} passed; {@link #NONE} if there is none. */
    public long timeAtOrAfter(long sequence) {
        int at = indexOf(sequence);
        return at >= 0 ? timeNanos[at] : NONE;
    }

    /** A segment below {@code endSequence} was sent again: its acknowledgment says nothing about time (Karn). */
    public void markResent(long sequence, long endSequence) {
        for (int i = 1; i <= size; i++) {
            int at = (next - i) & mask();
            if (end[at] <= sequence) {
                return;
            }
            if (end[at] <= endSequence) {
                clean[at] = false;
                resent[at] = true;
            }
        }
    }

    /** Index of the lowest end at or above {@code sequence}, or -1. */
    private int indexOf(long sequence) {
        if (sequence == foundSequence) {
            return foundAt;
        }
        foundSequence = sequence;
        foundAt = search(sequence);
        return foundAt;
    }

    private int search(long sequence) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (end[(next - size + middle) & mask()] < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == size ? -1 : (next - size + low) & mask();
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, segments);
        Varint.write(out, size);
        long sequence = 0;
        long time = 0;
        for (int i = 0; i < size; i++) {
            int at = (next - size + i) & mask();
            Varint.write(out, ((end[at] - sequence) << 2) | (resent[at] ? 2 : 0) | (clean[at] ? 1 : 0));
            Varint.write(out, timeNanos[at] - time);
            sequence = end[at];
            time = timeNanos[at];
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        segments = Varint.read(in);
        foundSequence = NONE;
        size = 0;
        int count = Varint.readInt(in);
        while (end.length < count) {
            resize(2 * end.length);
        }
        size = count;
        next = size & mask();
        long sequence = 0;
        long time = 0;
        for (int i = 0; i < size; i++) {
            long code = Varint.read(in);
            sequence += code >> 2;
            time += Varint.read(in);
            end[i] = sequence;
            timeNanos[i] = time;
            clean[i] = (code & 1) != 0;
            resent[i] = (code & 2) != 0;
        }
    }
}
