// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.verdict.Sharing.Answer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SharingTest {
    private static final double CAPACITY = 100e6;

    /** Waits: unshared, shared, undecided; then the dispersion, and how many of 100 ns of gaps hold foreign packets. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the rate says alone,                        80, 20, 0,  0.05,  20, ALONE,     80, 20",
        "the rate says shared,                       20, 80, 0,  0.15,  20, SHARED,    20, 80",
        "the gaps say alone,                         80, 20, 0,  0.10,  10, ALONE,     80, 20",
        "the gaps say shared,                        20, 80, 0,  0.10,  30, SHARED,    20, 80",
        "neither says anything,                      80, 20, 0,  0.10,  20, UNDECIDED, 50, 50",
        "just inside both grey zones,                80, 20, 0,  0.051, 29, UNDECIDED, 50, 50",
        "just inside on the other side,              80, 20, 0,  0.149, 11, UNDECIDED, 50, 50",
        "early waits follow the rate: alone,         0,  0,  60, 0.04,  20, ALONE,     60, 0",
        "early waits follow the rate: shared,        0,  0,  60, 0.30,  20, SHARED,    0,  60",
        "early waits beside decided ones,            50, 10, 40, 0.02,  20, ALONE,     90, 10",
        "as much of the one as of the other,         50, 50, 0,  0.05,  20, ALONE,     50, 50",
        "an odd ns of undecided time is not lost,    0,  0,  61, 0.10,  20, UNDECIDED, 31, 30",
    })
    void outsideOneGreyZoneTheLargerShareNamesTheAnswer(
            String name,
            long unshared,
            long shared,
            long undecided,
            double dispersion,
            long interleaved,
            Answer expected,
            long expectedUnshared,
            long expectedShared) {
        Sharing sharing = new Sharing(tally(unshared, shared, undecided, interleaved, 100), CAPACITY, dispersion);

        assertThat(sharing.answer()).as(name).isEqualTo(expected);
        assertThat(sharing.shares().unshared()).as(name).isEqualTo(expectedUnshared);
        assertThat(sharing.shares().shared()).as(name).isEqualTo(expectedShared);
    }

    @Test
    void withoutACapacityNobodyCanTell() {
        Sharing sharing = new Sharing(tally(0, 0, 101, 0, 100), 0, 0);

        assertThat(sharing.answer()).isEqualTo(Answer.UNDECIDED);
        assertThat(sharing.shares().unshared()).isEqualTo(51);
        assertThat(sharing.shares().shared()).isEqualTo(50);
    }

    @Test
    void withoutGapsOnlyTheRateCanTell() {
        assertThat(new Sharing(tally(80, 20, 0, 0, 0), CAPACITY, 0.10).answer()).isEqualTo(Answer.UNDECIDED);
        assertThat(new Sharing(tally(80, 20, 0, 0, 0), CAPACITY, 0.02).answer()).isEqualTo(Answer.ALONE);
    }

    @ParameterizedTest
    @EnumSource(Answer.class)
    void everyAnswerNamesAFullPath(Answer answer) {
        assertThat(answer.rootCause())
                .isIn(RootCause.UNSHARED_BOTTLENECK, RootCause.SHARED_BOTTLENECK, RootCause.BOTTLENECK);
    }

    @Property(tries = 500)
    void noTimeIsLostAndTheOtherCausesKeepTheirs(
            @ForAll @LongRange(min = 0, max = 1_000) long unshared,
            @ForAll @LongRange(min = 0, max = 1_000) long shared,
            @ForAll @LongRange(min = 0, max = 1_000) long undecided,
            @ForAll @DoubleRange(min = -0.1, max = 1) double dispersion,
            @ForAll boolean isCapacityKnown) {
        Tally tally = tally(unshared, shared, undecided, 20, 100);
        tally.set(Sum.APPLICATION_NS, 7);
        tally.set(Sum.TRANSPORT_NS, 5);

        Shares shares = new Sharing(tally, isCapacityKnown ? CAPACITY : 0, dispersion).shares();

        assertThat(shares.fullPath()).isEqualTo(unshared + shared + undecided);
        assertThat(shares.application()).isEqualTo(7);
        assertThat(shares.transport()).isEqualTo(5);
    }

    private static Tally tally(long unshared, long shared, long undecided, long interleaved, long gaps) {
        Tally tally = new Tally();
        tally.book(Cause.UNSHARED_BOTTLENECK, unshared);
        tally.book(Cause.SHARED_BOTTLENECK, shared);
        tally.book(Cause.QUEUE_UNDECIDED, undecided);
        tally.set(Sum.INTERLEAVED_NS, interleaved);
        tally.set(Sum.GAPS_NS, gaps);
        return tally;
    }
}
