// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.window.AckHistory;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A sender 1 ms before the tap, a receiver 39 ms behind it, window enough, and 10 segments in flight. */
class WaitJudgeTest {
    private static final long MILLI = 1_000_000;
    private static final int MSS = 1448;
    private static final long EDGE = 10_000_000;

    private final PathModel path = new PathModel();
    private final AckHistory acks = new AckHistory();
    private final Tally tally = new Tally();
    private final WaitJudge judge = new WaitJudge(path, acks, tally);
    private long sent = 1_000_000;

    @BeforeEach
    void acknowledgeAllBefore() {
        path.senderSide().bound(MILLI);
        path.receiverSide().bound(39 * MILLI);
        acknowledge(0, sent);
        sent += 10 * MSS;
    }

    private void acknowledge(long millis, long number) {
        acks.push(millis * MILLI, 0, number, EDGE);
        acks.advanceByTime(millis * MILLI);
    }

    private void send(long millis, int bytes, boolean isPushed) {
        long now = millis * MILLI;
        judge.close(new WaitJudge.Moment(now, now, sent, 1_000_000, MSS, false, false, false, 0), bytes);
        sent += bytes;
        judge.open(now, now, sent, MSS, bytes < MSS, isPushed);
    }

    private long applicationMillis() {
        return tally.get(Sum.APPLICATION_NS) / MILLI;
    }

    @Test
    void untilTheLastBytesAreAcknowledgedTheApplicationSetsThePace() {
        judge.start(0);
        send(0, 500, true);
        send(5, MSS, false);
        send(10, MSS, false);
        assertThat(applicationMillis()).isEqualTo(10);

        acknowledge(12, sent);
        send(12, MSS, false);
        assertThat(applicationMillis()).isEqualTo(10);
    }

    @Test
    void aShortSegmentThatTheNextFollowsAtOnceEmptiedNothing() {
        judge.start(0);
        send(0, 500, true);
        send(0, MSS, false);
        send(5, MSS, false);

        assertThat(applicationMillis()).isZero();
    }

    @Test
    void aShortSegmentWithoutPushEmptiedNothing() {
        judge.start(0);
        send(0, 500, false);
        send(5, MSS, false);

        assertThat(applicationMillis()).isZero();
    }

    @Test
    void aSenderThatWaitsForAnAckAfterAFullSegmentHasMoreAgain() {
        judge.start(0);
        send(0, 500, true);
        send(5, MSS, false);
        acknowledge(9, 1_000_000 + 2 * MSS);
        send(10, MSS, false);
        send(15, MSS, false);

        assertThat(applicationMillis()).isEqualTo(5);
    }

    @Test
    void acksThatReleaseNothingShowASendBuffer() {
        judge.start(100 * MILLI);
        send(100, MSS, false);
        acknowledge(102, 1_000_000 + 2 * MSS);
        acknowledge(104, 1_000_000 + 4 * MSS);
        acknowledge(106, 1_000_000 + 6 * MSS);
        acknowledge(108, 1_000_000 + 8 * MSS);
        send(110, MSS, false);

        assertThat(tally.get(Sum.SEND_BUFFER_NS)).isEqualTo(10 * MILLI);
        assertThat(tally.get(Sum.SEND_BUFFER_SEGMENTS)).isEqualTo(8);
    }

    /** From 100 ms on, every so many ms: eight segments are acknowledged and release nothing for 10 ms, then go out in 8 ms. */
    private void hold(int times, int everyMillis) {
        for (int i = 0; i < times; i++) {
            long start = 100 + (long) i * everyMillis;
            for (int segments = 2; segments <= 8; segments += 2) {
                acknowledge(start + segments, 1_000_000 + (8L * i + segments) * MSS);
            }
            for (int segment = 0; segment < 8; segment++) {
                send(start + 10 + segment, MSS, false);
            }
        }
    }

    private long sendBufferMillis() {
        return tally.get(Sum.SEND_BUFFER_NS) / MILLI;
    }

