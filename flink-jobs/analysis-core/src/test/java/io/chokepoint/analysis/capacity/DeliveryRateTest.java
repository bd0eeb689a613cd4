// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** 1500 bytes every ms are 12 Mbit/s; the window is 100 ms. */
class DeliveryRateTest {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long WINDOW = 100 * NANOS_PER_MILLI;

    private final DeliveryRate rate = new DeliveryRate();

    @Test
    void nothingIsKnownBeforeTheWindowHasPassed() {
        assertThat(rate.bitsPerSecond(0, WINDOW)).isZero();

        deliver(0, 99);

        assertThat(rate.bitsPerSecond(99 * NANOS_PER_MILLI, WINDOW)).isZero();
        assertThat(rate.totalBytes()).isEqualTo(150_000);
    }

    @Test
    void aConstantRateIsMeasuredExactly() {
        deliver(0, 100);
        assertThat(rate.bitsPerSecond(100 * NANOS_PER_MILLI, WINDOW)).isCloseTo(12e6, within(1e-3));

        deliver(101, 5_000);
        assertThat(rate.bitsPerSecond(5_000 * NANOS_PER_MILLI, WINDOW)).isCloseTo(12e6, within(1e-3));
    }

    @Test
    void aPauseLowersTheRateAsItLasts() {
        deliver(0, 500);

        assertThat(rate.bitsPerSecond(550 * NANOS_PER_MILLI, WINDOW)).isBetween(5.9e6, 6.5e6);
        assertThat(rate.bitsPerSecond(700 * NANOS_PER_MILLI, WINDOW)).isZero();
    }

    @Test
    void onlyTheWindowCounts() {
        deliver(0, 500);
        for (int millis = 501; millis <= 650; millis++) {
            rate.add(millis * NANOS_PER_MILLI, 3_000, WINDOW);
        }

        assertThat(rate.bitsPerSecond(650 * NANOS_PER_MILLI, WINDOW)).isCloseTo(24e6, within(1e-3));
    }

    @Test
    void aHoleForgetsTheRateAndKeepsTheTotal() {
        deliver(0, 500);

        rate.restart();
        deliver(10_000, 10_050);

        assertThat(rate.bitsPerSecond(10_050 * NANOS_PER_MILLI, WINDOW)).isZero();
        assertThat(rate.totalBytes()).isEqualTo(1_500L * (501 + 51));
    }

    @Test
    void whatIsSkippedCountsInTheTotalOnly() {
        rate.skip(1_000_000);
        deliver(0, 200);

        assertThat(rate.totalBytes()).isEqualTo(1_000_000 + 1_500 * 201);
        assertThat(rate.bitsPerSecond(200 * NANOS_PER_MILLI, WINDOW)).isCloseTo(12e6, within(1e-3));
    }

    /** The bytes of a window that began anywhere before the oldest of many points. */
    @Test
    void aSearchGoesOnWhereTheLastOneEndedInBothDirections() {
        deliver(0, 500);

        assertThat(rate.bitsPerSecond(500 * NANOS_PER_MILLI, WINDOW)).isCloseTo(12e6, within(1e-3));
        assertThat(rate.bitsPerSecond(500 * NANOS_PER_MILLI, WINDOW / 2)).isCloseTo(12e6, within(1e-3));
        assertThat(rate.bitsPerSecond(500 * NANOS_PER_MILLI, WINDOW)).isCloseTo(12e6, within(1e-3));
    }

    /** One packet of 3000 bytes after 100 ms of 1500-byte ones: it counts in no window that ends with the packet before. */
    @Test
    void theShortestWindowThatIsLongEnoughIsTaken() {
        deliver(0, 100);
        rate.add(101 * NANOS_PER_MILLI, 150_000, WINDOW);

        assertThat(rate.bitsPerSecond(101 * NANOS_PER_MILLI, 50 * NANOS_PER_MILLI))
                .isBetween(8e9 * (49 * 1_500 + 150_000) / 54e6, 8e9 * (50 * 1_500 + 150_000) / 49e6);
    }

    private void deliver(long fromMillis, long toMillis) {
        for (long millis = fromMillis; millis <= toMillis; millis++) {
            rate.add(millis * NANOS_PER_MILLI, 1_500, WINDOW);
        }
    }
}
