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

    /** Waits: unshared, shared, undecided; the rate while the path was full in % of the capacity; foreign packets in 100 ns. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the rate says alone,                         80, 20, 0,  96, 20, ALONE,     80, 20",
        "the rate says shared,                        20, 80, 0,  85, 20, SHARED,    20, 80",
        "the rate wins against the waits: alone,      20, 80, 0,  99, 90, ALONE,     100, 0",
        "the rate wins against the waits: shared,     80, 20, 0,  50, 11, SHARED,    0, 100",
        "a slower link: nothing fits in between,      80, 20, 0,  50, 10, UNDECIDED, 50, 50",
        "the gaps say alone,                          80, 20, 0,  90, 10, ALONE,     80, 20",
        "the gaps say shared,                         20, 80, 0,  90, 15, SHARED,    20, 80",
        "neither says anything,                       80, 20, 0,  90, 12, UNDECIDED, 50, 50",
        "just inside both grey zones,                 80, 20, 0,  93, 14, UNDECIDED, 50, 50",
        "just inside on the other side,               80, 20, 0,  89, 11, UNDECIDED, 50, 50",
        "early waits follow the rate: alone,          0,  0,  60, 96, 20, ALONE,     60, 0",
        "early waits follow the rate: shared,         0,  0,  60, 70, 20, SHARED,    0,  60",
        "early waits beside decided ones,             50, 10, 40, 98, 20, ALONE,     90, 10",
        "an odd ns of undecided time is not lost,     0,  0,  61, 90, 12, UNDECIDED, 31, 30",
    })
    void theRateWhileThePathWasFullTellsAndInItsGreyZoneTheGaps(
            String name,
            long unshared,
            long shared,
            long undecided,
            double ratePercent,
            long interleaved,
            Answer expected,
            long expectedUnshared,
            long expectedShared) {
        Tally tally = tally(unshared, shared, undecided, interleaved, 100);
        fill(tally, ratePercent);
        Sharing sharing = new Sharing(tally, CAPACITY, true);

        assertThat(sharing.answer()).as(name).isEqualTo(expected);
        assertThat(sharing.shares().unshared()).as(name).isEqualTo(expectedUnshared);
        assertThat(sharing.shares().shared()).as(name).isEqualTo(expectedShared);
    }

    /** The capacity is at least what was delivered once: less than that in a full path proves others, as much proves nothing. */
    @ParameterizedTest
    @CsvSource({"100, UNDECIDED", "89, UNDECIDED", "87, SHARED", "10, SHARED"})
    void aLowerBoundOfTheCapacityProvesOthersButNeverSolitude(double ratePercent, Answer expected) {
        Tally tally = tally(0, 0, 101, 0, 100);
        fill(tally, ratePercent);

        assertThat(new Sharing(tally, CAPACITY, false).answer()).isEqualTo(expected);
    }

    @Test
    void withoutAnyRateNobodyCanTell() {
        Tally tally = tally(0, 0, 101, 0, 100);
        fill(tally, 100);
        Sharing sharing = new Sharing(tally, 0, false);

        assertThat(sharing.answer()).isEqualTo(Answer.UNDECIDED);
        assertThat(sharing.shares().unshared()).isEqualTo(51);
        assertThat(sharing.shares().shared()).isEqualTo(50);
    }

    /** 100 ms of a full path, all of them repairs but so many ns. */
    @ParameterizedTest
    @CsvSource({"0, 100, ALONE", "0, 50, SHARED", "12499999, 100, ALONE", "12500000, 100, SHARED"})
    void repairsCountIfHardlyAnythingElseWasSeen(long steadyNanos, double ratePercent, Answer expected) {
        Tally tally = tally(0, 0, 100_000_000, 0, 100);
        tally.set(Sum.FULL_BYTES, Math.round(ratePercent / 100 * CAPACITY * 0.1 / 8));
        tally.set(Sum.STEADY_FULL_NS, steadyNanos);

        assertThat(new Sharing(tally, CAPACITY, true).answer()).isEqualTo(expected);
    }

    @Test
    void withoutGapsOnlyTheRateCanTell() {
        Tally grey = tally(80, 20, 0, 0, 0);
        fill(grey, 90);
        Tally clear = tally(80, 20, 0, 0, 0);
        fill(clear, 98);

        assertThat(new Sharing(grey, CAPACITY, true).answer()).isEqualTo(Answer.UNDECIDED);
        assertThat(new Sharing(clear, CAPACITY, true).answer()).isEqualTo(Answer.ALONE);
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
            @ForAll @DoubleRange(min = 0, max = 110) double ratePercent,
            @ForAll boolean isCapacityKnown) {
        Tally tally = tally(unshared, shared, undecided, 20, 100);
        tally.set(Sum.APPLICATION_NS, 7);
        tally.set(Sum.TRANSPORT_NS, 5);

        fill(tally, ratePercent);

        Shares shares = new Sharing(tally, CAPACITY, isCapacityKnown).shares();

        assertThat(shares.fullPath()).isEqualTo(unshared + shared + undecided);
        assertThat(shares.application()).isEqualTo(7);
        assertThat(shares.transport()).isEqualTo(5);
    }

    /** 100 ms of a full path without a loss, in which so much of the capacity was delivered. */
    private static void fill(Tally tally, double ratePercent) {
        tally.set(Sum.STEADY_FULL_NS, 100_000_000);
        tally.set(Sum.STEADY_FULL_BYTES, Math.round(ratePercent / 100 * CAPACITY * 0.1 / 8));
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
