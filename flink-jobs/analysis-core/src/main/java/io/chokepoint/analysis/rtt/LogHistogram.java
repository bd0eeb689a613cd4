// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Histogram of durations with bins 9 % wide (8 per octave), from 1 µs to 2^27 µs; percentiles are right to ±4.5 %.
 * Mergeable by addition.
 */
public final class LogHistogram {
    private static final int BINS_PER_OCTAVE = 8;
    private static final int OCTAVES = 27;
    private static final long NANOS_PER_MICRO = 1_000;

    private static final int BINS = BINS_PER_OCTAVE * OCTAVES;
    private static final int[] EMPTY = {};

    private int[] counts = EMPTY; // BINS elements from the first duration on
    private long total;

    /** Counts one duration in ns; those out of range go to the first or last bin. */
    public void add(long nanos) {
        allocate();
        counts[bin(nanos)]++;
        total++;
    }

    private void allocate() {
        if (counts.length == 0) {
            counts = new int[BINS];
        }
    }

    /** Number of durations counted. */
    public long total() {
        return total;
    }

    /** Adds the counts of another histogram. */
    public void addAll(LogHistogram other) {
        if (other.total == 0) {
            return;
        }
        allocate();
        for (int i = 0; i < BINS; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
    }

    /** Forgets all counts. */
    public void clear() {
        if (total > 0) {
            java.util.Arrays.fill(counts, 0);
            total = 0;
        }
    }

    /**
     * The duration below which the share {@code quantile} of all lie: the geometric middle of its bin, in ns.
     *
     * @param quantile 0..1
     */
    public long quantile(double quantile) {
        long rank = (long) Math.ceil(quantile * total);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank && counts[i] > 0) {
                return (long) (NANOS_PER_MICRO * Math.pow(2, (i + 0.5) / BINS_PER_OCTAVE));
            }
        }
        return 0;
    }

    /**
     * Mean of the largest durations that make up the share {@code share} of all, in ns.
     *
     * @param share 0..1, exclusive of 0
     */
    public double upperMean(double share) {
        long wanted = Math.max(1, Math.round(share * total));
        double sum = 0;
        long taken = 0;
        for (int i = counts.length - 1; i >= 0 && taken < wanted; i--) {
            long take = Math.min(counts[i], wanted - taken);
            sum += take * NANOS_PER_MICRO * Math.pow(2, (i + 0.5) / BINS_PER_OCTAVE);
            taken += take;
        }
        return taken == 0 ? 0 : sum / taken;
    }

    private static int bin(long nanos) {
        double micros = Math.max(1, (double) nanos / NANOS_PER_MICRO);
        int octave = Math.getExponent(micros);
        int sub = subBin(micros / (1L << octave) - 1);
        return Math.min(BINS - 1, octave * BINS_PER_OCTAVE + sub);
    }

    /** Index of 2^(sub/8) in 1..2 for a mantissa of 1 + fraction. */
    private static int subBin(double fraction) {
        int sub = 0;
        while (sub < BINS_PER_OCTAVE - 1 && fraction >= EDGES[sub + 1]) {
            sub++;
        }
        return sub;
    }

    private static final double[] EDGES = edges();

    private static double[] edges() {
        double[] edges = new double[BINS_PER_OCTAVE];
        for (int i = 0; i < BINS_PER_OCTAVE; i++) {
            edges[i] = Math.pow(2, (double) i / BINS_PER_OCTAVE) - 1;
        }
        return edges;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.writeSparse(out, java.util.Arrays.stream(counts).asLongStream().toArray());
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        long[] read = new long[BINS];
        Varint.readSparse(in, read);
        counts = java.util.Arrays.stream(read).mapToInt(Math::toIntExact).toArray();
        total = java.util.Arrays.stream(read).sum();
        counts = total == 0 ? EMPTY : counts;
    }
}
