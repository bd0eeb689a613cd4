// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.SequenceSpace;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A sender's own clock, read from the TSvals of its segments (RFC 7323 §5.4): when it sent what passes now, and whether the path
 * before the tap has pushed its segments apart.
 */
public final class SenderClock {
    /** Segments that a stretch is judged over. */
    public static final int SEGMENTS = 16;

    private static final double STRETCHED = 1.2;
    private static final double DEFAULT_TICK_NANOS = 1e6;
    private static final double[] USUAL_TICKS = {1e3, 1e5, 1e6, 2e6, 4e6, 1e7, 1e8}; // ns
    private static final double USUAL_TICK_TOLERANCE = 0.05;
    private static final long LEARN_NANOS = 200_000_000;
    private static final long TRUST_NANOS = 10_000_000_000L;
    private static final long DRIFT = 5_000; // 200 ppm between the clocks of sender and tap: two of 100 ppm each

    // Empty before the first segment, then SEGMENTS elements.
    private long[] passedNanos = {};
    private int[] timestamp = {};
    private int next;
    private int size;
    private long firstNanos;
    private int firstTimestamp;
    private long newestTicks;
    private double tickNanos = DEFAULT_TICK_NANOS;
    private long learnAtNanos;
    private long leastOffsetNanos = Long.MAX_VALUE / 2;
    private long leastOffsetAtNanos;

    /** A segment of new data passes at {@code now}. */
    public void observe(long now, Packet packet) {
        if (!packet.hasTimestamps) {
            return;
        }
        if (firstNanos == 0) {
            allocate();
            firstNanos = now;
            firstTimestamp = packet.timestampValue;
            learnAtNanos = now + LEARN_NANOS;
        }
        passedNanos[next] = now;
        timestamp[next] = packet.timestampValue;
        next = (next + 1) % SEGMENTS;
        size = Math.min(size + 1, SEGMENTS);
        newestTicks = ticks(packet);
        if (now >= learnAtNanos) {
            learnTick(now);
            learnAtNanos = now + LEARN_NANOS;
        }
        long offset = now - sentNanos(packet);
        leastOffsetNanos = Math.min(leastOffsetNanos + (now - leastOffsetAtNanos) / DRIFT, offset);
        leastOffsetAtNanos = now;
    }

    /** Whether the sender puts its clock into its segments. */
    public boolean isShown() {
        return firstNanos != 0;
    }

    /** Step of the sender's clock, in ns; 0 if it shows none. */
    public long tickNanos() {
        return isShown() ? Math.round(tickNanos) : 0;
    }

    private void allocate() {
        passedNanos = new long[SEGMENTS];
        timestamp = new int[SEGMENTS];
    }

    private long sentNanos(Packet packet) {
        return firstNanos + Math.round(ticks(packet) * tickNanos);
    }

    /** Ticks since the first segment: a clock of 1 µs comes round in 72 minutes. */
    private long ticks(Packet packet) {
        return SequenceSpace.unwrap(packet.timestampValue - firstTimestamp, newestTicks);
    }

    /**
     * When a segment that passes now would have passed had it met no queue before the tap, up to one tick early; {@code now} if
     * the sender shows no clock.
     */
    public long passedWithoutQueueNanos(long now, Packet packet) {
        if (!packet.hasTimestamps || firstNanos == 0) {
            return now;
        }
        return Math.min(now, sentNanos(packet) + leastOffsetNanos);
    }

    /** Whether the last segments took longer to pass than their sender took to send them. */
    public boolean wasStretched(long now, Packet packet) {
        if (!packet.hasTimestamps || size < SEGMENTS) {
            return false;
        }
        long span = now - passedNanos[next];
        int ticks = packet.timestampValue - timestamp[next];
        return ticks >= 0 && span >= STRETCHED * (ticks + 1.0) * tickNanos;
    }

    private void learnTick(long now) {
        double learnt = tickSince(now - firstNanos);
        if (learnt != tickNanos) {
            tickNanos = learnt;
            leastOffsetNanos = Long.MAX_VALUE / 2; // by another tick it was another time
        }
    }

    private double tickSince(long elapsed) {
        if (elapsed < LEARN_NANOS || newestTicks <= 0) {
            return DEFAULT_TICK_NANOS;
        }
        double measured = (double) elapsed / newestTicks;
        double usual = nearestUsualTick(measured);
        boolean surelyUnusual = elapsed > TRUST_NANOS && Math.abs(measured / usual - 1) > USUAL_TICK_TOLERANCE;
        return surelyUnusual ? measured : usual;
    }

    /** A queue that changes falsifies a measured tick, so it is taken for the one that senders use. */
    private static double nearestUsualTick(double measured) {
        double nearest = DEFAULT_TICK_NANOS;
        for (double usual : USUAL_TICKS) {
            if (Math.abs(Math.log(measured / usual)) < Math.abs(Math.log(measured / nearest))) {
                nearest = usual;
            }
        }
        return nearest;
    }

    /** No stretch is judged across what happened here. */
    public void breakChain() {
        size = 0;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, firstNanos);
        if (firstNanos == 0) {
            return;
        }
        Varint.write(out, size);
        Varint.write(out, next);
        Varint.write(out, firstTimestamp);
        Varint.write(out, newestTicks);
        for (int i = 0; i < SEGMENTS; i++) {
            Varint.write(out, passedNanos[i] - leastOffsetAtNanos);
            Varint.write(out, timestamp[i] - firstTimestamp);
        }
        out.writeDouble(tickNanos);
        Varint.write(out, learnAtNanos);
        Varint.write(out, leastOffsetNanos);
        Varint.write(out, leastOffsetAtNanos);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        firstNanos = Varint.read(in);
        if (firstNanos == 0) {
            return;
        }
        allocate();
        size = Varint.readInt(in);
        next = Varint.readInt(in);
        firstTimestamp = (int) Varint.read(in);
        newestTicks = Varint.read(in);
        for (int i = 0; i < SEGMENTS; i++) {
            passedNanos[i] = Varint.read(in);
            timestamp[i] = firstTimestamp + (int) Varint.read(in);
        }
        tickNanos = in.readDouble();
        learnAtNanos = Varint.read(in);
        leastOffsetNanos = Varint.read(in);
        leastOffsetAtNanos = Varint.read(in);
        for (int i = 0; i < SEGMENTS; i++) {
            passedNanos[i] += leastOffsetAtNanos;
        }
    }
}
