// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.batch.DecodeStatus;
import org.junit.jupiter.api.Test;

class TapBooksTest {
    private final TapBooks books = new TapBooks();

    /** 12 frames, 10 of them TCP; two runs of 6 and 4 packets in one batch. */
    TapBooksTest() {
        books.probeCounter("frames_received", 12);
        books.probeCounter("frames_not_ip", 2);
        books.probeCounter("packets_encoded", 10);
        books.probeCounter("packets_delivered", 10);
        books.batchConsumed(10);
        books.runJudged(RunFate.CONTRIBUTED, 6, 0);
    }

    @Test
    void booksInWhichEveryPacketHasOneFateBalance() {
        books.runJudged(RunFate.REPEATED, 4, 4);

        assertThat(books.isBalanced()).isTrue();
    }

    @Test
    void aRejectedRunIsAFateToo() {
        books.runRejected(DecodeStatus.BAD_COLUMN, 4);

        assertThat(books.isBalanced()).isTrue();
    }

    @Test
    void aLostRunUnbalancesThem() {
        assertThat(books.isBalanced()).isFalse();
    }

    @Test
    void aFrameWithoutFateUnbalancesThem() {
        books.runJudged(RunFate.CONTRIBUTED, 4, 0);
        books.probeCounter("frames_received", 13);

        assertThat(books.isBalanced()).isFalse();
    }

    @Test
    void aRejectedBatchUnbalancesThem() {
        books.runJudged(RunFate.CONTRIBUTED, 4, 0);
        books.batchRejected(DecodeStatus.UNKNOWN_SCHEMA);

        assertThat(books.isBalanced()).isFalse();
    }

    @Test
    void aPacketTheProbeDidNotDeliverUnbalancesThemUnlessItSaysSo() {
        books.runJudged(RunFate.CONTRIBUTED, 4, 0);
        books.probeCounter("frames_received", 13);
        books.probeCounter("packets_encoded", 11);
        assertThat(books.isBalanced()).isFalse();

        books.probeCounter("packets_undelivered_output_failed", 1);
        assertThat(books.isBalanced()).isTrue();
    }
}
