-- SPDX-License-Identifier: Apache-2.0
-- Where along its path every flow is limited, with the names and units that people see: FINAL leaves the newest of the copies of
-- a row, and every value is computed from the stored integers as the command line computes it.
-- Runs with the rights of the reader, so that row policies on the base table hold.
CREATE OR REPLACE VIEW flow_path_intervals
(
    path_id FixedString(16) COMMENT 'Name of the ends and the direction of the data, the same for every piece of a flow. Unit: 16 lower-case hexadecimal digits.',
    flow_id FixedString(16) COMMENT 'Name of the flow; if no tap saw its SYN or SYN-ACK, the lowest of the names that the taps gave it. Unit: 16 lower-case hexadecimal digits.',
    client_ip String COMMENT 'Address of the end that opened the flow. Unit: text, IPv4 as a.b.c.d, IPv6 compressed.',
    client_port UInt16 COMMENT 'TCP port of the client. Unit: port.',
    server_ip String COMMENT 'Address of the end that accepted the flow. Unit: text, IPv4 as a.b.c.d, IPv6 compressed.',
    server_port UInt16 COMMENT 'TCP port of the server. Unit: port.',
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1) COMMENT 'Where the data of the row goes. Unit: label.',
    interval_start DateTime64(9, 'UTC') COMMENT 'Begin of the interval, a multiple of its length. Unit: instant.',
    interval_end DateTime64(9, 'UTC') COMMENT 'End of the interval, not part of it. Unit: instant.',
    version UInt32 COMMENT 'Analysis generation; of rows with the same key the highest counts. Unit: count.',
    observations UInt32 COMMENT 'Rows of taps that were known, those of another flow on the same ports too; of rows with the same key and version the highest counts. Unit: count.',
    taps Array(LowCardinality(String)) COMMENT 'Taps that saw the flow, in the order in which the data pass them. Unit: texts.',
    tap_positions Array(Nullable(Float64)) COMMENT 'For each tap the share of the lowest round trip between sender and tap. Unit: 0 at the sender .. 1 at the receiver. NULL: half round trips not seen.',
    root_cause Enum8('unknown' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'short_transfer' = 9) COMMENT 'What limits the throughput, by the time shares of all taps. Unit: label.',
    limit_segment Enum8('unknown' = 0, 'sender' = 1, 'before_first_tap' = 2, 'between_taps' = 3, 'after_last_tap' = 4, 'receiver' = 5, 'none' = 6) COMMENT 'Where it is limited, along the data; none: congestion control has not filled the path. Unit: label.',
    limit_from LowCardinality(String) COMMENT 'Tap at which the limiting segment begins; empty: the sender, or no segment. Unit: text.',
    limit_to LowCardinality(String) COMMENT 'Tap at which the limiting segment ends; empty: the receiver, or no segment. Unit: text.',
    limit_evidence Nullable(Enum8('queue' = 0, 'loss' = 1, 'elimination' = 2)) COMMENT 'What tells the segment. Unit: label. NULL: no segment of the path.',
    confidence Nullable(Float64) COMMENT 'How sure cause and segment are. Unit: 0..1.',
    data_packets UInt32 COMMENT 'Segments with payload, counted at one tap. Unit: packets.',
    data_bytes UInt64 COMMENT 'Payload sent, repeats included, counted at one tap: may be summed over rows. Unit: bytes.',
    throughput_bits_per_second Nullable(Float64) COMMENT 'Bits sent per second, headers of the configured layer included, counted at one tap. Unit: bit/s.',
    goodput_bits_per_second Nullable(Float64) COMMENT 'Payload bits acknowledged per second. Unit: bit/s.',
    capacity_bits_per_second Nullable(UInt64) COMMENT 'Highest proven capacity that a tap gives: the rate of the narrowest link. Unit: bit/s. NULL: none is proven.',
    rtt_min_seconds Nullable(Float64) COMMENT 'Lowest round trip. Unit: s. NULL: no tap saw both halves.',
    segment_queue_seconds Array(Nullable(Float64)) COMMENT 'For each segment (before the first tap, between taps, behind the last) the mean delay above the lowest, there and back; empty if the order of the taps is not known. Unit: s. NULL: not timed.',
    segment_lost_bytes Array(UInt64) COMMENT 'For each segment the payload that it lost and the sender sent again; empty if the order of the taps is not known. Unit: bytes.',
    quality String COMMENT 'What weakens the verdict of any of the taps. Unit: labels joined by commas, empty if nothing is wrong.'
)
SQL SECURITY INVOKER
AS
WITH nullIf(toUnixTimestamp64Nano(stored.interval_end) - toUnixTimestamp64Nano(stored.interval_start), 0) AS interval_ns
SELECT
    stored.path_id,
    stored.flow_id,
    replaceRegexpOne(toString(stored.client_ip), '^::ffff:([0-9.]+)$', '\\1') AS client_ip,
    stored.client_port,
    replaceRegexpOne(toString(stored.server_ip), '^::ffff:([0-9.]+)$', '\\1') AS server_ip,
    stored.server_port,
    stored.direction,
    stored.interval_start,
    stored.interval_end,
    stored.version,
    stored.observations,
    stored.taps,
    arrayMap(x -> x / 1000, stored.tap_positions_permille) AS tap_positions,
    stored.root_cause,
    stored.limit_segment,
    stored.limit_from,
    stored.limit_to,
    stored.limit_evidence,
    stored.confidence_permille / 1000 AS confidence,
    stored.data_packets,
    stored.data_bytes,
    stored.throughput_bytes * 8e9 / interval_ns AS throughput_bits_per_second,
    stored.goodput_bytes * 8e9 / interval_ns AS goodput_bits_per_second,
    stored.capacity_bits_per_second,
    stored.rtt_min_ns / 1000000000 AS rtt_min_seconds,
    arrayMap(x -> x / 1000000000, stored.segment_queue_ns) AS segment_queue_seconds,
    stored.segment_lost_bytes,
    arrayStringConcat(arrayMap(bit -> ['syn_missed', 'one_direction', 'capture_loss', 'hole', 'clock_step', 'capture_cut', 'offload', 'duplicated', 'coarse_clock', 'capacity_unknown', 'window_scale_unknown', 'no_timestamps', 'path_changed', 'bad_options', 'shed'][bit + 1], bitPositionsToArray(stored.quality_flags)), ',') AS quality
FROM flow_path_intervals_stored AS stored FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Where along its path a flow is limited: one row per (path, interval).'