    /** The least round trip is 40 ms; none is measured here. */
    @ParameterizedTest(name = "every {0} ms")
    @CsvSource({"20, 70", "319, 967", "321, 952"})
    void whatASenderSpreadsAfterTheSecondHoldIsTheSendBuffers(int everyMillis, long expectedMillis) {
        judge.start(100 * MILLI);
        send(100, MSS, false);
        hold(4, everyMillis);

        assertThat(sendBufferMillis()).isEqualTo(expectedMillis);
    }

    @ParameterizedTest(name = "{0} segments beyond the flight that was held, recovered at {1} ms: {2} ms more")
    @CsvSource({"0, 0, 3", "1, 0, 3", "2, 0, 0", "0, 149, 3", "0, 151, 0"})
    void aLargerFlightOrALossEndsIt(int segments, long recoveredMillis, long moreMillis) {
        judge.start(100 * MILLI);
        send(100, MSS, false);
        hold(3, 20);
        send(158, segments * MSS, false);
        long before = sendBufferMillis();
        judge.close(
                new WaitJudge.Moment(
                        161 * MILLI, 161 * MILLI, sent, 1_000_000, MSS, false, false, false, recoveredMillis * MILLI),
                MSS);

        assertThat(sendBufferMillis() - before).isEqualTo(moreMillis);
    }

    /** A queue before the tap holds the last packet for 30 ms; its sender has nothing more for 200 ms. */
    @Test
    void whatDrainsFromAQueueIntoAPauseIsTheApplications() {
        judge.start(0);
        for (int i = 1; i <= 40; i++) {
            path.onReceiverDelay(i * 5 * MILLI, (i % 2 == 0 ? 39 : 55) * MILLI, true);
        }
        for (int round = 1; round <= 5; round++) {
            acknowledge(round * 200 - 1, sent - MSS);
            send(round * 200, 10 * MSS, false);
        }
        judge.open(1_000 * MILLI, 970 * MILLI, sent, MSS, false, false);
        long queued = tally.get(Sum.QUEUE_UNDECIDED_NS);
        assertThat(queued).isPositive();
        acknowledge(1_040, sent);
        send(1_200, MSS, false);

        assertThat(applicationMillis()).isEqualTo(230);
        assertThat(tally.get(Sum.QUEUE_UNDECIDED_NS)).isEqualTo(queued - 30 * MILLI);
    }

    /** Two full segments a round, sent so long after all was acknowledged; a clock's steps and 20 us are the least. */
    @ParameterizedTest(name = "round trip {0} us, pause {1} us, clock steps of {2} us: {3}")
    @CsvSource({
        "40000, 9900,  0,    false",
        "40000, 10100, 0,    true",
        "40000, 19900, 5000, false",
        "40000, 20100, 5000, true",
        "40,    19,    0,    false",
        "40,    21,    0,    true",
    })
    void aQuarterOfTheRoundTripWithNothingInFlightIsTheApplications(
            int roundTripMicros, int pauseMicros, int stepMicros, boolean isApplication) {
        PacketScript script =
                PacketScript.parse("""
                mss 1448
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460>
                +0.%1$06d B > A S. 0:0(0) ack 1  win 65535 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1
                repeat 100 {
                +0.%2$06d A > B .  +1448 ack @
                +0.000001 A > B .  +1448 ack @
                +0.%1$06d B > A .  0:0(0) ack @
                }
                expect A > B share_application %3$s
                """.formatted(roundTripMicros, pauseMicros, isApplication ? "0.9..1" : "0..0.05"));
        Tap tap = new Tap().resolving(Math.max(1, stepMicros * 1_000L));

        Timeline.check(script, tap.takeAll(script.runs(RunCutter.PROBE)).rows());
    }

