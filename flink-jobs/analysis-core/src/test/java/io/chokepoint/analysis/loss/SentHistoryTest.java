// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Restored;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments of 1000 bytes; the n-th ends at 1000·n and passes at 10·n ns. */
class SentHistoryTest {
    private final SentHistory sent = new SentHistory();
    private int segments;

    @Test
    void knowsWhenASegmentPassed() {
        send(3, 3);

        assertThat(sent.timeOf(1000)).isEqualTo(10);
        assertThat(sent.timeOf(3000)).isEqualTo(30);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"nothing ends in the middle of a segment, 1500", "before the first, 0", "after the last, 4000"})
    void knowsOnlyEndsOfSegments(String name, long endSequence) {
        send(3, 3);

        assertThat(sent.timeOf(endSequence)).as(name).isEqualTo(SentHistory.NONE);
        assertThat(sent.isClean(endSequence)).as(name).isFalse();
    }

    @Test
    void nothingIsKnownOfAnEmptyHistory() {
        assertThat(sent.timeOf(1000)).isEqualTo(SentHistory.NONE);
        assertThat(sent.timeAtOrAfter(0)).isEqualTo(SentHistory.NONE);
        sent.markResent(0, 1000);
    }

    @ParameterizedTest(name = "from {0}: {1} ns")
    @CsvSource({"0, 10", "1000, 10", "1001, 20", "3000, 30"})
    void findsTheSegmentThatHoldsAByte(long sequence, long expectedNanos) {
        send(3, 3);

        assertThat(sent.timeAtOrAfter(sequence)).isEqualTo(expectedNanos);
    }

    @Test
    void aSegmentSentAgainIsNotCleanAnyMore() {
        send(4, 4);

        sent.markResent(1000, 3000);

        assertThat(sent.isClean(1000)).isTrue();
        assertThat(sent.isClean(2000)).isFalse();
        assertThat(sent.isClean(3000)).isFalse();
        assertThat(sent.isClean(4000)).isTrue();
    }

    @Test
    void aSegmentSentWhileALossWasPendingIsNotClean() {
        sent.add(10, 1000, false, 1);

        assertThat(sent.isClean(1000)).isFalse();
        assertThat(sent.timeOf(1000)).isEqualTo(10);
    }

    @Test
    void whatWasSentWhileALossWasPendingWasSentOnce() {
        sent.add(10, 1000, false, 3);
        sent.add(20, 2000, true, 3);
        sent.add(30, 3000, true, 3);
        sent.markResent(1000, 2000);

        assertThat(sent.isSentOnce(1000)).isTrue();
        assertThat(sent.isSentOnce(2000)).isFalse();
        assertThat(sent.isSentOnce(3000)).isTrue();
        assertThat(sent.isSentOnce(2500)).as("the middle of a segment").isFalse();
        assertThat(sent.isSentOnce(4000)).as("never sent").isFalse();
    }

    @Test
    void whatIsSentAnewIsNotWhatWasSentAgainBefore() {
        send(8, 8);
        sent.markResent(0, 8000);
        send(8, 8); // takes the places of those before

        assertThat(sent.isSentOnce(8000)).isFalse();
        assertThat(sent.isSentOnce(16_000)).isTrue();
    }

    @Test
    void whatWasSentAgainIsKnownAfterARestartAndAfterGrowing() {
        send(8, 8);
        sent.markResent(3000, 4000);

        SentHistory copy = Restored.from(sent::writeTo, new SentHistory(), SentHistory::readFrom);
        copy.add(90, 9000, true, 20); // more than eight in flight: it grows

        assertThat(copy.isSentOnce(3000)).isTrue();
        assertThat(copy.isSentOnce(4000)).isFalse();
        assertThat(copy.isClean(4000)).isFalse();
        assertThat(copy.isSentOnce(5000)).isTrue();
        assertThat(copy.isSentOnce(9000)).isTrue();
    }

    @ParameterizedTest(name = "{0} segments in flight")
    @ValueSource(ints = {1, 8, 9, 16, 17, 64, 127})
    void allOfASmallFlightIsKept(int flight) {
        send(300, flight);

        for (int n = 300 - flight + 1; n <= 300; n++) {
            assertThat(sent.timeOf(1000L * n)).isEqualTo(10L * n);
        }
    }

    @ParameterizedTest(name = "{0} segments in flight")
    @ValueSource(ints = {128, 256, 1000, 10_000})
    void theOldestGroupOfALargeFlightIsStillThereWhenItsAcknowledgmentComes(int flight) {
        int all = 3 * flight;
        send(all, flight);

        long oldest = 1000L * (all - flight + 1);
        long found = sent.timeAtOrAfter(oldest);
        // At most one of 64 groups apart, as 256 segments are kept.
        assertThat(found / 10).isBetween((long) all - flight + 1, all - flight + 1 + flight / 16L + 8);
    }

    @Test
    void gapsBetweenKeptNeighboursOfALargeFlightAreExact() {
        send(4_000, 1_000);

        int pairs = 0;
        for (long end = 3_201_000; end < 3_841_000; end += 1000) {
            boolean bothKept = sent.timeOf(end) != SentHistory.NONE && sent.timeOf(end + 1000) != SentHistory.NONE;
            pairs += bothKept && sent.timeOf(end + 1000) - sent.timeOf(end) == 10 ? 1 : 0;
        }
        // One group of 8 in 8 is kept: 7 pairs of neighbours in 64 segments.
        assertThat(pairs).isEqualTo(640 * 7 / 64);
    }

    private void send(int count, long flightSegments) {
        for (int i = 0; i < count; i++) {
            segments++;
            sent.add(10L * segments, 1000L * segments, true, flightSegments);
        }
    }
}
