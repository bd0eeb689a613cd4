// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.window.AckHistory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
}
