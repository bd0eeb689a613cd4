// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateRingTest {
    private static final double HALF_A_STEP_PERCENT = 0.0217;

    @ParameterizedTest(name = "{0} bit/s")
    @ValueSource(doubles = {1, 9.6e3, 5e6, 123_456_789, 40e9, 1e12})
    void aRateIsKeptToHalfAStep(double bitsPerSecond) {
        RateRing ring = new RateRing(4);

        ring.add(bitsPerSecond);

        assertThat(RateRing.rate(ring.code(0))).isCloseTo(bitsPerSecond, withinPercentage(HALF_A_STEP_PERCENT));
    }

    @ParameterizedTest(name = "{0} bit/s become the code {1}")
    @CsvSource({"0, 0", "0.1, 0", "NaN, 0", "1e13, 65535", "Infinity, 65535"})
    void aRateOutOfRangeIsClamped(double bitsPerSecond, int expected) {
        RateRing ring = new RateRing(4);

        ring.add(bitsPerSecond);

        assertThat(ring.code(0)).isEqualTo(expected);
    }

    @ParameterizedTest(name = "of {0}")
    @ValueSource(ints = {16, 96, 384})
    void theNewestRatesAreKept(int capacity) {
        RateRing ring = new RateRing(capacity);

        for (int i = 0; i < 2 * capacity + 5; i++) {
            ring.add(Math.pow(2, i / 100.0));
        }

        assertThat(ring.isFull()).isTrue();
        assertThat(ring.size()).isEqualTo(capacity);
        for (int i = 0; i < capacity; i++) {
            assertThat(ring.code(i)).isBetween(16 * (capacity + 5), 16 * (2 * capacity + 4));
        }
    }

    @Test
    void aRingIsFullAtItsCapacityAndNotBefore() {
        RateRing ring = new RateRing(20);

        for (int i = 1; i < 20; i++) {
            ring.add(1e6);
            assertThat(ring.isFull()).isFalse();
            assertThat(ring.size()).isEqualTo(i);
        }
        ring.add(1e6);
        assertThat(ring.isFull()).isTrue();
    }
}
