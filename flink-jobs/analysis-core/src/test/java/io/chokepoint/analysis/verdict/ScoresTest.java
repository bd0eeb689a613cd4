// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScoresTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void nineTenthsOfTheLinkLeaveADispersionOfOneTenth() {
        // 9 Mbit/s are 1,125,000 bytes a second.
        assertThat(Scores.dispersion(1_125_000, SECOND, 10e6)).isCloseTo(0.1, within(1e-12));
    }

    @ParameterizedTest(name = "{0} bytes of a capacity of 10 Mbit/s in a second: {1}")
    @CsvSource({"0, 1", "1250000, 0", "1300000, -0.04"})
    void dispersionEndsWhereTheLinkDoes(long bytes, double expected) {
        assertThat(Scores.dispersion(bytes, SECOND, 10e6)).isCloseTo(expected, within(1e-12));
    }

    @ParameterizedTest(name = "{0} of {1} bytes sent again: {2}")
    @CsvSource({"0, 0, 0", "0, 1000, 0", "10, 1000, 0.01", "1000, 1000, 1"})
    void theRetransmissionScoreIsAShareOfBytes(long retransmitted, long data, double expected) {
        assertThat(Scores.retransmission(retransmitted, data)).isCloseTo(expected, within(1e-12));
    }

    @Test
    void aWindowOfTwoSegmentsLeavesMostOfTheRoundTripIdle() {
        // 1500 B at 12 Mbit/s take 1 ms; one gap of 1 ms in a round trip of 10 ms.
        assertThat(Scores.burstiness(3_000, 1_500, 12e6, 0.010)).isCloseTo(0.9, within(1e-12));
    }

    @ParameterizedTest(name = "{0} segments: {1}")
    @CsvSource({"1, 1", "6, 0.5", "11, 0", "21, -1"})
    void aWindowOfOneRoundTripLeavesNoSilence(int segments, double expected) {
        assertThat(Scores.burstiness(segments * 1_500.0, 1_500, 12e6, 0.010)).isCloseTo(expected, within(1e-9));
    }

    @Property(tries = 300)
    void scalingAllTimesLeavesScoresUnchanged(
            @ForAll @LongRange(min = 0, max = 1L << 40) long bytes,
            @ForAll @LongRange(min = 1, max = 1L << 40) long nanos,
            @ForAll @DoubleRange(min = 5e6, max = 40e9) double capacity,
            @ForAll @IntRange(min = 1, max = 1_000) int scale) {
        assertThat(Scores.dispersion(bytes, nanos * scale, capacity / scale))
                .isCloseTo(
                        Scores.dispersion(bytes, nanos, capacity), within(1e-9 * (1 + bytes * 8e9 / nanos / capacity)));
        assertThat(Scores.burstiness(bytes, 1_448, capacity / scale, nanos / 1e9 * scale))
                .isCloseTo(
                        Scores.burstiness(bytes, 1_448, capacity, nanos / 1e9),
                        within(1e-9 * (1 + bytes * 8e9 / nanos / capacity)));
    }
}
