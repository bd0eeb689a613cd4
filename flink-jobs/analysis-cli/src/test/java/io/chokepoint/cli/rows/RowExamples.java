// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.SubCause;

/** Rows for tests of formats. */
final class RowExamples {
    private static final long START_NANOS = 1_700_000_000_000_000_000L;
    private static final long SECOND_NANOS = 1_000_000_000L;

    private RowExamples() {}

    /** A flow from 10.0.1.1:40000 to 10.0.2.2:5201 at tap {@code before}. */
    static FlowIdentity flow() {
        return new FlowIdentity(
                0xffL,
                "before",
                0,
                0xffff_0a00_0101L,
                40_000,
                0,
                0xffff_0a00_0202L,
                5201,
                Row.NULL,
                Row.NULL,
                "acme",
                "");
    }

    /** A row that knows nothing but when it was, which way, and that nothing is known. */
    static Row unknown(Row.Table table) {
        return new Row(table, flow())
                .set(RowField.DIRECTION, Direction.CLIENT_TO_SERVER)
                .set(RowField.INTERVAL_START, START_NANOS)
                .set(RowField.INTERVAL_END, START_NANOS + SECOND_NANOS)
                .set(RowField.VERSION, 1)
                .set(RowField.ROOT_CAUSE, RootCause.UNKNOWN)
                .set(RowField.QUALITY, 1L << Quality.SYN_MISSED.ordinal() | 1L << Quality.HOLE.ordinal());
    }

    /** A receiver's window for one second: 1,000,000 bytes, a tenth of them sent twice. */
    static Row receiverWindow(Row.Table table) {
        return unknown(table)
                .set(RowField.ROOT_CAUSE, RootCause.RECEIVER_WINDOW)
                .set(RowField.SUB_CAUSE, SubCause.WINDOW_CLAMPED)
                .set(RowField.CONFIDENCE, 997)
                .set(RowField.QUALITY, 0)
                .set(RowField.EVIDENCE_RULE, EvidenceRule.RECEIVER_WINDOW)
                .set(RowField.EVIDENCE_A, 96)
                .set(RowField.EVIDENCE_B, 64)
                .set(RowField.EVIDENCE_C, 20_100)
                .set(RowField.ADVICE_RULE, AdviceRule.RECEIVER_WINDOW)
                .set(RowField.ADVICE_A, 250)
                .set(RowField.SHARE_RECEIVER_WINDOW, 960_000_000L)
                .set(RowField.THROUGHPUT_BITS_PER_SECOND, 1_050_000)
                .set(RowField.GOODPUT_BITS_PER_SECOND, 900_000)
                .set(RowField.CAPACITY_BITS_PER_SECOND, 10_000_000)
                .set(RowField.CAPACITY_KIND, CapacityKind.PROVEN)
                .set(RowField.RTT_MIN_SECONDS, 20_100_000)
                .set(RowField.DATA_BYTES, 1_000_000)
                .set(RowField.RETRANSMITTED_FAST_BYTES, 100_000)
                .set(RowField.RETRANSMITTED_TIMEOUT_BYTES, 0)
                .set(RowField.RETRANSMITTED_TAIL_PROBE_BYTES, 0)
                .set(RowField.RETRANSMITTED_SPURIOUS_BYTES, 0)
                .set(RowField.RETRANSMITTED_OTHER_BYTES, 0);
    }
}
