// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

/** Modes of the density of log rates, and which of them is the capacity. */
final class RateModes {
    private static final int STEPS_PER_BIN = 16; // 0.7 % of the rate
    private static final int[] KERNEL = {3, 2, 1}; // triangular, ±2 bins
    private static final int NEIGHBOURHOOD = 5; // bins; two modes are at least this far apart
    private static final double SIGNIFICANT = 0.15; // of the tallest mode [KAT04]
    private static final double ONE_SHORT_PACKET = 0.5; // foreign, in the gap of an own one
    private static final double USUAL = 0.5; // of the tallest mode
    private static final double SPREAD = 0.10; // thinner pair modes are jitter
    private static final double MULTIPLE_TOLERANCE = 0.025;
    private static final int MAX_OWN_PACKETS = 2;
    private static final int MAX_FOREIGN_PACKETS = 6;
    private static final double BELL_EDGE = 0.25; // of the mode's height

    private final RateRing ring;
    private final int lowest;
    private final int bins;
    private final int[] density;
    private final int tallest;
    private double bellShare;

    RateModes(RateRing ring) {
        this.ring = ring;
        int highest = 0;
        int low = Character.MAX_VALUE;
        for (int i = 0; i < ring.size(); i++) {
            highest = Math.max(highest, ring.code(i));
            low = Math.min(low, ring.code(i));
        }
        lowest = low;
        bins = (highest - lowest) / STEPS_PER_BIN + 1;
        density = density();
        tallest = indexOfTallest();
    }

    private int[] density() {
        int[] smooth = new int[bins];
        for (int i = 0; i < ring.size(); i++) {
            int bin = (ring.code(i) - lowest) / STEPS_PER_BIN;
            for (int k = 0; k < KERNEL.length; k++) {
                if (bin + k < bins) {
                    smooth[bin + k] += KERNEL[k];
                }
                if (k > 0 && bin - k >= 0) {
                    smooth[bin - k] += KERNEL[k];
                }
            }
        }
        return smooth;
    }

    private int indexOfTallest() {
        int best = 0;
        for (int i = 1; i < bins; i++) {
            best = density[i] > density[best] ? i : best;
        }
        return best;
    }

    /** Whether even the tallest mode holds less than a tenth of the samples. */
    boolean isSpread() {
        return countIn(tallest - NEIGHBOURHOOD / 2, tallest + NEIGHBOURHOOD / 2) < SPREAD * ring.size();
    }

    /** The capacity in bit/s. */
    double capacity() {
        for (int i = bins - 1; i > tallest; i--) {
            if (isMode(i) && holds(i, tallest)) {
                return refine(i);
            }
        }
        return refine(tallest);
    }

    /** Share of the samples in the bell of {@link #capacity}. */
    double bellShare() {
        return bellShare;
    }

    private boolean isMode(int at) {
        if (density[at] < SIGNIFICANT * density[tallest]) {
            return false;
        }
        int from = Math.max(0, at - NEIGHBOURHOOD);
        int to = Math.min(bins - 1, at + NEIGHBOURHOOD);
        for (int i = from; i <= to; i++) {
            if (density[i] > density[at] || (density[i] == density[at] && i > at)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a mode is where foreign packets between own ones would put it, if {@code higher} were the capacity. */
    private boolean holds(int higher, int mode) {
        double ratio = RateRing.rate((double) (mode - higher) * STEPS_PER_BIN);
        if (ratio >= ONE_SHORT_PACKET && density[higher] >= USUAL * density[mode]) {
            return true;
        }
        for (int own = 1; own <= MAX_OWN_PACKETS; own++) {
            for (int foreign = 1; foreign <= MAX_FOREIGN_PACKETS; foreign++) {
                double expected = (double) own / (own + foreign);
                if (Math.abs(ratio / expected - 1) < MULTIPLE_TOLERANCE) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Σ bits ÷ Σ time over the bell: the harmonic mean of its rates, since their packets are alike. */
    private double refine(int mode) {
        int from = mode;
        while (from > 0 && mode - from < NEIGHBOURHOOD && density[from - 1] >= BELL_EDGE * density[mode]) {
            from--;
        }
        int to = mode;
        while (to < bins - 1 && to - mode < NEIGHBOURHOOD && density[to + 1] >= BELL_EDGE * density[mode]) {
            to++;
        }
        double seconds = 0;
        int count = 0;
        for (int i = 0; i < ring.size(); i++) {
            int bin = (ring.code(i) - lowest) / STEPS_PER_BIN;
            if (bin >= from && bin <= to) {
                seconds += 1 / RateRing.rate(ring.code(i));
                count++;
            }
        }
        bellShare = (double) count / ring.size();
        return count == 0 ? 0 : count / seconds;
    }

    private int countIn(int from, int to) {
        int count = 0;
        for (int i = 0; i < ring.size(); i++) {
            int bin = (ring.code(i) - lowest) / STEPS_PER_BIN;
            count += bin >= from && bin <= to ? 1 : 0;
        }
        return count;
    }
}
