// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import java.util.Random;

/**
 * Own packets of 1514 bytes that leave a full queue, with foreign ones of the same size between them, and the clock that
 * stamps them.
 */
final class Bottleneck {
    private static final double BITS = 1514 * 8;

    private final double bitsPerSecond;
    private final double foreignShare;
    private final double clockStepNanos;
    private final double jitterNanos;
    private final Random random;
    private double leftNanos;
    private double stampNanos;

    /**
     * @param foreignShare how likely one more foreign packet comes before the next own one
     * @param jitterNanos packets are stamped late by up to so much
     */
    Bottleneck(double bitsPerSecond, double foreignShare, double clockStepNanos, double jitterNanos, long seed) {
        this.bitsPerSecond = bitsPerSecond;
        this.foreignShare = foreignShare;
        this.clockStepNanos = clockStepNanos;
        this.jitterNanos = jitterNanos;
        this.random = new Random(seed);
    }

    /** Lets so many own packets pass, each a proven gap. */
    void feed(CapacityEstimator estimator, int packets) {
        for (int i = 0; i < packets; i++) {
            do {
                leftNanos += BITS * 1e9 / bitsPerSecond;
            } while (random.nextDouble() < foreignShare);
            double late = leftNanos + random.nextDouble() * jitterNanos;
            double stamp = Math.max(stampNanos, Math.floor(late / clockStepNanos) * clockStepNanos);
            long gap = (long) (stamp - stampNanos);
            stampNanos = stamp;
            if (gap > 0) {
                estimator.add((long) stamp, BITS, gap);
            }
            if (estimator.isDue()) {
                estimator.estimate(1);
            }
        }
    }
}
