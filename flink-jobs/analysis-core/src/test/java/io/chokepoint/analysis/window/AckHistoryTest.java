// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Times in ns; the window is always 1000 bytes. */
class AckHistoryTest {
    private static final int MOST_PENDING = 128;

    private final AckHistory acks = new AckHistory();

    @Test
    void atFirstTheSenderHasSeenNothing() {
        assertThat(acks.hasView()).isFalse();
        assertThat(acks.viewAck()).isZero();
        assertThat(acks.viewEdge()).isZero();
        assertThat(acks.viewTimeNanos()).isEqualTo(AckHistory.NONE);
    }

    @Test
    void anAcknowledgmentAtTheTapIsNotYetAtTheSender() {
        push(10, 1, 100);

        assertThat(acks.hasView()).isFalse();
    }

    @Test
    void aSilentSenderOnlyLacksTheNewestAcknowledgment() {
        push(10, 1, 100);
        push(20, 2, 200);
        push(30, 3, 300);

        acks.forgetPending();

        assertThat(acks.viewAck()).isEqualTo(200);
        acks.advanceByTime(30);
        assertThat(acks.viewAck()).isEqualTo(300);
    }

    @Nested
    class ByTime {
        @Test
        void theSenderHasSeenWhatPassedEarlyEnough() {
            push(10, 0, 100);
            push(20, 0, 250);
            push(30, 0, 400);

            acks.advanceByTime(20);

            assertThat(acks.viewAck()).isEqualTo(250);
            assertThat(acks.viewEdge()).isEqualTo(1250);
            assertThat(acks.viewTimeNanos()).isEqualTo(20);
            assertThat(acks.earlierAck()).isEqualTo(100);
        }

        @Test
        void theViewNeverStepsBack() {
            push(10, 0, 400);
            acks.push(20, 0, 100, 500);

            acks.advanceByTime(20);

            assertThat(acks.viewAck()).isEqualTo(400);
            assertThat(acks.viewEdge()).isEqualTo(1400);
            assertThat(acks.earlierAck()).isEqualTo(400);
            assertThat(acks.viewTimeNanos()).isEqualTo(20);
        }
    }

    @Nested
    class ByEcho {
        @Test
        void theSenderHasSeenTheAcknowledgmentItEchoesAndAllBefore() {
            push(10, 1, 100);
            push(20, 2, 200);
            push(30, 3, 300);

            assertThat(acks.advanceByEcho(25, 2, 0)).isEqualTo(20);

            assertThat(acks.viewAck()).isEqualTo(200);
        }

        @Test
        void anEchoIsNewOnce() {
            push(10, 1, 100);

            assertThat(acks.advanceByEcho(20, 1, 0)).isEqualTo(10);
            assertThat(acks.advanceByEcho(21, 1, 0)).isEqualTo(AckHistory.NONE);
        }

        @Test
        void anEchoOfAnAcknowledgmentBeforeTheViewMovesNothing() {
            push(10, 1, 100);
            push(20, 2, 200);
            acks.advanceByEcho(30, 2, 0);

            assertThat(acks.advanceByEcho(31, 1, 0)).isEqualTo(AckHistory.NONE);
            assertThat(acks.viewAck()).isEqualTo(200);
        }

        @Test
        void timestampsWrap() {
            push(10, -1, 100);
            push(20, 0, 200);
            push(30, 1, 300);

            assertThat(acks.advanceByEcho(40, 0, 0)).isEqualTo(20);

            assertThat(acks.viewAck()).isEqualTo(200);
        }

        /** Three within one tick: the sender's side takes at least 15. */
        @Test
        void ofOneTickOnlyWhatPassedEarlyEnoughHasArrived() {
            push(10, 1, 100);
            push(20, 1, 200);
            push(30, 1, 300);

            assertThat(acks.advanceByEcho(40, 1, 15)).isEqualTo(10);

            assertThat(acks.viewAck()).isEqualTo(200);
        }

        /** Any of one tick may have released what echoes it; all of the ticks before had arrived. */
        @Test
        void whatPassedInEarlierTicksReleasedNothing() {
            push(10, 1, 100);
            push(20, 2, 200);
            push(21, 3, 300);
            push(22, 3, 400);

            acks.advanceByEcho(40, 3, 5);
            assertThat(acks.earlierAck()).isEqualTo(200);

            acks.advanceByEcho(41, 3, 5);
            assertThat(acks.earlierAck()).as("nothing new").isEqualTo(400).isEqualTo(acks.viewAck());
        }

        /** What is echoed has been seen, however short the delay was so far. */
        @Test
        void theFirstOfATickHasArrivedIfItIsEchoed() {
            push(10, 1, 100);
            push(30, 2, 300);

            assertThat(acks.advanceByEcho(40, 2, 15)).isEqualTo(30);

            assertThat(acks.viewAck()).isEqualTo(300);
            assertThat(acks.advanceByEcho(50, 2, 15)).isEqualTo(AckHistory.NONE);
        }
    }

    @Test
    void aFullHistoryKeepsEverySecondAndTheNewest() {
        for (int i = 1; i <= MOST_PENDING + 1; i++) {
            push(10 * i, i, 100 * i);
        }

        // 1, 3 … 127, 128 and 129 are left: a later one in place of the third would seem not to have arrived yet.
        acks.advanceByTime(35);
        assertThat(acks.viewAck()).isEqualTo(300);
        acks.advanceByTime(10 * MOST_PENDING);
        assertThat(acks.viewAck()).isEqualTo(100 * MOST_PENDING);
        acks.advanceByTime(10 * (MOST_PENDING + 1));
        assertThat(acks.viewAck()).isEqualTo(100 * (MOST_PENDING + 1));
    }

    private void push(long now, int timestamp, long acknowledged) {
        acks.push(now, timestamp, acknowledged, acknowledged + 1000);
    }
}
