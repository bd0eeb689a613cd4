// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
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
    private static final long PACKET_NANOS = 1_211_200; // of a frame at 10 Mbit/s
    private static final long START = 7_000 * MILLI;

    private final PathModel path = new PathModel();
    private final AckHistory acks = new AckHistory();
    private final Tally tally = new Tally();
    private WaitJudge judge = new WaitJudge(path, acks, tally);
    private long sent = 1_000_000;

    @BeforeEach
    void acknowledgeAllBefore() {
        path.senderSide().bound(MILLI);
        path.receiverSide().bound(39 * MILLI);
        acknowledge(0, sent);
        sent += 10 * MSS;
    }

    private void acknowledge(double millis, long number) {
        acks.push(at(millis), 0, number, EDGE);
        acks.advanceByTime(at(millis));
    }

    /** Flow time: the first packet of a test is not that of its flow. */
    private static long at(double millis) {
        return START + Math.round(millis * MILLI);
    }

    private void send(double millis, int bytes, boolean isPushed) {
        send(millis, millis, bytes, isPushed);
    }

    /** Each wait is judged by a copy that was made from the state. */
    private void send(double millis, double withoutQueueMillis, int bytes, boolean isPushed) {
        restart();
        judge.close(moment(millis, withoutQueueMillis, false), bytes);
        restart();
        sent += bytes;
        judge.open(at(millis), at(withoutQueueMillis), sent, MSS, bytes < MSS, isPushed);
    }

    private void restart() {
        judge = Restored.from(judge::writeTo, new WaitJudge(path, acks, tally), WaitJudge::readFrom);
    }

    private WaitJudge.Moment moment(double millis, double withoutQueueMillis, boolean lossPending) {
        return new WaitJudge.Moment(
                at(millis), at(withoutQueueMillis), sent, 1_000_000, MSS, false, lossPending, false, 0);
    }

    private long applicationMillis() {
        return tally.get(Sum.APPLICATION_NS) / MILLI;
    }

    @Test
    void untilTheLastBytesAreAcknowledgedTheApplicationSetsThePace() {
        judge.start(at(0));
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
        judge.start(at(0));
        send(0, 500, true);
        send(0, MSS, false);
        send(5, MSS, false);

        assertThat(applicationMillis()).isZero();
    }

    @Test
    void aShortSegmentWithoutPushEmptiedNothing() {
        judge.start(at(0));
        send(0, 500, false);
        send(5, MSS, false);

        assertThat(applicationMillis()).isZero();
    }

    @Test
    void aSenderThatWaitsForAnAckAfterAFullSegmentHasMoreAgain() {
        judge.start(at(0));
        send(0, 500, true);
        send(5, MSS, false);
        acknowledge(9, 1_000_000 + 2 * MSS);
        send(10, MSS, false);
        send(15, MSS, false);

        assertThat(applicationMillis()).isEqualTo(5);
    }

    @Test
    void acksThatReleaseNothingShowASendBuffer() {
        judge.start(at(100));
        send(100, MSS, false);
        acknowledge(102, 1_000_000 + 2 * MSS);
        acknowledge(104, 1_000_000 + 4 * MSS);
        acknowledge(106, 1_000_000 + 6 * MSS);
        acknowledge(108, 1_000_000 + 8 * MSS);
        send(110, MSS, false);

        assertThat(tally.get(Sum.SEND_BUFFER_NS)).isEqualTo(10 * MILLI);
        assertThat(tally.get(Sum.SEND_BUFFER_SEGMENTS)).isEqualTo(8);
        assertThat(tally.get(Sum.SEND_BUFFER_BURSTS)).isEqualTo(1);
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
        judge.start(at(100));
        send(100, MSS, false);
        hold(4, everyMillis);

        assertThat(sendBufferMillis()).isEqualTo(expectedMillis);
    }

    /** Eleven segments are in flight at the first hold: a quarter of them is 2.75. */
    @ParameterizedTest(name = "{0} segments more: {1} ms after the second hold")
    @CsvSource({"2, 7", "3, 0"})
    void holdsAtFlightsThatDifferByAQuarterAreNotOfOneBuffer(int more, long refillMillis) {
        judge.start(at(100));
        send(100, MSS, false);
        hold(1, 20);
        for (int segment = 0; segment < more; segment++) {
            send(118, MSS, false);
        }
        for (int segments = 2; segments <= 8; segments += 2) {
            acknowledge(120 + segments, 1_000_000 + (8L + segments) * MSS);
        }
        send(130, MSS, false);
        long before = sendBufferMillis();
        for (int segment = 1; segment < 8; segment++) {
            send(130 + segment, MSS, false);
        }

        assertThat(before).isEqualTo(22);
        assertThat(sendBufferMillis() - before).isEqualTo(refillMillis);
    }

    /** A window of ten segments is full after the last of ten that come 1 ms apart; its ACK takes 20 ms more. */
    @Test
    void whatASenderSpreadsBetweenTwoFullWindowsIsTheWindows() {
        judge.start(at(100));
        sent = EDGE;
        for (int round = 0; round < 3; round++) {
            long start = 100 + 30L * round;
            acks.push(at(start), 0, sent, sent + 10 * MSS);
            acks.advanceByTime(at(start));
            for (int segment = 0; segment < 10; segment++) {
                send(start + segment, MSS, false);
            }
        }

        assertThat(tally.get(Sum.RECEIVER_WINDOW_NS)).isEqualTo((2 * 21 + 9) * MILLI);
    }

    @ParameterizedTest(name = "{0} segments beyond the flight that was held, recovered at {1} ms: {2} ms more")
    @CsvSource({"0, 0, 3", "1, 0, 3", "2, 0, 0", "0, 149, 3", "0, 151, 0"})
    void aLargerFlightOrALossEndsIt(int segments, long recoveredMillis, long moreMillis) {
        judge.start(at(100));
        send(100, MSS, false);
        hold(3, 20);
        send(158, segments * MSS, false);
        long before = sendBufferMillis();
        judge.close(
                new WaitJudge.Moment(at(161), at(161), sent, 1_000_000, MSS, false, false, false, at(recoveredMillis)),
                MSS);

        assertThat(sendBufferMillis() - before).isEqualTo(moreMillis);
    }

    /** A queue before the tap holds the last packet for 30 ms; its sender has nothing more for 200 ms. */
    @Test
    void whatDrainsFromAQueueIntoAPauseIsTheApplications() {
        judge.start(at(0));
        for (int i = 1; i <= 40; i++) {
            path.onReceiverDelay(at(i * 5), (i % 2 == 0 ? 39 : 55) * MILLI, true);
        }
        for (int round = 1; round <= 5; round++) {
            acknowledge(round * 200 - 1, sent - MSS);
            send(round * 200, 10 * MSS, false);
        }
        judge.open(at(1_000), at(970), sent, MSS, false, false);
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
        judge.start(at(0));
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
        judge.start(at(0));
        for (int i = 1; i <= 40; i++) {
            path.onReceiverDelay(at(5 * i), (i % 2 == 0 ? 39 : 55) * MILLI, true);
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
        judge.start(at(0));
        send(0, MSS, false);
        judge.close(new WaitJudge.Moment(at(50), at(50), sent, 1_000_000, MSS, false, true, fromQueue, 0), MSS);

        assertThat(tally.get(fromQueue ? Sum.QUEUE_UNDECIDED_NS : Sum.TRANSPORT_NS))
                .isEqualTo(50 * MILLI);
    }

    /** Data of a link of 10 Mbit/s before the tap, then so much of it for 2 s. Returns when the last one passed. */
    private long passLink(double share, boolean queue) {
        path.growUp();
        path.setSegmentLayerBytes(1514);
        long now = MILLI;
        for (int i = 0; i < 100; i++) {
            path.onData(now += PACKET_NANOS, new Packet(), 1514, true, false);
        }
        for (int i = 0; i < 1_600; i++) {
            if (i % 8 == 0) {
                path.onReceiverDelay(now, (queue ? 80 : 39) * MILLI, true);
            }
            long uneven = i % 2 == 0 ? PACKET_NANOS / 20 : -PACKET_NANOS / 20;
            path.onData(now += Math.round(PACKET_NANOS / share) + uneven, new Packet(), 1514, false, false);
        }
        assertThat(path.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(1));
        return now;
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
        long now = passLink(share, queue);
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

    /** Three segments of a burst come a packet time apart; what follows owns this time, too. */
    @ParameterizedTest(name = "{0} packet times apart: {1} ms")
    @CsvSource({"1, 62.4224", "1.07, 62.591968", "1.09, 60"})
    void whatABurstTakesOnTheLinkBelongsToTheWaitBehindIt(double packetTimes, double millis) {
        double start = (passLink(0.5, false) - START) / (double) MILLI;
        double gap = packetTimes * PACKET_NANOS / MILLI;
        judge.start(at(start));
        acknowledge(start, sent);
        for (int i = 0; i < 3; i++) {
            send(start + i * gap, MSS, false);
        }
        acknowledge(start + 2 * gap + 40, sent);
        send(start + 2 * gap + 60, MSS, false);

        assertThat(tally.get(Sum.APPLICATION_NS)).isCloseTo(Math.round(millis * MILLI), within(1_000L));
    }

    @Test
    void anIntervalThatEndsBehindABurstOwnsItsTime() {
        double start = (passLink(0.5, false) - START) / (double) MILLI;
        judge.start(at(start));
        acknowledge(start, sent);
        for (int i = 0; i < 3; i++) {
            send(start + i * 1.2112, MSS, false);
        }
        judge.cut(moment(start + 3, start + 3, false));

        assertThat(tally.get(Sum.TRANSPORT_NS)).isCloseTo(3 * MILLI, within(1_000L));
    }

    /** A repair belongs to what filled the path before; but it is not of the time that tells who fills it. */
    @Test
    void theRepairOfALossOnAFullPathIsThePaths() {
        double start = (passLink(0.98, false) - START) / (double) MILLI;
        judge.start(at(start));
        acknowledge(start - 1, 1_000_000 + 2 * MSS);
        send(start, MSS, false);
        send(start + 1, MSS, false);
        assertThat(tally.get(Sum.UNSHARED_NS)).isEqualTo(MILLI);
        assertThat(tally.get(Sum.STEADY_FULL_NS)).isEqualTo(MILLI);
        assertThat(tally.get(Sum.FULL_BYTES)).isEqualTo(tally.get(Sum.STEADY_FULL_BYTES));

        path.onData(at(start + 2), new Packet(), 1514, false, false);
        judge.close(moment(start + 301, start + 301, true), MSS); // its rate has sunk long since
        assertThat(tally.get(Sum.UNSHARED_NS)).isEqualTo(301 * MILLI);
        assertThat(tally.get(Sum.STEADY_FULL_NS)).isEqualTo(MILLI);
        assertThat(tally.get(Sum.FULL_BYTES)).isEqualTo(tally.get(Sum.STEADY_FULL_BYTES) + 1514);
    }

    /** Before the first ACK of a wait nothing was released; four segments, a fifth of the flight and 2.5 ms are the least. */
    @ParameterizedTest(name = "{0} in flight, {1} acknowledged for {2} ms: send buffer {3}")
    @CsvSource({
        "20, 4, 10,   true",
        "20, 3, 10,   false",
        "25, 5, 10,   true",
        "26, 5, 10,   false",
        "20, 4, 2.5,  true",
        "20, 4, 2.49, false",
    })
    void whatASendBufferHoldsIsAFifthOfTheFlight(int flight, int acknowledged, double millis, boolean isSendBuffer) {
        sent = 1_000_000 + (flight - 1) * MSS;
        judge.start(at(0));
        send(0, MSS, false);
        acknowledge(millis / 2, 1_000_000 + acknowledged * MSS);
        acknowledge(millis, 1_000_000 + (acknowledged + 2) * MSS);
        send(millis, MSS, false);

        assertThat(tally.get(Sum.SEND_BUFFER_NS)).isEqualTo(isSendBuffer ? Math.round(millis * MILLI) : 0);
    }

    /** A 128th of the round trip; of a short one an eighth, but no more than 150 us. */
    @ParameterizedTest(name = "round trip {0} us, {1} us: pause {2}")
    @CsvSource({
        "40000, 312, false", "40000, 313, true", //
        "4000,  150, false", "4000,  151, true",
        "800,   100, false", "800,   101, true",
    })
    void aShortSegmentEmptiedItsBufferIfNoneFollowsAtOnce(long roundTripMicros, double micros, boolean isPause) {
        path.receiverSide().bound((roundTripMicros - roundTripMicros / 40) * 1_000);
        path.senderSide().bound(roundTripMicros / 40 * 1_000);
        judge.start(at(0));
        send(0, 500, true);
        send(micros / 1_000, MSS, false);
        send(5, MSS, false);

        assertThat(applicationMillis()).isEqualTo(isPause ? 5 : 0);
    }

    /** The queue before the tap kept for 5 ms what an ACK had released at once. */
    @ParameterizedTest(name = "in a queue for {0} ms")
    @CsvSource({"5, 2", "0, 25"})
    void whatAQueueKeptWasReleasedInTime(double queueMillis, long applicationMillis) {
        judge.start(at(0));
        send(0, 500, true);
        send(2, MSS, false);
        acknowledge(4, 1_000_000 + 2 * MSS);
        send(10, 10 - queueMillis, MSS, false); // the ACK had reached its sender at 5
        send(25, 25 - queueMillis, MSS, false);

        assertThat(tally.get(Sum.APPLICATION_NS) / MILLI).isEqualTo(applicationMillis);
    }

    @ParameterizedTest(name = "followed after {0} ms: {1}")
    @CsvSource({"10, 0", "10.1, 10.1"})
    void aShortSegmentEndsABurstAfterAQuarterOfTheRoundTrip(double millis, double applicationMillis) {
        judge.start(at(0));
        send(0, 500, false);
        send(millis, MSS, false);

        assertThat(tally.get(Sum.APPLICATION_SMALL_NS)).isEqualTo(Math.round(applicationMillis * MILLI));
    }

    /** Nothing is in flight from the ACK at 20 ms on, at its sender 1 ms later, or 5 ms with a queue before the tap. */
    @ParameterizedTest(name = "sender''s side {0} ms, data at {1} ms: idle {2}")
    @CsvSource({"1, 30.9, 0", "1, 31.1, 31.1", "5, 34.9, 0", "5, 35.1, 35.1"})
    void theApplicationPausesFromWhenTheAckHasReachedIt(long senderMillis, double millis, double idleMillis) {
        for (int i = 0; i < 8; i++) {
            path.onSenderDelay(i * MILLI, senderMillis * MILLI);
        }
        judge.start(at(0));
        send(0, MSS, false);
        acknowledge(20, sent);
        send(millis, MSS, false);

        assertThat(tally.get(Sum.APPLICATION_IDLE_NS)).isEqualTo(Math.round(idleMillis * MILLI));
    }
}
