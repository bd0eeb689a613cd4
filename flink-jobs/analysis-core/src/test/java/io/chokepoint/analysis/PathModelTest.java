// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathModelTest {
    private static final long MILLI = 1_000_000;

    private final PathModel path = new PathModel();

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
    @CsvSource({"20000, 40000, true", "5001, 40000, true", "5000, 40000, false", "101, 500, true", "100, 500, false"})
    void withoutTimestampsALongSideMayHideAQueue(long senderMicros, long roundTripMicros, boolean mayHide) {
        path.senderSide().bound(senderMicros * 1_000);
        path.receiverSide().bound((roundTripMicros - senderMicros) * 1_000);
        assertThat(path.mayHideQueueBeforeTap()).isFalse(); // a mouse is not followed

        path.growUp();
        assertThat(path.mayHideQueueBeforeTap()).isEqualTo(mayHide);
    }

    @Test
    void timestampsHideNothing() {
        path.senderSide().bound(20 * MILLI);
        path.receiverSide().bound(20 * MILLI);
        path.growUp();
        Packet packet = new Packet();
        packet.hasTimestamps = true;
        path.clock().observe(MILLI, packet);

        assertThat(path.mayHideQueueBeforeTap()).isFalse();
    }
}
