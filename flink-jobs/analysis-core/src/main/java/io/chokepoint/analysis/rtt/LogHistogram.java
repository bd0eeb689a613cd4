// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

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
    private static final int MOST = 1 << 30; // two histograms add up without overflow

    private int[] counts = EMPTY; // of the octaves that durations were in, and those between
    private int first; // bin of counts[0], the lowest of an octave
    private long total;

    /** Counts one duration in ns; those out of range go to the first or last bin. */
    public void add(long nanos) {
        int bin = bin(nanos);
        cover(bin, bin + 1);
        counts[bin - first]++;
        total++;
        if (counts[bin - first] == MOST) {
            halve();
        }
    }

    /** Keeps the shares when a bin is full. */
    private void halve() {
        total = 0;
        for (int i = 0; i < counts.length; i++) {
            counts[i] /= 2;
            total += counts[i];
        }
    }

    /** Makes room for bins {@code from} (inclusive) to {@code to}: whole octaves. */
    private void cover(int from, int to) {
        if (from >= first && to <= first + counts.length) {
            return;
        }
        boolean empty = counts.length == 0;
        int low = Math.floorDiv(empty ? from : Math.min(from, first), BINS_PER_OCTAVE) * BINS_PER_OCTAVE;
        int high =
                -Math.floorDiv(-(empty ? to : Math.max(to, first + counts.length)), BINS_PER_OCTAVE) * BINS_PER_OCTAVE;
        int[] wider = new int[high - low];
        System.arraycopy(counts, 0, wider, empty ? 0 : first - low, counts.length);
        counts = wider;
        first = low;
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
        cover(other.first, other.first + other.counts.length);
        for (int i = 0; i < other.counts.length; i++) {
            counts[other.first - first + i] += other.counts[i];
        }
        total += other.total;
        if (Arrays.stream(counts).anyMatch(count -> count >= MOST)) {
            halve();
        }
    }

    /** Forgets all counts. */
    public void clear() {
        if (total > 0) {
            Arrays.fill(counts, 0);
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
                return (long) middleNanos(first + i);
            }
        }
        return 0;
    }

    /**
     * The median: the bin tells it to 9 %, and the mean, kept exactly, where in the bin a narrow distribution has it.
     *
     * @param meanNanos mean of the same durations
     */
    public long median(double meanNanos) {
        double middle = quantile(0.5);
        double halfBin = Math.pow(2, 0.5 / BINS_PER_OCTAVE);
        return Math.round(Math.max(middle / halfBin, Math.min(middle * halfBin, meanNanos)));
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
            sum += take * middleNanos(first + i);
            taken += take;
        }
        return taken == 0 ? 0 : sum / taken;
    }

    /** Geometric middle of a bin. */
    private static double middleNanos(int bin) {
        return NANOS_PER_MICRO * Math.pow(2, (bin + 0.5) / BINS_PER_OCTAVE);
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

    /** Writes the state: pairs of empty bins passed over and a count, behind their number. */
    public void writeTo(DataOutput out) throws IOException {
        int used = 0;
        for (int count : counts) {
            used += count == 0 ? 0 : 1;
        }
        Varint.write(out, used);
        int next = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0) {
                Varint.write(out, first + i - next);
                Varint.write(out, counts[i]);
                next = first + i + 1;
            }
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        counts = EMPTY;
        first = 0;
        total = 0;
        int next = 0;
        for (int used = Varint.readInt(in); used > 0; used--) {
            int bin = next + Varint.readInt(in);
            int count = Varint.readInt(in);
            cover(bin, bin + 1);
            counts[bin - first] = count;
            total += count;
            next = bin + 1;
        }
    }
}
