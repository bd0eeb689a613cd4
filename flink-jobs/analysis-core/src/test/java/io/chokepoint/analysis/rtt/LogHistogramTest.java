// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogHistogramTest {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double HALF_A_BIN_PERCENT = 4.5;

    private final LogHistogram histogram = new LogHistogram();

    @Test
    void nothingCountedIsZero() {
        assertThat(histogram.total()).isZero();
        assertThat(histogram.quantile(0.5)).isZero();
        assertThat(histogram.upperMean(0.5)).isZero();
    }

    @ParameterizedTest(name = "{0} of 1, 2, 4 and 8 ms: {1} ms")
    @CsvSource({"0, 1", "0.25, 1", "0.26, 2", "0.5, 2", "0.75, 4", "0.76, 8", "1, 8"})
    void quantilesAreTheValuesBelowWhichTheShareLies(double quantile, long expectedMillis) {
        for (long millis = 1; millis <= 8; millis *= 2) {
            histogram.add(millis * NANOS_PER_MILLI);
        }

        assertThat(histogram.quantile(quantile))
                .isCloseTo(expectedMillis * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
    }

    @ParameterizedTest(name = "largest {0} of 1, 2, 4 and 8 ms: {1} ms on average")
    @CsvSource({"0.25, 8", "0.5, 6", "1, 3.75", "0.001, 8"})
    void theUpperMeanIsThatOfTheLargest(double share, double expectedMillis) {
        for (long millis = 1; millis <= 8; millis *= 2) {
            histogram.add(millis * NANOS_PER_MILLI);
        }

        assertThat(histogram.upperMean(share))
                .isCloseTo(expectedMillis * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
    }

    @Test
    void theUpperMeanTakesOnlyPartOfACrowdedBin() {
        for (int i = 0; i < 9; i++) {
            histogram.add(NANOS_PER_MILLI);
        }
        histogram.add(10 * NANOS_PER_MILLI);

        assertThat(histogram.upperMean(0.2)).isCloseTo(5.5 * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
    }

    @ParameterizedTest(name = "{0} ns")
    @CsvSource({"-9223372036854775808", "-1", "0", "1", "999"})
    void whatIsShorterThanAMicrosecondIsInTheFirstBin(long nanos) {
        histogram.add(nanos);

        assertThat(histogram.quantile(1)).isBetween(1_000L, 1_090L);
    }

    /** 2^27 µs are 134 s. A stamp in 2106 makes gaps of 80 years. */
    @ParameterizedTest(name = "{0} ns")
    @CsvSource({"134217728000", "600000000000000000", "2500000000000000000", "9223372036854775807"})
    void whatIsLongerThanTheRangeIsInTheLastBin(long nanos) {
        histogram.add(nanos);

        assertThat(histogram.quantile(1)).isBetween(123_000_000_000L, 134_217_728_000L);
    }

    @Test
    void allOfAnotherHistogramIsAddedWhereItLies() {
        LogHistogram other = new LogHistogram();
        other.add(NANOS_PER_MILLI);
        other.add(64 * NANOS_PER_MILLI);
        histogram.add(8 * NANOS_PER_MILLI);

        histogram.addAll(other);

        assertThat(histogram.total()).isEqualTo(3);
        assertThat(histogram.quantile(0.1)).isCloseTo(NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
        assertThat(histogram.quantile(0.5)).isCloseTo(8 * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
        assertThat(histogram.quantile(1)).isCloseTo(64 * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
    }

    /** Doubling reaches 2^30 counts of a bin quickly; then counts are halved and shares stay. */
    @Test
    void aFullBinHalvesAllCounts() {
        histogram.add(NANOS_PER_MILLI);
        histogram.add(NANOS_PER_MILLI);
        histogram.add(8 * NANOS_PER_MILLI);
        for (int doublings = 0; doublings < 29; doublings++) {
            LogHistogram copy = new LogHistogram();
            copy.addAll(histogram);
            histogram.addAll(copy);
        }

        assertThat(histogram.total()).isEqualTo(3L << 28);
        histogram.add(8 * NANOS_PER_MILLI);
        assertThat(histogram.total()).isEqualTo((3L << 28) + 1);
        assertThat(histogram.quantile(0.66)).isCloseTo(NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
        assertThat(histogram.quantile(0.67)).isCloseTo(8 * NANOS_PER_MILLI, withinPercentage(HALF_A_BIN_PERCENT));
    }

    @Test
    void clearingForgetsAll() {
        histogram.add(5);

        histogram.clear();

        assertThat(histogram.total()).isZero();
        assertThat(histogram.quantile(1)).isZero();
    }
}
