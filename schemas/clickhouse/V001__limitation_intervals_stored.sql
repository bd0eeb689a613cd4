-- SPDX-License-Identifier: Apache-2.0
-- What limits a flow in one direction at one tap during one interval, as the integers that the analysis computes: a sixth
-- of the room of doubles, and sums stay exact. Rows are upserts: the same row written twice is one row.
-- Partitioned by the time of the packets, never of the insert, so that both copies of a row meet in one merge; retention
-- counts from the insert, so that an old capture is not dropped on arrival.
-- The sort key holds no bare interval_start: if it did, a condition on the time would be matched with that last column and
-- not with the hour, and read a whole day where it needs an hour. toRelativeHourNum, because toStartOfHour wraps in 2106
-- and hides later rows.
CREATE TABLE IF NOT EXISTS limitation_intervals_stored
(
    flow_id FixedString(16)
        COMMENT 'Name of the flow, the same at every tap if its SYN or SYN-ACK was seen. Unit: 16 lower-case hexadecimal digits.' CODEC(ZSTD(1)),
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen. Unit: text.' CODEC(ZSTD(1)),
    client_ip IPv6
        COMMENT 'Address of the end that opened the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    client_port UInt16
        COMMENT 'TCP port of the client. Unit: port.' CODEC(ZSTD(1)),
    server_ip IPv6
        COMMENT 'Address of the end that accepted the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    server_port UInt16
        COMMENT 'TCP port of the server. Unit: port.' CODEC(ZSTD(1)),
    vlan Nullable(UInt16)
        COMMENT 'Innermost VLAN of the first packet. Unit: VLAN id, 0..4095. NULL: untagged.' CODEC(ZSTD(1)),
    tunnel_id Nullable(UInt32)
        COMMENT 'Innermost tunnel of the first packet (VNI, GRE key, TEID). Unit: none. NULL: no tunnel.' CODEC(ZSTD(1)),
    client_tenant LowCardinality(String)
        COMMENT 'Whose the client is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)),
    server_tenant LowCardinality(String)
        COMMENT 'Whose the server is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)),
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1)
        COMMENT 'Where the data of the row goes. Unit: label.' CODEC(ZSTD(1)),
    interval_start DateTime64(9, 'UTC')
        COMMENT 'Begin of the interval, a multiple of its length; of a flow, its first packet. Unit: instant.' CODEC(Delta, ZSTD(1)),
    interval_end DateTime64(9, 'UTC')
        COMMENT 'End of the interval, not part of it; of a flow, its last packet. Unit: instant.' CODEC(Delta, ZSTD(1)),
    version UInt32
        COMMENT 'Analysis generation; of rows with the same key the highest counts. Unit: count.' CODEC(ZSTD(1)),

    -- Verdict.
    root_cause Enum8('unknown' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'short_transfer' = 9)
        COMMENT 'What limits the throughput. Unit: label.' CODEC(ZSTD(1)),
    sub_cause Nullable(Enum8('idle' = 0, 'small_writes' = 1, 'paced' = 2, 'waiting_for_peer' = 3, 'zero_window' = 4, 'window_unscaled' = 5, 'window_clamped' = 6, 'slow_reader' = 7, 'deep_buffer' = 8, 'policed' = 9, 'sharing_undecided' = 10, 'slow_start' = 11, 'congestion_avoidance' = 12, 'random_loss' = 13, 'reordering' = 14))
        COMMENT 'What refines the root cause. Unit: label. NULL: nothing refines it.' CODEC(ZSTD(1)),
    confidence_permille Nullable(UInt16)
        COMMENT 'Calibrated probability that the root cause is right. Unit: 1/1000. NULL: no verdict.' CODEC(T64, ZSTD(1)),
    attainable_bits_per_second Nullable(UInt64)
        COMMENT 'Throughput if the root cause were removed. Unit: bit/s. NULL: not known.' CODEC(ZSTD(1)),
    lost_bytes Nullable(Int64)
        COMMENT '(attainable - goodput) x length of the interval: may be summed over rows. Unit: bytes. NULL: attainable throughput not known.' CODEC(T64, ZSTD(1)),
    quality_flags UInt32
        COMMENT 'Why a verdict is unknown or weaker than it could be. Unit: bits: 0 syn_missed, 1 one_direction, 2 capture_loss, 3 hole, 4 clock_step, 5 capture_cut, 6 offload, 7 duplicated, 8 coarse_clock, 9 capacity_unknown, 10 window_scale_unknown, 11 no_timestamps, 12 path_changed, 13 bad_options, 14 shed.' CODEC(ZSTD(1)),

    -- Time, split among what limited the flow; the sums are exact.
    application_ns Nullable(UInt64)
        COMMENT 'Time in which the sender had nothing to send. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    send_buffer_ns Nullable(UInt64)
        COMMENT 'Time in which the sender\'s socket buffer was the limit. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    receiver_window_ns Nullable(UInt64)
        COMMENT 'Time in which the receiver\'s window was the limit. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    unshared_bottleneck_ns Nullable(UInt64)
        COMMENT 'Time in which this flow alone filled the path. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    shared_bottleneck_ns Nullable(UInt64)
        COMMENT 'Time in which a queue stood that others filled too. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    transport_ns Nullable(UInt64)
        COMMENT 'Time in which congestion control had not filled the path. Unit: ns. NULL: not judged.' CODEC(ZSTD(1)),
    unknown_ns Nullable(UInt64)
        COMMENT 'Time in which nothing can be said. Unit: ns. NULL: not judged.' CODEC(T64, ZSTD(1)),

    -- Published scores.
    dispersion_score_e4 Nullable(Int64)
        COMMENT 'Dispersion score: 1 - throughput / capacity of the bulk transfer. Unit: 1/10000. NULL: its inputs are not known.' CODEC(T64, ZSTD(1)),
    retransmission_score_e4 Nullable(Int64)
        COMMENT 'Retransmission score: share of the bytes that were sent again. Unit: 1/10000. NULL: its inputs are not known.' CODEC(T64, ZSTD(1)),
    receiver_window_score_e4 Nullable(Int64)
        COMMENT 'Receiver window score: share of time in which less than three segments fit into the window. Unit: 1/10000. NULL: its inputs are not known.' CODEC(T64, ZSTD(1)),
    burstiness_score_e4 Nullable(Int64)
        COMMENT 'Burstiness score: 1 - bits of a window / (capacity x lowest round trip); 0 or less means a queue. Unit: 1/10000. NULL: its inputs are not known.' CODEC(T64, ZSTD(1)),
    b_score_e4 Nullable(Int64)
        COMMENT 'B score: the longest gaps of a round trip, one of as many as the window has segments, / round trip. Unit: 1/10000. NULL: its inputs are not known.' CODEC(T64, ZSTD(1)),
    rca_cause Nullable(Enum8('unshared_bottleneck' = 0, 'shared_bottleneck' = 1, 'receiver_window' = 2, 'transport' = 3, 'mixed' = 4))
        COMMENT 'Outcome of the published decision tree on the corrected scores. Unit: label. NULL: a score it needs is not known.' CODEC(ZSTD(1)),

    -- Evidence.
    throughput_bytes Nullable(UInt64)
        COMMENT 'Bytes sent, headers of the configured layer included. Unit: bytes. NULL: the direction was not seen.' CODEC(T64, ZSTD(1)),
    goodput_bytes Nullable(UInt64)
        COMMENT 'Payload acknowledged. Unit: bytes. NULL: acknowledgments not seen.' CODEC(T64, ZSTD(1)),
    capacity_bits_per_second Nullable(UInt64)
        COMMENT 'Rate of the narrowest link of the path, on the configured layer. Unit: bit/s. NULL: not known.' CODEC(ZSTD(1)),
    capacity_kind Nullable(Enum8('proven' = 0, 'lower_bound' = 1))
        COMMENT 'Whether a queue proves the capacity or the path is only known to carry it. Unit: label. NULL: capacity not known.' CODEC(ZSTD(1)),
    capacity_confidence_permille Nullable(UInt16)
        COMMENT 'Agreement of the samples behind the capacity. Unit: 1/1000. NULL: capacity not known.' CODEC(T64, ZSTD(1)),
    bottleneck_side Nullable(Enum8('before_tap' = 0, 'after_tap' = 1))
        COMMENT 'Where queueing and loss happen, along the data. Unit: label. NULL: not known.' CODEC(ZSTD(1)),
    rtt_min_ns Nullable(UInt64)
        COMMENT 'Lowest round trip. Unit: ns. NULL: no round trip was seen.' CODEC(ZSTD(1)),
    rtt_p50_ns Nullable(UInt64)
        COMMENT 'Median of the round trips. Unit: ns. NULL: no round trip was seen.' CODEC(T64, ZSTD(1)),
    rtt_p99_ns Nullable(UInt64)
        COMMENT '99th percentile of the round trips. Unit: ns. NULL: no round trip was seen.' CODEC(ZSTD(1)),
    path_position_permille Nullable(UInt16)
        COMMENT 'Where the tap sits: share of the round trip between sender and tap. Unit: 1/1000. NULL: half round trips not seen.' CODEC(T64, ZSTD(1)),
    mss_bytes Nullable(UInt32)
        COMMENT 'Largest payload of a segment. Unit: bytes. NULL: not known.' CODEC(ZSTD(1)),
    receiver_window_mean_bytes Nullable(UInt32)
        COMMENT 'Receiver\'s advertised window, mean over time. Unit: bytes. NULL: no window was seen.' CODEC(T64('bit'), ZSTD(1)),
    receiver_window_max_bytes Nullable(UInt32)
        COMMENT 'Receiver\'s advertised window, maximum. Unit: bytes. NULL: no window was seen.' CODEC(ZSTD(1)),
    outstanding_mean_bytes Nullable(UInt32)
        COMMENT 'Data sent and not yet acknowledged, mean over time. Unit: bytes. NULL: acknowledgments not seen.' CODEC(T64, ZSTD(1)),
    outstanding_max_bytes Nullable(UInt32)
        COMMENT 'Data sent and not yet acknowledged, maximum. Unit: bytes. NULL: acknowledgments not seen.' CODEC(T64, ZSTD(1)),
    cwnd_bytes Nullable(UInt32)
        COMMENT 'Sender\'s congestion window, emulated. Unit: bytes. NULL: not emulated.' CODEC(ZSTD(1)),
    ssthresh_bytes Nullable(UInt32)
        COMMENT 'Sender\'s slow start threshold, emulated. Unit: bytes. NULL: not emulated or no loss so far.' CODEC(ZSTD(1)),
    rto_ns Nullable(UInt64)
        COMMENT 'Sender\'s retransmission time-out, emulated. Unit: ns. NULL: no round trip was seen.' CODEC(T64, ZSTD(1)),
    congestion_control Nullable(Enum8('reno' = 0, 'cubic' = 1, 'bbr' = 2, 'other' = 3))
        COMMENT 'Sender\'s congestion control. Unit: label. NULL: not known.' CODEC(ZSTD(1)),
    congestion_control_confidence_permille Nullable(UInt16)
        COMMENT 'How sure the congestion control is. Unit: 1/1000. NULL: not known.' CODEC(ZSTD(1)),
    data_packets Nullable(UInt32)
        COMMENT 'Segments with payload. Unit: packets. NULL: the direction was not seen.' CODEC(T64, ZSTD(1)),
    data_bytes Nullable(UInt64)
        COMMENT 'Payload sent, repeats included. Unit: bytes. NULL: the direction was not seen.' CODEC(T64, ZSTD(1)),
    retransmitted_fast_bytes Nullable(UInt64)
        COMMENT 'Payload sent again on duplicate ACKs or SACK. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    retransmitted_timeout_bytes Nullable(UInt64)
        COMMENT 'Payload sent again after a time-out. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    retransmitted_tail_probe_bytes Nullable(UInt64)
        COMMENT 'Payload sent again as a tail loss probe. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    retransmitted_spurious_bytes Nullable(UInt64)
        COMMENT 'Payload sent again although it had arrived. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    retransmitted_other_bytes Nullable(UInt64)
        COMMENT 'Payload sent again for a reason that is not known. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    reordered_packets Nullable(UInt32)
        COMMENT 'Segments that arrived at the tap after later ones, not sent again. Unit: packets. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    duplicate_packets Nullable(UInt32)
        COMMENT 'Frames seen twice, as mirror ports do. Unit: packets. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    capture_loss_bytes Nullable(UInt64)
        COMMENT 'Payload that was acknowledged and never seen. Unit: bytes. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    loss_events Nullable(UInt32)
        COMMENT 'Losses that the sender answered once. Unit: events. NULL: the direction was not seen.' CODEC(T64, ZSTD(1)),
    zero_window_ns Nullable(UInt64)
        COMMENT 'Time in which the receiver\'s window was closed. Unit: ns. NULL: no window was seen.' CODEC(ZSTD(1)),
    ecn_ce_packets Nullable(UInt32)
        COMMENT 'Packets marked Congestion Experienced. Unit: packets. NULL: the direction was not seen.' CODEC(ZSTD(1)),
    queue_bytes_at_loss Nullable(UInt64)
        COMMENT 'Bytes of queue at the bottleneck when it dropped, median. Unit: bytes. NULL: no loss or no capacity.' CODEC(T64, ZSTD(1)),
    buffer_delay_permille Nullable(UInt64)
        COMMENT 'RFC 6349: (mean round trip - lowest) / lowest. Unit: 1/1000. NULL: no round trip was seen.' CODEC(T64, ZSTD(1)),

    -- Texts: the sentence and the numbers in it.
    evidence_rule Nullable(Enum8('none' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'unknown' = 9, 'short_transfer' = 10))
        COMMENT 'Which sentence the evidence is. Unit: label. NULL: no verdict.' CODEC(ZSTD(1)),
    evidence_a Nullable(Int64)
        COMMENT 'Number {a} of the evidence. Unit: as its sentence says. NULL: not part of the sentence.' CODEC(T64, ZSTD(1)),
    evidence_b Nullable(Int64)
        COMMENT 'Number {b} of the evidence. Unit: as its sentence says. NULL: not part of the sentence.' CODEC(T64, ZSTD(1)),
    evidence_c Nullable(Int64)
        COMMENT 'Number {c} of the evidence. Unit: as its sentence says. NULL: not part of the sentence.' CODEC(T64, ZSTD(1)),
    advice_rule Nullable(Enum8('none' = 0, 'application_idle' = 1, 'application_waits' = 2, 'application_small_writes' = 3, 'send_buffer' = 4, 'receiver_window' = 5, 'receiver_window_scaling' = 6, 'slow_reader' = 7, 'unshared_bottleneck' = 8, 'shared_bottleneck' = 9, 'shared_deep_buffer' = 10, 'bottleneck' = 11, 'transport_slow_start' = 12, 'transport_loss' = 13, 'transport_growth' = 14, 'transport_reordering' = 15))
        COMMENT 'Which sentence the advice is. Unit: label. NULL: no verdict.' CODEC(ZSTD(1)),
    advice_a Nullable(Int64)
        COMMENT 'Number {a} of the advice. Unit: as its sentence says. NULL: not part of the sentence.' CODEC(T64, ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1)),
    CONSTRAINT interval_is_ordered CHECK interval_start <= interval_end
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(interval_start)
ORDER BY (toRelativeHourNum(interval_start), tap, flow_id, direction, toUnixTimestamp64Nano(interval_start))
TTL inserted_at + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One row per (flow, tap, direction, interval), quantised to integers; read it through the view.'
