// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Packets of 1500 bytes; times in ms. */
class BulkPeriodsTest {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Tally tally = new Tally();
    private final BulkPeriods periods = new BulkPeriods(tally);

    @Test
    void aDirectionWithoutDataHasNoPeriods() {
        periods.finish();

        assertThat(tally.get(Sum.BULK_PACKETS)).isZero();
        assertThat(tally.get(Sum.SHORT_PERIOD_PACKETS)).isZero();
    }

    @Test
    void dataWithoutAPauseAreOneBulkTransfer() {
        bulk(200, 1);

        periods.finish();

        assertBulk(200, 200);
    }

    @Test
    void fewerThan130PacketsAreAShortTransfer() {
        bulk(129, 1);

        periods.finish();

        assertBulk(0, 0);
        assertThat(tally.get(Sum.SHORT_PERIOD_PACKETS)).isEqualTo(129);
    }

    @Test
    void theRateFallsByATenthAtMostWhenPeriodsMerge() {
        bulk(200, 1);
        pause(43); // 400 packets in 442 ms, against 200 packets in 199 ms
        bulk(199, 1);

        periods.finish();

        assertBulk(400, 200 + 43 + 199);
    }

    @Test
    void aLongerPauseIsNotMerged() {
        bulk(200, 1);
        pause(44);
        bulk(199, 1);

        periods.finish();

        assertBulk(400, 200 + 199);
    }

    @Test
    void aShortTransferThatMergesIsBulk() {
        bulk(1_000, 1);
        pause(5);
        bulk(9, 2);
        pause(5);
        bulk(999, 1);

        periods.finish();

        assertBulk(2_010, 1_000 + 5 + 18 + 5 + 999);
        assertThat(tally.get(Sum.SHORT_PERIOD_PACKETS)).isZero();
    }

    @Test
    void aShortTransferThatDoesNotMergeIsLeftOut() {
        bulk(1_000, 1);
        pause(5_000);
        bulk(9, 1);
        pause(5_000);
        bulk(999, 1);

        periods.finish();

        assertBulk(2_000, 1_000 + 999);
        assertThat(tally.get(Sum.SHORT_PERIOD_PACKETS)).isEqualTo(10);
    }

    @Test
    void aSlowPeriodDoesNotMergeWithAFastOne() {
        bulk(200, 1);
        pause(1);
        bulk(200, 10);

        periods.finish();

        assertBulk(401, 200 + 2_000);
    }

    @Test
    void aPeriodThatIsClosedIsBookedWhenTheNextOneIs() {
        bulk(200, 1);
        pause(5_000);
        bulk(200, 1);
        assertBulk(0, 0);

        pause(5_000);
        assertBulk(200, 200);

        periods.finish();
        periods.finish();
        assertBulk(401, 400);
        assertThat(tally.get(Sum.SHORT_PERIOD_PACKETS)).isEqualTo(1);
    }

    private void bulk(int packets, long gapMillis) {
        for (int i = 0; i < packets; i++) {
            periods.onBusy(gapMillis * NANOS_PER_MILLI, 1_500);
        }
    }

    private void pause(long millis) {
        periods.onPause(millis * NANOS_PER_MILLI, 1_500);
    }

    private void assertBulk(long packets, long millis) {
        assertThat(tally.get(Sum.BULK_PACKETS)).isEqualTo(packets);
        assertThat(tally.get(Sum.BULK_BYTES)).isEqualTo(packets * 1_500);
        assertThat(tally.get(Sum.BULK_NS)).isEqualTo(millis * NANOS_PER_MILLI);
    }
}
