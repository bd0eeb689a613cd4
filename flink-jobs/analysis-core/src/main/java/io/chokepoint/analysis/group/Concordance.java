// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

/**
 * How far two series are the same but for a constant: Lin's concordance correlation [LIN89] without its term for the shift,
 * 2·cov(x, y) ÷ (var(x) + var(y)). 1 if the difference of both is constant; around 0 for queues of their own, which may well
 * swing alike but not equally far. Correlation alone would take two saw teeth of different height for one.
 *
 * @param value -1..1
 * @param margin how far it lies above what chance explains; negative if it does not
 */
record Concordance(double value, double margin) {
    /** Bins with a delay of both, below which nothing is said: 1.5 s. */
    static final int LEAST_BINS = 30;

    private static final double LEAST_VALUE = 0.4;
    private static final double BINS_AT_LEAST_VALUE = 100;
    /** Nothing is known of two flows. */
    static final Concordance UNKNOWN = new Concordance(0, Double.NaN);

    /** Compares two series of delays, 0 where none was measured. */
    static Concordance of(int[] x, int[] y) {
        int bins = 0;
        long sumX = 0;
        long sumY = 0;
        for (int i = 0; i < x.length; i++) {
            if (x[i] > 0 && y[i] > 0) {
                bins++;
                sumX += x[i];
                sumY += y[i];
            }
        }
        if (bins < LEAST_BINS) {
            return UNKNOWN;
        }
        double meanX = (double) sumX / bins;
        double meanY = (double) sumY / bins;
        double varianceSum = 0;
        double covariance = 0;
        for (int i = 0; i < x.length; i++) {
            if (x[i] > 0 && y[i] > 0) {
                double dx = x[i] - meanX;
                double dy = y[i] - meanY;
                varianceSum += dx * dx + dy * dy;
                covariance += dx * dy;
            }
        }
        double value = varianceSum > 0 ? 2 * covariance / varianceSum : 0;
        return new Concordance(value, value - required(bins));
    }

    /** Chance makes agreement like 1/√n: what suffices of 5 s takes more of fewer. */
    private static double required(int bins) {
        return LEAST_VALUE * Math.max(1, Math.sqrt(BINS_AT_LEAST_VALUE / bins));
    }

    boolean isKnown() {
        return !Double.isNaN(margin);
    }
}
