// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Times and delays in ms; a round lasts 100 ms. */
class RoundMinimumTest {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long ROUND_MILLIS = 100;

    private final RoundMinimum delays = new RoundMinimum();

    @Test
    void nothingIsKnownWithoutASample() {
        assertThat(delays.lifeMinimum()).isEqualTo(RoundMinimum.NONE);
        assertThat(delays.latest()).isEqualTo(RoundMinimum.NONE);
        assertThat(delays.recentMinimum()).isEqualTo(RoundMinimum.NONE);
        assertThat(delays.queueNanos(0)).isZero();
    }

    @Test
    void aQueueThatDrainsWithinTheRoundDoesNotStand() {
        round(0, 10, 12, 14, 16);
        round(100, 10, 25, 40, 55);

        assertThat(delays.queueNanos(0)).isZero();
    }

    @Test
    void aQueueStandsIfEvenTheLowestDelayOfARoundIsRaised() {
        round(0, 10, 12, 14, 16);
        round(100, 25, 18, 40, 55);
        round(200, 30, 31, 32, 33);

        assertThat(delays.recentMinimum()).isEqualTo(18 * NANOS_PER_MILLI);
        assertThat(delays.queueNanos(0)).isEqualTo(8 * NANOS_PER_MILLI);
    }

    @Test
    void aRoundThatHasBegunLowersButNeverRaisesTheRecentMinimum() {
        round(0, 20, 22, 24, 26);
        at(100, 90);
        assertThat(delays.recentMinimum()).isEqualTo(20 * NANOS_PER_MILLI);

        at(110, 15);
        assertThat(delays.recentMinimum()).isEqualTo(15 * NANOS_PER_MILLI);
    }

    @Test
    void threeSamplesOfARoundProveNothing() {
        at(0, 10);
        at(10, 10);
        at(20, 10);
        assertThat(delays.recentMinimum()).isEqualTo(RoundMinimum.NONE);

        at(30, 10);
        assertThat(delays.recentMinimum()).isEqualTo(10 * NANOS_PER_MILLI);
    }

    @Test
    void theLifeMinimumOutlivesEveryRound() {
        round(0, 10, 10, 10, 10);
        round(100, 50, 50, 50, 50);
        round(100_000, 50, 50, 50, 50);

        assertThat(delays.lifeMinimum()).isEqualTo(10 * NANOS_PER_MILLI);
        assertThat(delays.queueNanos(0)).isEqualTo(40 * NANOS_PER_MILLI);
    }

    @Test
    void theHandshakeBoundsTheLifeMinimumWithoutBeingASample() {
        delays.bound(10 * NANOS_PER_MILLI);
        assertThat(delays.latest()).isEqualTo(RoundMinimum.NONE);

        round(0, 30, 30, 30, 30);
        delays.bound(20 * NANOS_PER_MILLI);

        assertThat(delays.lifeMinimum()).isEqualTo(10 * NANOS_PER_MILLI);
        assertThat(delays.queueNanos(0)).isEqualTo(20 * NANOS_PER_MILLI);
    }

    /** On 10 Mbit/s a full segment takes 1.2 ms longer than the SYN. */
    @Test
    void whatFullSegmentsTakeLongerThanTheHandshakeIsNoQueue() {
        delays.bound(10 * NANOS_PER_MILLI);
        round(0, 30, 30, 30, 30);

        assertThat(delays.queueNanos(5 * NANOS_PER_MILLI)).isEqualTo(15 * NANOS_PER_MILLI);
        assertThat(delays.queueNanos(25 * NANOS_PER_MILLI)).isZero();
    }

    @Test
    void aFullSegmentThatFoundNoQueueNeedsNoAllowance() {
        round(0, 10, 10, 10, 10);
        delays.bound(10 * NANOS_PER_MILLI);
        round(100, 30, 30, 30, 30);
        round(200, 30, 30, 30, 30);

        assertThat(delays.queueNanos(5 * NANOS_PER_MILLI)).isEqualTo(20 * NANOS_PER_MILLI);
    }

    @Test
    void aSilenceForgetsTheRoundsAndKeepsTheLifeMinimum() {
        round(0, 10, 10, 10, 10);
        round(100, 50, 50, 50, 50);

        delays.restart();

        assertThat(delays.queueNanos(0)).isZero();
        assertThat(delays.lifeMinimum()).isEqualTo(10 * NANOS_PER_MILLI);
    }

    @Test
    void theFirstRoundBeginsWithItsFirstSample() {
        // Not at time 0: else the first sample of a flow would end a round on its own.
        long start = 1_700_000_000_000L;
        at(start, 10);
        at(start + 10, 30);
        at(start + 20, 30);
        at(start + 30, 30);

        assertThat(delays.recentMinimum()).isEqualTo(10 * NANOS_PER_MILLI);
    }

    /** A clock of 1 ms lets one delay a tick be measured, and a flow of few packets fewer than four a round. */
    @Test
    void aRoundLastsUntilFourDelaysWereMeasured() {
        for (int i = 0; i <= 4; i++) {
            at(80 * i, i == 0 ? 10 : 50);
        }
        assertThat(delays.queueNanos(0)).as("the first round, with the lowest").isZero();

        for (int i = 5; i <= 8; i++) {
            at(80 * i, 50);
        }
        assertThat(delays.queueNanos(0)).isEqualTo(40 * NANOS_PER_MILLI);
    }

    @Test
    void fourDelaysMakeNoRoundBeforeItsTime() {
        round(0, 10, 50, 50, 50);
        round(40, 50, 50, 50, 50);
        at(80, 50);

        assertThat(delays.queueNanos(0)).isZero();
    }

    /** Four samples, 10 ms apart. */
    private void round(long startMillis, long first, long second, long third, long fourth) {
        at(startMillis, first);
        at(startMillis + 10, second);
        at(startMillis + 20, third);
        at(startMillis + 30, fourth);
    }

    private void at(long nowMillis, long delayMillis) {
        delays.add(nowMillis * NANOS_PER_MILLI, delayMillis * NANOS_PER_MILLI, ROUND_MILLIS * NANOS_PER_MILLI);
    }
}
