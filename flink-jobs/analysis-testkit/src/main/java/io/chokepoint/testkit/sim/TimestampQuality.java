// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.Locale;
import java.util.Random;

/** How well a capture's clock tells when a packet passed. */
enum TimestampQuality {
    /** A card that stamps each packet by itself. */
    EXACT,
    MICROSECOND,
    /** A driver that looks every 2.2 us, and then takes a few more. */
    POLLED,
    /** An interrupt 50 us after the first packet; what has come by then gets its time. */
    COALESCED_50_US,
    COALESCED_100_US,
    /** A kernel under load: some microseconds, and now and then the time of another task. */
    SOFTWARE;

    private static final long MICROSECOND_NS = 1_000;
    private static final long POLL_NS = 2_200;
    private static final double LEAST_JITTER_NS = 1_000;
    private static final double MOST_JITTER_NS = 3_000;
    private static final double SOFTWARE_JITTER_NS = 3_000;
    private static final double OTHER_TASK_PROBABILITY = 0.001;
    private static final double OTHER_TASK_NS = 100_000;

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The stamps of packets that passed at these times; both never fall. */
    long[] stamps(long[] timesNs, long seed) {
        Random random = new Random(seed);
        long[] stamps = new long[timesNs.length];
        long last = Long.MIN_VALUE;
        for (int i = 0; i < timesNs.length; i++) {
            last = Math.max(last, stamp(timesNs[i], last, random));
            stamps[i] = last;
        }
        return stamps;
    }

    private long stamp(long timeNs, long lastStampNs, Random random) {
        return switch (this) {
            case EXACT -> timeNs;
            case MICROSECOND -> Math.floorDiv(timeNs, MICROSECOND_NS) * MICROSECOND_NS;
            case POLLED -> {
                double meanNs = LEAST_JITTER_NS + random.nextDouble() * (MOST_JITTER_NS - LEAST_JITTER_NS);
                yield -Math.floorDiv(-timeNs, POLL_NS) * POLL_NS + exponential(meanNs, random);
            }
            case COALESCED_50_US -> coalesced(timeNs, lastStampNs, 50_000);
            case COALESCED_100_US -> coalesced(timeNs, lastStampNs, 100_000);
            case SOFTWARE -> {
                boolean waits = random.nextDouble() < OTHER_TASK_PROBABILITY;
                yield timeNs + exponential(waits ? OTHER_TASK_NS : SOFTWARE_JITTER_NS, random);
            }
        };
    }

    private static long coalesced(long timeNs, long lastStampNs, long delayNs) {
        return timeNs <= lastStampNs ? lastStampNs : timeNs + delayNs;
    }

    private static long exponential(double meanNs, Random random) {
        return Math.round(-StrictMath.log(1 - random.nextDouble()) * meanNs);
    }
}
