// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TallyTest {
    private final Tally tally = new Tally();

    @ParameterizedTest(name = "{0} adds to {1} and {2}")
    @CsvSource({
        "UNKNOWN,             UNKNOWN_NS,         UNKNOWN_NS",
        "APPLICATION_IDLE,    APPLICATION_NS,     APPLICATION_IDLE_NS",
        "APPLICATION_WAITS,   APPLICATION_NS,     APPLICATION_WAITS_NS",
        "APPLICATION_SMALL,   APPLICATION_NS,     APPLICATION_SMALL_NS",
        "APPLICATION_PACED,   APPLICATION_NS,     APPLICATION_PACED_NS",
        "SEND_BUFFER,         SEND_BUFFER_NS,     SEND_BUFFER_NS",
        "RECEIVER_WINDOW,     RECEIVER_WINDOW_NS, RECEIVER_WINDOW_NS",
        "UNSHARED_BOTTLENECK, UNSHARED_NS,        UNSHARED_NS",
        "SHARED_BOTTLENECK,   SHARED_NS,          SHARED_NS",
        "QUEUE_UNDECIDED,     QUEUE_UNDECIDED_NS, QUEUE_UNDECIDED_NS",
        "SLOW_START,          TRANSPORT_NS,       SLOW_START_NS",
        "TRANSPORT,           TRANSPORT_NS,       TRANSPORT_NS",
    })
    void aWaitIsBookedOnceAndInDetail(Cause cause, Sum share, Sum detail) {
        tally.book(cause, 5);
        tally.book(cause, 3);

        assertThat(tally.get(share)).isEqualTo(8);
        assertThat(tally.get(detail)).isEqualTo(8);
        assertThat(bookedTime(tally)).isEqualTo(8);
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void aWaitMayBeBookedOnAnotherCauseLater(Cause cause) {
        tally.book(cause, 5);
        tally.book(cause, -5);

        for (Sum sum : Sum.values()) {
            assertThat(tally.get(sum)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Sum.class,
            names = {"WINDOW_MAX_BYTES", "OUTSTANDING_MAX_BYTES"})
    void ofMaximaTheLargerIsKept(Sum sum) {
        tally.raise(sum, 5);
        tally.raise(sum, 3);
        Tally other = new Tally();
        other.raise(sum, 4);
        tally.addAll(other);
        assertThat(tally.get(sum)).isEqualTo(5);

        other.raise(sum, 9);
        tally.addAll(other);
        assertThat(tally.get(sum)).isEqualTo(9);
    }

    @Test
    void everyKindOfRetransmissionCounts() {
        tally.add(Sum.RETRANSMITTED_FAST_BYTES, 1);
        tally.add(Sum.RETRANSMITTED_TIMEOUT_BYTES, 10);
        tally.add(Sum.RETRANSMITTED_TAIL_PROBE_BYTES, 100);
        tally.add(Sum.RETRANSMITTED_SPURIOUS_BYTES, 1_000);
        tally.add(Sum.RETRANSMITTED_OTHER_BYTES, 10_000);
        tally.add(Sum.DATA_BYTES, 100_000);

        assertThat(tally.retransmittedBytes()).isEqualTo(11_111);
    }

    @Test
    void aMeanIsWeightedByTime() {
        assertThat(tally.mean(Sum.WINDOW_BYTE_MICROS)).isZero();

        // 64,000 bytes for 3 µs, 16,000 bytes for 1 µs.
        tally.add(Sum.WINDOW_BYTE_MICROS, (64_000L * 3 + 16_000) / Tally.MEAN_UNIT_BYTES);
        tally.add(Sum.WEIGHT_MICROS, 4);

        assertThat(tally.mean(Sum.WINDOW_BYTE_MICROS)).isEqualTo(52_000);
    }

    /** The largest window, 2^30 bytes, for a day. */
    @Test
    void aMeanSurvivesTheLargestWindowForADay() {
        long micros = 86_400_000_000L;
        tally.add(Sum.WINDOW_BYTE_MICROS, Math.multiplyExact((1L << 30) / Tally.MEAN_UNIT_BYTES, micros));
        tally.add(Sum.WEIGHT_MICROS, micros);

        assertThat(tally.mean(Sum.WINDOW_BYTE_MICROS)).isEqualTo(1L << 30);
    }

    static long bookedTime(Tally tally) {
        Shares shares = Shares.of(tally);
        return shares.application()
                + shares.sendBuffer()
                + shares.receiverWindow()
                + shares.fullPath()
                + shares.transport()
                + shares.unknown()
                + tally.get(Sum.QUEUE_UNDECIDED_NS);
    }
}
