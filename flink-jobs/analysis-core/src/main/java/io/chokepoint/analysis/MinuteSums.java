// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.row.MinuteField;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The interval rows of one direction since its last minute row, added up. Holds nothing until there is one. */
final class MinuteSums {
    private static final int SIZE = MinuteField.values().length;

    private long @Nullable [] values;

    boolean isEmpty() {
        return values == null;
    }

    /** Adds an interval row, and from its sums what the row itself does not tell. */
    void add(Row row, Tally tally) {
        long[] sums = values == null ? new long[SIZE] : values;
        values = sums;
        add(sums, MinuteField.INTERVALS, 1);
        add(sums, MinuteField.APPLICATION_NS, row, RowField.SHARE_APPLICATION);
        add(sums, MinuteField.SEND_BUFFER_NS, row, RowField.SHARE_SEND_BUFFER);
        add(sums, MinuteField.RECEIVER_WINDOW_NS, row, RowField.SHARE_RECEIVER_WINDOW);
        add(sums, MinuteField.UNSHARED_BOTTLENECK_NS, row, RowField.SHARE_UNSHARED_BOTTLENECK);
        add(sums, MinuteField.SHARED_BOTTLENECK_NS, row, RowField.SHARE_SHARED_BOTTLENECK);
        add(sums, MinuteField.TRANSPORT_NS, row, RowField.SHARE_TRANSPORT);
        add(sums, MinuteField.UNKNOWN_NS, row, RowField.SHARE_UNKNOWN);
        MinuteField lost = lostField(row.get(RowField.ROOT_CAUSE));
        if (lost != null) {
            add(sums, lost, row, RowField.LOST_BYTES);
        }
        add(sums, MinuteField.THROUGHPUT_BYTES, row, RowField.THROUGHPUT_BITS_PER_SECOND); // stored as bytes
        add(sums, MinuteField.GOODPUT_BYTES, row, RowField.GOODPUT_BITS_PER_SECOND);
        add(sums, MinuteField.DATA_PACKETS, row, RowField.DATA_PACKETS);
        add(sums, MinuteField.DATA_BYTES, row, RowField.DATA_BYTES);
        add(sums, MinuteField.RETRANSMITTED_BYTES, tally.retransmittedBytes());
        add(sums, MinuteField.REORDERED_PACKETS, row, RowField.REORDERED_PACKETS);
        add(sums, MinuteField.CAPTURE_LOSS_BYTES, row, RowField.CAPTURE_LOSS_BYTES);
        add(sums, MinuteField.LOSS_EVENTS, row, RowField.LOSS_EVENTS);
        add(sums, MinuteField.ZERO_WINDOW_NS, row, RowField.ZERO_WINDOW_SECONDS);
        add(sums, MinuteField.ECN_CE_PACKETS, row, RowField.ECN_CE_PACKETS);
        add(sums, MinuteField.RTT_SAMPLES, tally.get(Sum.RTT_SAMPLES));
        add(sums, MinuteField.RTT_SUM_NS, tally.get(Sum.RTT_SUM_NS));
        int lowest = MinuteField.RTT_MIN_NS.ordinal();
        if (!row.isNull(RowField.RTT_MIN_SECONDS)) {
            long rtt = row.get(RowField.RTT_MIN_SECONDS);
            sums[lowest] = sums[lowest] == 0 ? rtt : Math.min(sums[lowest], rtt);
        }
        sums[MinuteField.QUALITY_FLAGS.ordinal()] |= row.get(RowField.QUALITY);
    }

    private static void add(long[] sums, MinuteField field, long amount) {
        sums[field.ordinal()] += amount;
    }

    private static void add(long[] sums, MinuteField field, Row row, RowField from) {
        if (!row.isNull(from)) {
            add(sums, field, row.get(from));
        }
    }

    /** Null for causes whose rows have no {@link RowField#LOST_BYTES}. */
    private static @Nullable MinuteField lostField(long cause) {
        return switch (RootCause.values()[(int) cause]) {
            case APPLICATION -> MinuteField.LOST_APPLICATION_BYTES;
            case SEND_BUFFER -> MinuteField.LOST_SEND_BUFFER_BYTES;
            case RECEIVER_WINDOW -> MinuteField.LOST_RECEIVER_WINDOW_BYTES;
            case SHARED_BOTTLENECK -> MinuteField.LOST_SHARED_BOTTLENECK_BYTES;
            case TRANSPORT -> MinuteField.LOST_TRANSPORT_BYTES;
            case UNKNOWN, UNSHARED_BOTTLENECK, BOTTLENECK, MIXED, SHORT_TRANSFER -> null;
        };
    }

    /** What was added, in the order of {@link MinuteField}; empty again afterwards. */
    long[] take() {
        long[] taken = values == null ? new long[SIZE] : values;
        values = null;
        return taken;
    }

    void writeTo(DataOutput out) throws IOException {
        Varint.writeSparse(out, values == null ? new long[0] : values);
    }

    void readFrom(DataInput in) throws IOException {
        long[] read = new long[SIZE];
        Varint.readSparse(in, read);
        values = read[MinuteField.INTERVALS.ordinal()] == 0 ? null : read;
    }
}
