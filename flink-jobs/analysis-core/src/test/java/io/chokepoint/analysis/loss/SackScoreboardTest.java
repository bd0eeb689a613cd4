// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SackScoreboardTest {
    private static final int MOST_RANGES = 24;

    private final SackScoreboard held = new SackScoreboard();

    /** 100..200 and 300..400 are held. */
    @BeforeEach
    void holdTwoRanges() {
        held.add(100, 200);
        held.add(300, 400);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a block below all,               10,  50,  40, 240",
        "a block between two,             220, 250, 30, 230",
        "a block above all,               500, 600, 100, 300",
        "one that is known,               100, 200, 0,  200",
        "one inside a range,              120, 130, 0,  200",
        "one that grows a range upwards,  150, 250, 50, 250",
        "one that grows it downwards,     50,  150, 50, 250",
        "one that touches a range,        200, 210, 10, 210",
        "one that joins two ranges,       200, 300, 100, 300",
        "one over everything,             50,  450, 200, 400",
    })
    void onlyNewBytesOfABlockCount(String name, long left, long right, long expectedNew, long expectedBytes) {
        assertThat(held.add(left, right)).as(name).isEqualTo(expectedNew);
        assertThat(held.bytes()).as(name).isEqualTo(expectedBytes);
        assertThat(held.add(left, right)).as(name + ", again").isZero();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "below all,           50,  0,   200",
        "at a left edge,      100, 0,   200",
        "inside a range,      150, 50,  150",
        "at a right edge,     200, 100, 100",
        "between two ranges,  250, 100, 100",
        "above all,           400, 200, 0",
    })
    void theAcknowledgmentTakesOverWhatWasHeldBelowIt(String name, long ack, long expected, long expectedBytes) {
        assertThat(held.removeBelow(ack)).as(name).isEqualTo(expected);
        assertThat(held.bytes()).as(name).isEqualTo(expectedBytes);
    }

    @ParameterizedTest(name = "{0}..{1}: {2}")
    @CsvSource({"100, 200, true", "120, 150, true", "99, 150, false", "150, 201, false", "200, 300, false"})
    void aBlockIsHeldIfOneRangeHasAllOfIt(long left, long right, boolean expected) {
        assertThat(held.contains(left, right)).isEqualTo(expected);
    }

    @Test
    void clearingForgetsAll() {
        held.clear();

        assertThat(held.bytes()).isZero();
        assertThat(held.contains(100, 200)).isFalse();
        assertThat(held.removeBelow(1_000)).isZero();
    }

    @Test
    void aRangeTooManyJoinsTheTwoLowest() {
        held.clear();
        for (int i = 0; i < MOST_RANGES; i++) {
            held.add(100L * i, 100L * i + 10);
        }

        held.add(100L * MOST_RANGES, 100L * MOST_RANGES + 10);

        assertThat(held.contains(0, 110)).isTrue();
        assertThat(held.bytes()).isEqualTo(10 * (MOST_RANGES + 1) + 90);
    }

    @Test
    void aRangeTooManyBetweenTheTwoLowestIsHeldByTheirJoin() {
        held.clear();
        for (int i = 0; i < MOST_RANGES; i++) {
            held.add(100L * i, 100L * i + 10);
        }

        held.add(50, 60);

        assertThat(held.bytes()).isEqualTo(10 * MOST_RANGES + 90);
        assertThat(held.add(50, 60)).isZero();
        assertThat(held.removeBelow(110)).isEqualTo(110);
    }
}
