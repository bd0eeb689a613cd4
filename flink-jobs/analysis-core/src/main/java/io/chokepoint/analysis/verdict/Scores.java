// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

/** The published scores, each from sums, so that a row of any length has them. */
public final class Scores {
    private static final double BITS_PER_BYTE = 8;
    private static final double NANOS_PER_SECOND = 1e9;

    private Scores() {}

    /**
     * How far a flow stays below the rate of its narrowest link [SIE08]: {@code 1 − rate / capacity}, at most 1. Slightly below
     * 0 if the rate is measured above the capacity. 9 Mbit/s on a 10 Mbit/s link give 0.1.
     */
    public static double dispersion(long deliveredBytes, long nanos, double capacityBitsPerSecond) {
        double rate = deliveredBytes * BITS_PER_BYTE * NANOS_PER_SECOND / nanos;
        return 1 - rate / capacityBitsPerSecond;
    }

    /** Share of the payload bytes that were sent again [SIE08], 0..1; duplicates and reordering are none. */
    public static double retransmission(long retransmittedBytes, long dataBytes) {
        return dataBytes == 0 ? 0 : (double) retransmittedBytes / dataBytes;
    }

    /**
     * How much of a round trip a window-limited sender spends silent, in (−∞, 1] [BAU20 §III-I]: it sends its window back to
     * back at the capacity and waits.
     *
     * <pre>{@code
     * score = 1 − (window / mss − 1) · (mss · 8 / capacity) / rtt
     * }</pre>
     *
     * 3000 B of 1500 B segments at 12 Mbit/s and 10 ms: one gap of 1 ms, 0.9. Departs from [BAU20], whose code has
     * {@code 8 · window − 1} for the number of gaps. The lowest RTT is meant: with a queue in it the score is void.
     */
    public static double burstiness(double windowBytes, int mssBytes, double capacityBitsPerSecond, double rttSeconds) {
        double gapsPerWindow = windowBytes / mssBytes - 1;
        double secondsPerSegment = mssBytes * BITS_PER_BYTE / capacityBitsPerSecond;
        return 1 - gapsPerWindow * secondsPerSegment / rttSeconds;
    }
}
