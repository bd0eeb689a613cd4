// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.analysis.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A sender 5 ms before the tap that stamps its segments by a clock of some tick. Times are within the flow, in ns. */
class SenderClockTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;
    private static final long PATH = 5 * MILLI;

    private final SenderClock clock = new SenderClock();
    private long tickNanos = MILLI;
    private long pathNanos = PATH;
    private int firstTimestamp;
    private long now;

    @Test
    void aSenderWithoutTimestampsShowsNoClock() {
        Packet packet = new Packet();

        clock.observe(MILLI, packet);

        assertThat(clock.passedWithoutQueueNanos(MILLI, packet)).isEqualTo(MILLI);
        assertThat(clock.wasStretched(MILLI, packet)).isFalse();
    }

    @Test
    void withoutAQueueASegmentPassesWhenItIsExpected() {
        sendEvery(MILLI, 300);

        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(PATH))).isCloseTo(now, within(MILLI));
    }

    @Test
    void aQueueIsWhatPassesLater() {
        sendEvery(MILLI, 300);

        now += 20 * MILLI;
        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(PATH + 20 * MILLI)))
                .isCloseTo(now - 20 * MILLI, within(2 * MILLI));
    }

    /** Clocks may drift apart by 200 ppm: 12 ms a minute. */
    @Test
    void aQueueThatStandsForAMinuteIsStillOne() {
        sendEvery(MILLI, 300);

        pathNanos = PATH + 20 * MILLI;
        sendEvery(10 * MILLI, 6_000);

        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(pathNanos)))
                .isBetween(now - 22 * MILLI, now - 6 * MILLI);
    }

    /** Two crystals of 75 ppm each, for ten minutes. */
    @Test
    void aSlowClockIsNoQueue() {
        tickNanos = MILLI * 1_000_150 / 1_000_000;
        sendEvery(10 * MILLI, 60_000);

        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(pathNanos))).isBetween(now - 2 * MILLI, now);
    }

    @Test
    void nothingIsExpectedInTheFuture() {
        sendEvery(MILLI, 300);

        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(-SECOND))).isEqualTo(now);
    }

    /** 1 µs and 1 ms of newer and older Linux, 4 and 10 ms of its old jiffies. */
    @ParameterizedTest(name = "{0} ns")
    @ValueSource(longs = {1_000, 100_000, 1_000_000, 4_000_000, 10_000_000})
    void theTickIsLearnt(long tick) {
        tickNanos = tick;
        sendEvery(MILLI, 1_000);

        now += 100 * MILLI;
        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(PATH + 100 * MILLI)))
                .isCloseTo(now - 100 * MILLI, within(2 * Math.max(tick, MILLI)));
    }

    /** A clock of 1 µs comes back to where it was after 72 minutes, one of 1 ms after 50 days. */
    @ParameterizedTest(name = "{0} ns")
    @ValueSource(longs = {1_000, 1_000_000})
    void aClockThatHasGoneHalfItsWayRoundIsStillOne(long tick) {
        tickNanos = tick;
        sendEvery(MILLI, 1_000);
        for (int i = 0; i < 3; i++) {
            sendEvery((1L << 30) * tick, 1);
            sendEvery(MILLI, 300);
        }

        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(PATH))).isCloseTo(now, within(Math.max(tick, MILLI)));
    }

    @ParameterizedTest(name = "from TSval {0}")
    @ValueSource(ints = {0, -100, Integer.MAX_VALUE - 100})
    void whereTimestampsBeginDoesNotMatter(int first) {
        firstTimestamp = first;
        sendEvery(MILLI, 300);

        now += 20 * MILLI;
        assertThat(clock.passedWithoutQueueNanos(now, sentBefore(PATH + 20 * MILLI)))
                .isCloseTo(now - 20 * MILLI, within(2 * MILLI));
    }

    /** Sixteen segments sent within one tick: what their passing takes is the path's doing from 1.2 ticks on. */
    @ParameterizedTest(name = "{0} us between segments: {1}")
    @CsvSource({"1, false", "74, false", "76, true", "1000, true"})
    void segmentsOfOneTickThatPassApartWereStretched(long gapMicros, boolean expected) {
        for (int i = 0; i < SenderClock.SEGMENTS; i++) {
            now += gapMicros * 1_000;
            clock.observe(now, stamped(7));
        }
        now += gapMicros * 1_000;

        assertThat(clock.wasStretched(now, stamped(7))).isEqualTo(expected);
    }

    @Test
    void segmentsThatPassAsTheyWereSentWereNotStretched() {
        sendEvery(10 * MILLI, 100);

        assertThat(clock.wasStretched(now + 10 * MILLI, sentBefore(PATH - 10 * MILLI)))
                .isFalse();
    }

    @Test
    void aStretchNeedsSixteenSegmentsOnThisSideOfABreak() {
        for (int i = 0; i < 100; i++) {
            clock.observe(now += MILLI, stamped(7));
        }
        assertThat(clock.wasStretched(now + MILLI, stamped(7))).isTrue();

        clock.breakChain();
        for (int i = 0; i < SenderClock.SEGMENTS - 1; i++) {
            clock.observe(now += MILLI, stamped(7));
        }
        assertThat(clock.wasStretched(now + MILLI, stamped(7))).isFalse();

        clock.observe(now += MILLI, stamped(7));
        assertThat(clock.wasStretched(now + MILLI, stamped(7))).isTrue();
    }

    private void sendEvery(long gapNanos, int segments) {
        for (int i = 0; i < segments; i++) {
            now += gapNanos;
            clock.observe(now, sentBefore(pathNanos));
        }
    }

    private Packet sentBefore(long nanosAgo) {
        return stamped((int) (firstTimestamp + (now - nanosAgo) / tickNanos));
    }

    private static Packet stamped(int timestamp) {
        Packet packet = new Packet();
        packet.hasTimestamps = true;
        packet.timestampValue = timestamp;
        return packet;
    }
}
