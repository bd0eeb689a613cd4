-- SPDX-License-Identifier: Apache-2.0
-- One flow at all taps that saw it: what they tell together of one direction and interval. Rows are upserts: whenever another
-- tap has told of the interval the row is written anew, and the one with more observations counts.
-- The key is the path, not the flow: the name of a flow, and who its client is, may only become known with the row of the last tap.
-- Partition, sort key and retention as in limitation_intervals_stored, for its reasons.
CREATE TABLE IF NOT EXISTS flow_path_intervals_stored
(
    path_id FixedString(16)
        COMMENT 'Name of the ends and the direction of the data, the same for every piece of a flow. Unit: 16 lower-case hexadecimal digits.' CODEC(ZSTD(1)),
    flow_id FixedString(16)
        COMMENT 'Name of the flow; if no tap saw its SYN or SYN-ACK, the lowest of the names that the taps gave it. Unit: 16 lower-case hexadecimal digits.' CODEC(ZSTD(1)),
    client_ip IPv6
        COMMENT 'Address of the end that opened the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    client_port UInt16
        COMMENT 'TCP port of the client. Unit: port.' CODEC(ZSTD(1)),
    server_ip IPv6
        COMMENT 'Address of the end that accepted the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    server_port UInt16
        COMMENT 'TCP port of the server. Unit: port.' CODEC(ZSTD(1)),
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1)
        COMMENT 'Where the data of the row goes. Unit: label.' CODEC(ZSTD(1)),
    interval_start DateTime64(9, 'UTC')
        COMMENT 'Begin of the interval, a multiple of its length. Unit: instant.' CODEC(Delta, ZSTD(1)),
    interval_end DateTime64(9, 'UTC')
        COMMENT 'End of the interval, not part of it. Unit: instant.' CODEC(Delta, ZSTD(1)),
    version UInt32
        COMMENT 'Analysis generation; of rows with the same key the highest counts. Unit: count.' CODEC(ZSTD(1)),
    observations UInt32
        COMMENT 'Rows of taps that were known, those of another flow on the same ports too; of rows with the same key and version the highest counts. Unit: count.' CODEC(ZSTD(1)),
    taps Array(LowCardinality(String))
        COMMENT 'Taps that saw the flow, in the order in which the data pass them. Unit: texts.' CODEC(ZSTD(1)),
    tap_positions_permille Array(Nullable(UInt16))
        COMMENT 'For each tap the share of the lowest round trip between sender and tap. Unit: 1/1000. NULL: half round trips not seen.' CODEC(ZSTD(1)),
    root_cause Enum8('unknown' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'short_transfer' = 9)
        COMMENT 'What limits the throughput, by the time shares of all taps. Unit: label.' CODEC(ZSTD(1)),
    limit_segment Enum8('unknown' = 0, 'sender' = 1, 'before_first_tap' = 2, 'between_taps' = 3, 'after_last_tap' = 4, 'receiver' = 5, 'none' = 6)
        COMMENT 'Where it is limited, along the data; none: congestion control has not filled the path. Unit: label.' CODEC(ZSTD(1)),
    limit_from LowCardinality(String)
        COMMENT 'Tap at which the limiting segment begins; empty: the sender, or no segment. Unit: text.' CODEC(ZSTD(1)),
    limit_to LowCardinality(String)
        COMMENT 'Tap at which the limiting segment ends; empty: the receiver, or no segment. Unit: text.' CODEC(ZSTD(1)),
    limit_evidence Nullable(Enum8('queue' = 0, 'loss' = 1, 'elimination' = 2))
        COMMENT 'What tells the segment. Unit: label. NULL: no segment of the path.' CODEC(ZSTD(1)),
    confidence_permille Nullable(UInt16)
        COMMENT 'How sure cause and segment are. Unit: 1/1000.' CODEC(T64, ZSTD(1)),
    data_packets UInt32
        COMMENT 'Segments with payload, counted at one tap. Unit: packets.' CODEC(T64, ZSTD(1)),
    data_bytes UInt64
        COMMENT 'Payload sent, repeats included, counted at one tap: may be summed over rows. Unit: bytes.' CODEC(T64, ZSTD(1)),
    throughput_bytes UInt64
        COMMENT 'Bytes sent, headers of the configured layer included, counted at one tap. Unit: bytes.' CODEC(T64, ZSTD(1)),
    goodput_bytes UInt64
        COMMENT 'Payload bytes acknowledged. Unit: bytes.' CODEC(T64, ZSTD(1)),
    capacity_bits_per_second Nullable(UInt64)
        COMMENT 'Highest proven capacity that a tap gives: the rate of the narrowest link. Unit: bit/s. NULL: none is proven.' CODEC(T64, ZSTD(1)),
    rtt_min_ns Nullable(UInt64)
        COMMENT 'Lowest round trip. Unit: ns. NULL: no tap saw both halves.' CODEC(T64, ZSTD(1)),
    segment_queue_ns Array(Nullable(UInt64))
        COMMENT 'For each segment (before the first tap, between taps, behind the last) the mean delay above the lowest, there and back; empty if the order of the taps is not known. Unit: ns. NULL: not timed.' CODEC(ZSTD(1)),
    segment_lost_bytes Array(UInt64)
        COMMENT 'For each segment the payload that it lost and the sender sent again; empty if the order of the taps is not known. Unit: bytes.' CODEC(ZSTD(1)),
    quality_flags UInt32
        COMMENT 'What weakens the verdict of any of the taps. Unit: bits: 0 syn_missed, 1 one_direction, 2 capture_loss, 3 hole, 4 clock_step, 5 capture_cut, 6 offload, 7 duplicated, 8 coarse_clock, 9 capacity_unknown, 10 window_scale_unknown, 11 no_timestamps, 12 path_changed, 13 bad_options, 14 shed.' CODEC(ZSTD(1)),
    revision UInt64
        COMMENT 'version * 2^32 + observations: of rows with the same key the highest counts. Unit: none.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1)),
    CONSTRAINT interval_is_ordered CHECK interval_start <= interval_end
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMMDD(interval_start)
ORDER BY (toRelativeHourNum(interval_start), path_id, toUnixTimestamp64Nano(interval_start))
TTL inserted_at + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One row per (path, interval), quantised to integers; read it through the view.'
