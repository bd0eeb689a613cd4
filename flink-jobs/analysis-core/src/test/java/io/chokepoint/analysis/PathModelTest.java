// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathModelTest {
    private static final long MILLI = 1_000_000;

    private static final long FRAME = 1514;
    private static final long PACKET_NANOS = 1_211_200; // of a frame at 10 Mbit/s
    private static final boolean PUSHED = true;

    private final PathModel path = new PathModel();
    private long now = 1_000 * MILLI;

    /** Delays of 40, 50, 60, 50 … ms, ten in a round trip: the least of every round is the lowest of all. */
    private void passRounds(boolean mayNotBeDelayed) {
        path.receiverSide().bound(40 * MILLI);
        for (int i = 0; i < 100; i++) {
            long delay = i % 4 == 0 ? 40 : i % 4 == 2 ? 60 : 50;
            path.onReceiverDelay((1000 + 5L * i) * MILLI, delay * MILLI, mayNotBeDelayed || i % 4 == 0);
        }
    }

    @Test
    void aQueueThatComesAndGoesIsSeenInTheUsualRoundTrip() {
        passRounds(true);

        assertThat(path.isQueueStanding()).isTrue();
        assertThat(path.queueNanos()).isBetween(8 * MILLI, 14 * MILLI);
    }

    @Test
    void aReceiverThatDelaysItsAcksIsNoQueue() {
        passRounds(false);

        assertThat(path.isQueueStanding()).isFalse();
        assertThat(path.queueNanos()).isZero();
    }

    @ParameterizedTest(name = "sender's side {0} us of {1} us: may hide a queue {2}")
    @CsvSource({
        "20000, 40000, true",
        "5001, 40000, true",
        "5000, 40000, false",
        "101, 400, true",
        "100, 400, false",
        "50, 200, false",
        "51, 200, true"
    })
    void withoutTimestampsALongSideMayHideAQueue(long senderMicros, long roundTripMicros, boolean mayHide) {
        path.senderSide().bound(senderMicros * 1_000);
        path.receiverSide().bound((roundTripMicros - senderMicros) * 1_000);
        assertThat(path.mayHideQueueBeforeTap()).isFalse(); // a mouse is not followed

        path.growUp();
        assertThat(path.mayHideQueueBeforeTap()).isEqualTo(mayHide);
    }

    /** Until it is learnt a step is taken for 1 ms. */
    @ParameterizedTest(name = "round trip {0} us, timestamps in steps of 1 ms: may hide a queue {1}")
    @CsvSource({"40000, false", "1000, false", "998, true", "200, true"})
    void timestampsHideNothingThatTakesLongerThanTheirStep(long roundTripMicros, boolean mayHide) {
        path.senderSide().bound(roundTripMicros / 2 * 1_000);
        path.receiverSide().bound(roundTripMicros / 2 * 1_000);
        path.growUp();
        Packet packet = new Packet();
        packet.hasTimestamps = true;
        path.clock().observe(MILLI, packet);

        assertThat(path.mayHideQueueBeforeTap()).isEqualTo(mayHide);
    }

    // ---- what proves the capacity ----

    /** A round trip of 40 ms, 1 ms of it before the tap. */
    private PathModel grown() {
        PathModel grown = new PathModel();
        grown.senderSide().bound(MILLI);
        grown.receiverSide().bound(39 * MILLI);
        grown.growUp();
        grown.setSegmentLayerBytes(FRAME);
        return grown;
    }

    private static Packet segment(boolean isPushed) {
        Packet packet = new Packet();
        packet.flags = isPushed ? Packet.ACK | Packet.PSH : Packet.ACK;
        return packet;
    }

    /** Full segments every 1.2112 ms, as 10 Mbit/s lets them pass. */
    private void passData(PathModel to, int segments, boolean isPushed, boolean ranDry) {
        for (int i = 0; i < segments; i++) {
            to.onData(now += PACKET_NANOS, segment(isPushed), FRAME, true, ranDry);
        }
    }

    @Test
    void fullSegmentsAtOneDistanceForARoundTripProveTheCapacity() {
        PathModel even = grown();
        passData(even, 34, !PUSHED, false); // 33 gaps of 1.2 ms are 40 ms
        assertThat(even.provenSamples()).isZero();

        passData(even, 26, !PUSHED, false);
        assertThat(even.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(0.1));
    }

    @Test
    void anEvenRunGoesOnAfterARestart() {
        PathModel even = grown();
        passData(even, 30, !PUSHED, false);
        PathModel copy = Restored.from(even::writeTo, new PathModel(), PathModel::readFrom);
        passData(copy, 30, !PUSHED, false);

        assertThat(copy.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(0.1));
    }

    @Test
    void evenBurstsShorterThanARoundTripProveNothing() {
        PathModel bursts = grown();
        for (int i = 0; i < 50; i++) {
            passData(bursts, 30, !PUSHED, false);
            now += 15 * MILLI;
        }

        assertThat(bursts.provenSamples()).isZero();
    }

    @Test
    void aWritersRhythmIsNoLinks() {
        PathModel written = grown();
        passData(written, 500, PUSHED, false);

        assertThat(written.provenSamples()).isZero();
    }

    @Test
    void smallSegmentsAtOneDistanceProveNothing() {
        PathModel small = grown();
        for (int i = 0; i < 500; i++) {
            small.onData(now += PACKET_NANOS, segment(!PUSHED), FRAME - 1, true, false);
        }

        assertThat(small.provenSamples()).isZero();
    }

    @ParameterizedTest(name = "steps of {0} ns in gaps of 1211200 ns: proves {1}")
    @CsvSource({"24000, true", "24500, false"})
    void evenDataProveOnlyIfTheClockIsFine(long stepNanos, boolean proves) {
        PathModel even = grown();
        even.setResolution(stepNanos);
        passData(even, 200, !PUSHED, false);

        assertThat(even.provenSamples() > 0).isEqualTo(proves);
    }

    /** Two segments an ACK, which came 5 us apart; what is below 10 us more the host may have taken. */
    @ParameterizedTest(name = "ACKs {0} ns apart: prove {1}")
    @CsvSource({"14999, false", "15000, true"})
    void aStretchOfAcksBelow10MicrosecondsProvesNothing(long ackGapNanos, boolean proves) {
        PathModel stretched = grown();
        for (int i = 0; i < 100; i++) {
            stretched.onAck(now += ackGapNanos, 2 * FRAME, 2, 5_000, true);
        }

        assertThat(stretched.provenSamples() > 0).isEqualTo(proves);
        assertThat(stretched.capacityBitsPerSecond() > 0).isEqualTo(proves);
    }

    /** What a sender that waits for its application takes longer need not be a queue; uneven gaps prove nothing themselves. */
    @ParameterizedTest(name = "their sender ran dry: {0}")
    @ValueSource(booleans = {true, false})
    void dataAfterTheirSenderRanDryProveNoQueueBeforeTheTap(boolean ranDry) {
        PathModel raised = grown();
        for (int i = 0; i < 200; i++) {
            raised.onSenderDelay(now, 30 * MILLI);
            raised.onData(now += i % 2 == 0 ? 1_100_000 : 1_300_000, segment(!PUSHED), FRAME, true, ranDry);
        }

        assertThat(raised.isQueueBeforeTap()).isTrue();
        assertThat(raised.provenSamples() > 0).isEqualTo(!ranDry);
    }

    @Test
    void aStretchByTheirSendersClockProvesOneNevertheless() {
        PathModel stretched = grown();
        for (int i = 0; i < 200; i++) {
            Packet packet = segment(!PUSHED);
            packet.hasTimestamps = true;
            packet.timestampValue = i / 64; // 64 in a tick of 1 ms
            stretched.onData(now += i % 2 == 0 ? 1_100_000 : 1_300_000, packet, FRAME, true, true);
        }

        assertThat(stretched.provenSamples()).isPositive();
    }

    // ---- how fresh, and how fast ----

    @ParameterizedTest(name = "{0} ms after a round trip of {1} ms: {2}")
    @CsvSource({"200, 10, true", "201, 10, false", "800, 100, true", "801, 100, false"})
    void aDelayTellsForEightRoundTrips(long laterMillis, long roundTripMillis, boolean isTimed) {
        path.onReceiverDelay(now, roundTripMillis * MILLI, true);

        assertThat(path.isTimed(now + laterMillis * MILLI)).isEqualTo(isTimed);
    }

    /** ACKs of a queue of 30 ms for so long at a rate; every ms the rate is asked for. */
    private void deliver(PathModel by, int millis, double bitsPerSecond) {
        for (int i = 0; i < millis; i++) {
            by.onReceiverDelay(now += MILLI, 69 * MILLI, true);
            by.onAck(now, Math.round(bitsPerSecond / 8e3), 3, -1, true);
            by.isFull(now, true);
        }
    }

    @Test
    void oneBurstHardlyMovesTheRateInQueue() {
        PathModel queued = grown();
        deliver(queued, 3_000, 10e6);
        double before = queued.rateInQueue();
        assertThat(before).isCloseTo(10e6, withinPercentage(2));

        queued.onAck(now += MILLI, 20_000, 3, -1, true); // late: 16 ms of data in one
        queued.isFull(now, true);
        assertThat(queued.bestBitsPerSecond()).isGreaterThan(11e6);
        assertThat(queued.rateInQueue()).isCloseTo(before, withinPercentage(2));
    }

    @Test
    void theRateInQueueIsExceededInATenthOfTheWindowsAndSinksAgain() {
        PathModel queued = grown();
        deliver(queued, 3_000, 10e6);
        deliver(queued, 3_000, 20e6);
        assertThat(queued.rateInQueue()).isCloseTo(20e6, withinPercentage(3));

        deliver(queued, 3_000, 10e6);
        assertThat(queued.rateInQueue()).isCloseTo(10e6, withinPercentage(3));
        assertThat(queued.highestRateInQueue()).isEqualTo(queued.rateInQueue());
        PathModel copy = Restored.from(queued::writeTo, new PathModel(), PathModel::readFrom);
        assertThat(copy.rateInQueue()).isEqualTo(queued.rateInQueue()).isLessThan(copy.bestBitsPerSecond());
    }

    @Test
    void whatALinkDeliveredInOneRowItCan() {
        PathModel queued = grown();
        deliver(queued, 3_000, 20e6);
        queued.resetGaps();
        deliver(queued, 3_000, 10e6);
        queued.resetGaps();

        assertThat(queued.rateInQueue()).isCloseTo(10e6, withinPercentage(3));
        assertThat(queued.highestRateInQueue()).isCloseTo(20e6, withinPercentage(3));
        PathModel copy = Restored.from(queued::writeTo, new PathModel(), PathModel::readFrom);
        assertThat(copy.highestRateInQueue()).isEqualTo(queued.highestRateInQueue());
    }

    /** 0.98 to the power of 36 is less than a half. */
    @Test
    void aLinkThatHasBecomeSlowerIsForgivenRowByRow() {
        PathModel queued = grown();
        deliver(queued, 3_000, 20e6);
        queued.resetGaps();
        deliver(queued, 3_000, 10e6);
        for (int row = 0; row < 36; row++) {
            assertThat(queued.highestRateInQueue()).isGreaterThan(10e6);
            queued.resetGaps();
        }

        assertThat(queued.highestRateInQueue()).isEqualTo(queued.rateInQueue());
    }

    // ---- delays ----

    @Test
    void theTimeoutIsThatOfRfc6298() {
        assertThat(path.timeoutNanos()).isZero();

        path.onReceiverDelay(now, 100 * MILLI, true); // variation 50
        assertThat(path.timeoutNanos()).isEqualTo(300 * MILLI);

        path.onReceiverDelay(now, 180 * MILLI, true); // smoothed 110, variation 57.5
        assertThat(path.rttNanos()).isEqualTo(110 * MILLI);
        assertThat(path.timeoutNanos()).isEqualTo(340 * MILLI);
    }

    @Test
    void aDelayThatShowsNoQueueBoundsThePathNevertheless() {
        path.onReceiverDelay(now, 40 * MILLI, true);
        path.onReceiverDelay(now, 30 * MILLI, false);

        assertThat(path.lowestRttNanos()).isEqualTo(30 * MILLI);
    }

    /** On a link of a known rate one and a half packet times, or the jitter of a long path, or four steps of the clock. */
    @ParameterizedTest(name = "round trip {0} ms, steps of {1} us, {2} us longer: queue {3}")
    @CsvSource({
        "40,  1,   1800,  false",
        "40,  1,   1830,  true",
        "400, 1,   12500, false",
        "400, 1,   12530, true",
        "40,  700, 2790,  false",
        "40,  700, 2810,  true",
    })
    void aQueueStandsAboveWhatJitterAndClockMake(long roundTripMillis, long stepMicros, long micros, boolean stands) {
        PathModel link = new PathModel();
        link.growUp();
        link.setSegmentLayerBytes(FRAME);
        link.onReceiverDelay(now, roundTripMillis * MILLI, false);
        link.receiverSide().add(now, roundTripMillis * MILLI, MILLI);
        passData(link, 400, !PUSHED, false);
        assertThat(link.packetTimeNanos()).isBetween(PACKET_NANOS - 2_000, PACKET_NANOS + 2_000);
        link.setResolution(stepMicros * 1_000);
        for (int i = 0; i < 9; i++) {
            link.receiverSide().add(now += MILLI, roundTripMillis * MILLI + micros * 1_000, MILLI);
        }

        assertThat(link.isQueueInEachRound()).isEqualTo(stands);
    }

    /** Three ms before the tap: on a link of unknown rate that is a queue if it takes two packets at the usual rate. */
    @ParameterizedTest(name = "a packet every {0} us: queue {1}")
    @CsvSource({"1900, true", "2100, false", "10000, false"})
    void whatASendersSideTakesLongerIsAQueueBeyondTheGapsOfItsData(long gapMicros, boolean stands) {
        PathModel slow = grown();
        slow.onSenderDelay(now, MILLI);
        for (int i = 0; i < 200; i++) {
            Packet packet = segment(!PUSHED);
            packet.hasTimestamps = true; // at the pace of the data: they prove nothing
            packet.timestampValue = (int) (i * gapMicros / 1_000);
            slow.onData(now += gapMicros * 1_000, packet, FRAME, true, true);
            slow.onSenderDelay(now, 4 * MILLI);
        }
        assertThat(slow.provenSamples()).isZero();

        assertThat(slow.isQueueStanding()).isEqualTo(stands);
        assertThat(slow.isQueueBeforeTap()).isTrue();
    }

    // ---- spacing of ACKs ----

    private PathModel acknowledged(PathModel by, int acks, long gapNanos, long segments, long dataGapNanos) {
        for (int i = 0; i < acks; i++) {
            by.onAck(now += gapNanos, segments * FRAME, segments, dataGapNanos, true);
        }
        return by;
    }

    @ParameterizedTest(name = "ACKs of {0} segments: prove {1}")
    @CsvSource({"1, false", "2, true", "3, false"})
    void onlyAcksOfTwoSegmentsAreDrivenByTheData(long segments, boolean prove) {
        assertThat(acknowledged(grown(), 100, 2 * PACKET_NANOS, segments, 0).provenSamples() > 0)
                .isEqualTo(prove);
    }

    @ParameterizedTest(name = "data 1000 us apart, their ACKs {0} us: prove {1}")
    @CsvSource({"1999, false", "2000, true"})
    void dataThatLeaveNoPauseForTheLinkProveIt(long gapMicros, boolean prove) {
        assertThat(acknowledged(grown(), 100, gapMicros * 1_000, 2, 1_000_000).provenSamples() > 0)
                .isEqualTo(prove);
    }

    /** Half of a round trip of 40 ms; 30 ms if none is known. */
    @ParameterizedTest(name = "ACKs {0} us apart, round trip known {1}: prove {2}")
    @CsvSource({"19999, true, true", "20000, true, false", "29999, false, true", "30000, false, false"})
    void aLongGapIsThePauseOfASender(long gapMicros, boolean isKnown, boolean prove) {
        PathModel slow = isKnown ? grown() : new PathModel();
        slow.growUp();
        slow.setSegmentLayerBytes(FRAME);

        assertThat(acknowledged(slow, 100, gapMicros * 1_000, 2, 0).provenSamples() > 0)
                .isEqualTo(prove);
    }

    @ParameterizedTest(name = "ACKs of {0} segments from a queue: prove {1}")
    @CsvSource({"64, true", "65, false"})
    void anAckOfVeryManySegmentsWasHeldBack(long segments, boolean prove) {
        PathModel queued = grown();
        for (int i = 0; i < 16; i++) {
            queued.onReceiverDelay(now += 40 * MILLI, 100 * MILLI, true);
        }
        assertThat(queued.isQueueInEachRound()).isTrue();

        assertThat(acknowledged(queued, 100, 10 * MILLI, segments, -1).provenSamples() > 0)
                .isEqualTo(prove);
    }

    @Test
    void largerSegmentsTakeALinkLonger() {
        PathModel link = acknowledged(grown(), 200, 2 * PACKET_NANOS, 2, 0);
        assertThat(link.packetTimeNanos()).isBetween(PACKET_NANOS - 2_000, PACKET_NANOS + 2_000);

        link.setSegmentLayerBytes(2 * FRAME);
        assertThat(link.packetTimeNanos()).isBetween(2 * PACKET_NANOS - 4_000, 2 * PACKET_NANOS + 4_000);
    }

    /** A gap into which a packet of others fits is longer than 1.4 packet times. */
    @ParameterizedTest(name = "{0} packet times for two: of others {1}")
    @CsvSource({"2.7, false", "2.9, true"})
    void gapsThatOthersFilledAreTold(double packetTimes, boolean others) {
        PathModel link = acknowledged(grown(), 200, 2 * PACKET_NANOS, 2, 0);
        link.resetGaps();
        long gap = Math.round(packetTimes * PACKET_NANOS);
        acknowledged(link, 1, gap, 2, 0);

        assertThat(link.gapsNanos()).isEqualTo(gap);
        assertThat(link.interleavedNanos()).isEqualTo(others ? gap : 0);
        link.resetGaps();
        assertThat(link.gapsNanos() + link.interleavedNanos()).isZero();
    }

    @Test
    void aRateFarAboveItRefutesACapacity() {
        PathModel link = acknowledged(grown(), 200, 2 * PACKET_NANOS, 2, 0);
        assertThat(link.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(1));
        acknowledged(link, 100, 2 * PACKET_NANOS, 3, -1);
        link.isFull(now, false); // a repair: what comes at once was not delivered at once
        assertThat(link.capacityBitsPerSecond()).isPositive();

        link.isFull(now, true);
        assertThat(link.bestBitsPerSecond()).isCloseTo(15e6, withinPercentage(2));
        assertThat(link.capacityBitsPerSecond()).isZero();
    }

    @Test
    void theBestRateIsThatOfTheStreamThatShowsTheLink() {
        PathModel even = grown();
        passData(even, 200, !PUSHED, false);
        assertThat(even.isJudgedByData()).isTrue();

        assertThat(even.isFull(now, true)).isTrue();
        assertThat(even.bestBitsPerSecond()).isCloseTo(10e6, withinPercentage(5));
        assertThat(even.isUsedUp(now)).isTrue();
        assertThat(even.isUsedUp(now + 20 * MILLI)).isFalse();
    }

    // ---- what is forgotten ----

    @Test
    void acrossAHoleNothingIsTimed() {
        PathModel link = acknowledged(grown(), 200, 2 * PACKET_NANOS, 2, 0);
        long samples = link.provenSamples();
        link.breakChains();
        acknowledged(link, 1, 2 * PACKET_NANOS, 2, 0);
        assertThat(link.provenSamples()).isEqualTo(samples);

        acknowledged(link, 1, 2 * PACKET_NANOS, 2, 0);
        assertThat(link.provenSamples()).isEqualTo(samples + 1);
    }

    @Test
    void aRestartForgetsQueuesAndRatesButNotThePath() {
        PathModel queued = grown();
        deliver(queued, 3_000, 10e6);
        for (int i = 0; i < 16; i++) {
            queued.onSenderDelay(now += MILLI, 20 * MILLI);
        }
        acknowledged(queued, 200, 2 * PACKET_NANOS, 2, 0);
        assertThat(queued.isQueueInEachRound()).isTrue();
        assertThat(queued.isQueueBeforeTap()).isFalse();
        assertThat(queued.isFull(now, true)).isTrue();
        long samples = queued.provenSamples();

        queued.restart();
        assertThat(queued.isQueueStanding()).isFalse();
        assertThat(queued.queueNanos()).isZero();
        assertThat(queued.isFull(now, true)).isFalse();
        assertThat(queued.lowestRttNanos()).isEqualTo(40 * MILLI);
        assertThat(queued.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(2));
        acknowledged(queued, 1, 2 * PACKET_NANOS, 2, 0);
        assertThat(queued.provenSamples()).isEqualTo(samples);
    }

    @Test
    void ofAMouseTheBytesAreKept() {
        path.onAck(now, 1_000, 1, -1, true);
        path.onData(now, segment(!PUSHED), 2_000, true, false);
        PathModel copy = Restored.from(path::writeTo, new PathModel(), PathModel::readFrom);

        assertThat(copy.deliveredBytes()).isEqualTo(1_000);
        assertThat(copy.bestBitsPerSecond()).isZero();
    }
}