    /** Segments of 1000 bytes, one at a time: the network answers each after 40 ms. */
    @Test
    void whoWritesWhatThePeerAsksForWaitsForThePeer() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460>
                +0.040 B > A S. 0:0(0) ack 1  win 65535 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1
                repeat 150 {
                +0.000 A > B P. +1000 ack @
                +0.040 B > A P. +100  ack @
                }
                expect A > B root_cause application, sub_cause waiting_for_peer
                """);
    }

    @Test
    void aPauseThatNoAckHasJustEndedDoesNotEndADryRun() {
        judge.start(0);
        send(0, 500, true);
        acknowledge(7, 1_000_000 + 2 * MSS);
        send(10, MSS, false); // 2 ms after it had reached the sender
        send(15, MSS, false);
        acknowledge(17, 1_000_000 + 4 * MSS);
        send(20, MSS, false);
        send(25, MSS, false);

        assertThat(applicationMillis()).isEqualTo(25);
    }

    /** Delays behind the tap of 39 and 55 ms in turn: the least of each round is the lowest of all. */
    @ParameterizedTest(name = "rounds that grow by half: {0}")
    @ValueSource(booleans = {true, false})
    void aQueueThatComesAndGoesIsNoneInSlowStart(boolean isSlowStart) {
        judge.start(0);
        for (int i = 1; i <= 40; i++) {
            path.onReceiverDelay(i * 5 * MILLI, (i % 2 == 0 ? 39 : 55) * MILLI, true);
        }
        assertThat(path.isQueueStanding()).isTrue();
        assertThat(path.isQueueInEachRound()).isFalse();
        long before = 0;
        Sum owner = isSlowStart ? Sum.SLOW_START_NS : Sum.QUEUE_UNDECIDED_NS;
        for (int round = 1; round <= 5; round++) {
            before = tally.get(owner);
            acknowledge(round * 200 - 1, sent - MSS);
            send(round * 200, 10 * MSS << (isSlowStart ? round : 0), false);
        }

        assertThat(tally.get(owner) - before).as("the last round").isEqualTo(200 * MILLI);
    }

    @ParameterizedTest(name = "from a full queue: {0}")
    @ValueSource(booleans = {true, false})
    void aRepairIsThePathsIfAFullQueueLost(boolean fromQueue) {
        judge.start(0);
        send(0, MSS, false);
        judge.close(new WaitJudge.Moment(50 * MILLI, 50 * MILLI, sent, 1_000_000, MSS, false, true, fromQueue, 0), MSS);

        assertThat(tally.get(fromQueue ? Sum.QUEUE_UNDECIDED_NS : Sum.TRANSPORT_NS))
                .isEqualTo(50 * MILLI);
    }

    /** A link of 10 Mbit/s before the tap, then so much of it for 2 s. */
    @ParameterizedTest(name = "{0} of the capacity, window full {1}, queue {2}: {3}")
    @CsvSource({
        "0.93, true,  false, RECEIVER_WINDOW_NS",
        "0.93, true,  true,  UNSHARED_NS",
        "0.98, true,  false, UNSHARED_NS",
        "0.93, false, false, UNSHARED_NS",
        "0.85, true,  false, RECEIVER_WINDOW_NS",
        "0.85, true,  true,  RECEIVER_WINDOW_NS",
    })
    void aFullWindowOwnsWhatItLeavesOfTheLink(double share, boolean windowFull, boolean queue, Sum owner) {
        path.growUp();
        path.setSegmentLayerBytes(1514);
        long now = MILLI;
        long packetNanos = 1_211_200;
        for (int i = 0; i < 100; i++) {
            path.onData(now += packetNanos, new Packet(), 1514, true, false);
        }
        for (int i = 0; i < 1_600; i++) {
            if (i % 8 == 0) {
                path.onReceiverDelay(now, (queue ? 80 : 39) * MILLI, true);
            }
            long uneven = i % 2 == 0 ? packetNanos / 20 : -packetNanos / 20;
            path.onData(now += Math.round(packetNanos / share) + uneven, new Packet(), 1514, false, false);
        }
        assertThat(path.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(1));
        assertThat(path.isQueueStanding()).isEqualTo(queue);

        judge.start(now);
        long una = windowFull ? EDGE - 20 * MSS : sent;
        acks.push(now, 0, una, EDGE);
        acks.advanceByTime(now + MILLI);
        long end = windowFull ? EDGE - MSS / 2 : sent + 10 * MSS;
        judge.open(now, now, end, MSS, false, false);
        judge.close(new WaitJudge.Moment(now + 1, now + 1, end, una, MSS, false, false, false, 0), MSS);
        assertThat(tally.get(owner)).isEqualTo(1);
    }
}
