// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Mean delays of one direction in bins of 50 ms, on either side of the tap, of the running second and the one before. A
 * delay belongs to the bin in which its data passed the tap: flows of one queue then show it at one time, however far away
 * their ends are.
 *
 * <p>Times are those of the flow, whose zero may be anywhere; bins lie on multiples since the epoch.
 */
public final class DelaySeries {
    /** Length of a bin. */
    public static final long BIN_NANOS = 50_000_000;
    /** What an {@link Observation} is about. */
    public static final long SECOND_NANOS = 1_000_000_000;

    private long startNanos; // of the first bin
    private long layerBytes;
    private @Nullable Bins beforeTap; // null until there is a delay
    private @Nullable Bins afterTap;

    /** The running second begins at {@code now}, in the flow's time, and what was noted is forgotten. */
    public void begin(long now) {
        startNanos = now - SECOND_NANOS;
        layerBytes = 0;
        beforeTap = null;
        afterTap = null;
    }

    /** The flow has sent. */
    public void addBytes(long bytes) {
        layerBytes += bytes;
    }

    /** Data that passed the tap at {@code passed} answered an acknowledgment that had passed {@code delayNanos} before. */
    public void addBeforeTap(long passed, long delayNanos) {
        int bin = bin(passed);
        if (bin >= 0) {
            beforeTap = beforeTap == null ? new Bins() : beforeTap;
            beforeTap.add(bin, delayNanos);
        }
    }

    /** Data that passed the tap at {@code passed} were acknowledged {@code delayNanos} later. */
    public void addAfterTap(long passed, long delayNanos) {
        int bin = bin(passed);
        if (bin >= 0) {
            afterTap = afterTap == null ? new Bins() : afterTap;
            afterTap.add(bin, delayNanos);
        }
    }

    /** -1 for data that passed more than a second before the running one. */
    private int bin(long passed) {
        long bin = Math.floorDiv(passed - startNanos, BIN_NANOS);
        return bin < Bins.NUMBER ? (int) Math.max(-1, bin) : -1;
    }

    /**
     * What the second says of the bottleneck; null if nothing was sent or no queue stood.
     *
     * @param secondStart begin of the second, ns since the epoch
     * @param lowestBeforeNanos lowest delay of the flow's life between tap and sender
     * @param lowestAfterNanos the same between tap and receiver
     * @param capacityBitsPerSecond of the narrowest link if it is proven, else 0
     */
    public @Nullable Observation observe(
            long flowId,
            Direction direction,
            long secondStart,
            long lowestBeforeNanos,
            long lowestAfterNanos,
            long capacityBitsPerSecond) {
        long queueBefore = beforeTap == null ? 0 : beforeTap.queueNanos(lowestBeforeNanos);
        long queueAfter = afterTap == null ? 0 : afterTap.queueNanos(lowestAfterNanos);
        boolean isBefore = queueBefore > queueAfter;
        Bins bins = isBefore ? beforeTap : afterTap;
        long queue = Math.max(queueBefore, queueAfter);
        if (layerBytes == 0 || bins == null || queue == 0) {
            return null;
        }
        return new Observation(
                flowId,
                direction,
                secondStart,
                isBefore ? BottleneckSide.BEFORE_TAP : BottleneckSide.AFTER_TAP,
                layerBytes,
                capacityBitsPerSecond,
                queue,
                bins.meansMicros());
    }

    /** Writes the state: a few bytes unless delays wait to be told. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, startNanos);
        Varint.write(out, layerBytes);
        Bins.write(out, beforeTap);
        Bins.write(out, afterTap);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        startNanos = Varint.read(in);
        layerBytes = Varint.read(in);
        beforeTap = Bins.read(in);
        afterTap = Bins.read(in);
    }

    /** Sums and numbers of delays: those of the second before that came late, then those of the running one. */
    static final class Bins {
        static final int NUMBER = (int) (2 * SECOND_NANOS / BIN_NANOS);

        private static final int NANOS_PER_MICRO = 1_000;
        private static final int ENOUGH = 2;
        /** Least mean delay of a queue, in ns, and as a part of the lowest delay: what PathModel allows for jitter. */
        private static final long QUEUE_FLOOR_NANOS = 20_000;

        private static final int QUEUE_SHARE = 32;

        private final long[] sumNanos = new long[NUMBER];
        private final int[] delays = new int[NUMBER];

        void add(int bin, long delayNanos) {
            sumNanos[bin] += delayNanos;
            delays[bin]++;
        }

        /** Mean over the bins of how far their delay lies above the lowest of the flow's life; 0 if that is no queue. */
        long queueNanos(long lowestNanos) {
            long sum = 0;
            int bins = 0;
            for (int i = 0; i < NUMBER; i++) {
                if (delays[i] > 0) {
                    sum += sumNanos[i] / delays[i];
                    bins++;
                }
            }
            long queue = bins < ENOUGH ? 0 : sum / bins - lowestNanos;
            return queue > QUEUE_FLOOR_NANOS + lowestNanos / QUEUE_SHARE ? queue : 0;
        }

        /** Means in µs, at least 1; 0 where nothing was measured. */
        int[] meansMicros() {
            int[] means = new int[NUMBER];
            for (int i = 0; i < NUMBER; i++) {
                if (delays[i] > 0) {
                    long micros = sumNanos[i] / delays[i] / NANOS_PER_MICRO;
                    means[i] = (int) Math.min(Integer.MAX_VALUE, Math.max(1, micros));
                }
            }
            return means;
        }

        static void write(DataOutput out, @Nullable Bins bins) throws IOException {
            long[] counts = new long[NUMBER];
            for (int i = 0; bins != null && i < NUMBER; i++) {
                counts[i] = bins.delays[i];
            }
            Varint.writeSparse(out, counts);
            for (int i = 0; bins != null && i < NUMBER; i++) {
                if (counts[i] > 0) {
                    Varint.write(out, bins.sumNanos[i]);
                }
            }
        }

        static @Nullable Bins read(DataInput in) throws IOException {
            long[] counts = new long[NUMBER];
            Varint.readSparse(in, counts);
            Bins bins = null;
            for (int i = 0; i < NUMBER; i++) {
                if (counts[i] > 0) {
                    bins = bins == null ? new Bins() : bins;
                    bins.delays[i] = Math.toIntExact(counts[i]);
                    bins.sumNanos[i] = Varint.read(in);
                }
            }
            return bins;
        }
    }
}
