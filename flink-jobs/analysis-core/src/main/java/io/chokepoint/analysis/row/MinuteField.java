// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.util.Locale;

/**
 * What a {@link MinuteRow} holds: what interval rows have that may be added up, and nothing that may not. Names are those of the
 * table's columns; the order is part of the serialised state and of the stored bytes, so constants are only appended.
 */
public enum MinuteField {
    /** Interval rows that were added. */
    INTERVALS,
    APPLICATION_NS,
    SEND_BUFFER_NS,
    RECEIVER_WINDOW_NS,
    UNSHARED_BOTTLENECK_NS,
    SHARED_BOTTLENECK_NS,
    TRANSPORT_NS,
    UNKNOWN_NS,
    /** {@link RowField#LOST_BYTES} by the root cause of their rows: only these causes have a better rate to compare with. */
    LOST_APPLICATION_BYTES,
    LOST_SEND_BUFFER_BYTES,
    LOST_RECEIVER_WINDOW_BYTES,
    LOST_SHARED_BOTTLENECK_BYTES,
    LOST_TRANSPORT_BYTES,
    THROUGHPUT_BYTES,
    GOODPUT_BYTES,
    DATA_PACKETS,
    DATA_BYTES,
    /** For whatever reason, spurious ones included. */
    RETRANSMITTED_BYTES,
    REORDERED_PACKETS,
    CAPTURE_LOSS_BYTES,
    LOSS_EVENTS,
    ZERO_WINDOW_NS,
    ECN_CE_PACKETS,
    /** Round trips that were timed, and their sum: their quotient is the mean of any set of rows. */
    RTT_SAMPLES,
    RTT_SUM_NS,
    /** Lowest round trip of the rows; 0 if none had one. */
    RTT_MIN_NS,
    /** Bits that any of the rows had. */
    QUALITY_FLAGS;

    private final String columnName = name().toLowerCase(Locale.ROOT);

    /** Name in the tables. */
    public String columnName() {
        return columnName;
    }
}
