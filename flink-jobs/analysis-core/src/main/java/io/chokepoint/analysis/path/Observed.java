// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import org.jspecify.annotations.Nullable;

/**
 * What the path stage takes from a row, as integers; 0 where the row has {@link Row#NULL}. The order is part of the
 * serialised state: constants are only appended.
 */
public enum Observed {
    /** How many rows are in it. */
    ROWS(null, Merge.SUM),
    OBSERVED_NS(null, Merge.SUM),
    APPLICATION_NS(RowField.SHARE_APPLICATION, Merge.SUM),
    SEND_BUFFER_NS(RowField.SHARE_SEND_BUFFER, Merge.SUM),
    RECEIVER_WINDOW_NS(RowField.SHARE_RECEIVER_WINDOW, Merge.SUM),
    UNSHARED_NS(RowField.SHARE_UNSHARED_BOTTLENECK, Merge.SUM),
    SHARED_NS(RowField.SHARE_SHARED_BOTTLENECK, Merge.SUM),
    TRANSPORT_NS(RowField.SHARE_TRANSPORT, Merge.SUM),
    UNKNOWN_NS(RowField.SHARE_UNKNOWN, Merge.SUM),
    DATA_PACKETS(RowField.DATA_PACKETS, Merge.SUM),
    DATA_BYTES(RowField.DATA_BYTES, Merge.SUM),
    LAYER_BYTES(RowField.THROUGHPUT_BITS_PER_SECOND, Merge.SUM),
    GOODPUT_BYTES(RowField.GOODPUT_BITS_PER_SECOND, Merge.SUM),
    LOST_BEFORE_BYTES(RowField.LOST_BEFORE_TAP_BYTES, Merge.SUM),
    LOST_AFTER_BYTES(RowField.LOST_AFTER_TAP_BYTES, Merge.SUM),
    CAPTURE_LOSS_BYTES(RowField.CAPTURE_LOSS_BYTES, Merge.SUM),
    SENDER_SIDE_SUM_NS(RowField.SENDER_SIDE_SUM_NS, Merge.SUM),
    SENDER_SIDE_SAMPLES(RowField.SENDER_SIDE_SAMPLES, Merge.SUM),
    RECEIVER_SIDE_SUM_NS(RowField.RECEIVER_SIDE_SUM_NS, Merge.SUM),
    RECEIVER_SIDE_SAMPLES(RowField.RECEIVER_SIDE_SAMPLES, Merge.SUM),
    QUEUE_BEFORE_MICROS(RowField.QUEUE_BEFORE_TAP_MICROS, Merge.SUM),
    QUEUE_AFTER_MICROS(RowField.QUEUE_AFTER_TAP_MICROS, Merge.SUM),
    /** Lowest delays of the flow's life, plus 1: so 0 is not known. */
    SENDER_SIDE_MIN(RowField.SENDER_SIDE_MIN_NS, Merge.LOWEST_KNOWN),
    RECEIVER_SIDE_MIN(RowField.RECEIVER_SIDE_MIN_NS, Merge.LOWEST_KNOWN),
    /** Proven, in bit/s. */
    CAPACITY(null, Merge.HIGHEST),
    QUALITY(RowField.QUALITY, Merge.UNION);

    private enum Merge {
        SUM,
        LOWEST_KNOWN,
        HIGHEST,
        UNION
    }

    private final @Nullable RowField field;
    private final Merge merge;

    Observed(@Nullable RowField field, Merge merge) {
        this.field = field;
        this.merge = merge;
    }

    /** Its value in a row that holds it as it is; 0 if the row does not. */
    long in(Row row) {
        if (field == null || row.isNull(field)) {
            return 0;
        }
        return row.get(field) + (merge == Merge.LOWEST_KNOWN ? 1 : 0);
    }

    /** One value of two rows; whatever the order, of as many as there are. */
    long merged(long one, long other) {
        return switch (merge) {
            case SUM -> one + other;
            case LOWEST_KNOWN -> one == 0 || other == 0 ? one + other : Math.min(one, other);
            case HIGHEST -> Math.max(one, other);
            case UNION -> one | other;
        };
    }
}
