// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

/**
 * What is summed (or kept as a maximum) over an interval and over the flow's life. The order is part of the serialised state:
 * constants are only appended.
 */
public enum Sum {
    UNKNOWN_NS,
    APPLICATION_NS,
    SEND_BUFFER_NS,
    RECEIVER_WINDOW_NS,
    UNSHARED_NS,
    SHARED_NS,
    TRANSPORT_NS,
    QUEUE_UNDECIDED_NS,
    APPLICATION_IDLE_NS,
    APPLICATION_WAITS_NS,
    APPLICATION_SMALL_NS,
    APPLICATION_PACED_NS,
    SLOW_START_NS,
    ZERO_WINDOW_NS,
    /** Time in which less than {@code k} segments of window were left: the published receiver-window score. */
    WINDOW_FULL_NS,

    /** Data packets, retransmissions included, duplicates of the network not. */
    DATA_PACKETS,
    DATA_BYTES,
    /** Bytes of data packets on the layer of the rates. */
    LAYER_BYTES,
    /** Bytes on the layer that got past the bottleneck, seen from where the tap is. */
    DELIVERED_BYTES,
    GOODPUT_BYTES,
    RETRANSMITTED_FAST_BYTES,
    RETRANSMITTED_TIMEOUT_BYTES,
    RETRANSMITTED_TAIL_PROBE_BYTES,
    RETRANSMITTED_SPURIOUS_BYTES,
    RETRANSMITTED_OTHER_BYTES,
    REORDERED_PACKETS,
    DUPLICATE_PACKETS,
    CAPTURE_LOSS_BYTES,
    LOSS_EVENTS,
    RANDOM_LOSS_EVENTS,
    ECN_CE_PACKETS,
    SUPER_SEGMENTS,
    /** Data packets whose sender's clock does not show. */
    WITHOUT_TIMESTAMPS,

    /** Σ of bytes × µs in units of {@link Tally#MEAN_UNIT_BYTES}, and of the µs: time-weighted means. */
    WINDOW_BYTE_MICROS,
    OUTSTANDING_BYTE_MICROS,
    WEIGHT_MICROS,
    WINDOW_MAX_BYTES,
    OUTSTANDING_MAX_BYTES,

    RTT_SAMPLES,
    RTT_SUM_NS,
    /** Σ of standing queue × time, in µs × µs, over the time in which one stood. */
    QUEUE_MICRO_MICROS,
    QUEUE_MICROS,
    QUEUE_BEFORE_TAP_MICROS,
    QUEUE_AFTER_TAP_MICROS,
    /** Queue at losses, in ns, and number of losses it was known at. */
    QUEUE_AT_LOSS_NS,
    QUEUE_AT_LOSS_EVENTS,
    /** Time in gaps longer than 1.4 packet times, and in all gaps, on the stream that shows the bottleneck. */
    INTERLEAVED_NS,
    GAPS_NS,
    /** Waits for a send buffer, and for each the segments that its last hold let go by: their quotient is the mean hold. */
    SEND_BUFFER_BURSTS,
    SEND_BUFFER_SEGMENTS,
    /** Bulk transfers of {@link BulkPeriods}: their time, bytes on the layer, packets. */
    BULK_NS,
    BULK_BYTES,
    BULK_PACKETS,
    SHORT_PERIOD_PACKETS,
    /** Time in which the path was full and no loss was being repaired, and bytes on the layer that got past the bottleneck then. */
    STEADY_FULL_NS,
    STEADY_FULL_BYTES,
    /** Bytes on the layer that got past the bottleneck while the path was full. */
    FULL_BYTES,

    /** Delays of the two sides, of elephants; they lie above the lowest by the queues. */
    SENDER_SIDE_SUM_NS,
    SENDER_SIDE_SAMPLES,
    RECEIVER_SIDE_SUM_NS,
    RECEIVER_SIDE_SAMPLES,
    /** Payload sent again of which the tap had not seen, or had seen, an earlier copy; what had arrived is left out. */
    LOST_BEFORE_TAP_BYTES,
    LOST_AFTER_TAP_BYTES;

    /** Whether two of them merge by the larger, not by addition. */
    boolean isMaximum() {
        return switch (this) {
            case WINDOW_MAX_BYTES, OUTSTANDING_MAX_BYTES -> true;
            default -> false;
        };
    }
}
