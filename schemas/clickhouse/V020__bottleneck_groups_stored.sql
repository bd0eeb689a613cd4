-- SPDX-License-Identifier: Apache-2.0
-- Who shared a bottleneck at one tap during a window of 10 s. Rows are upserts: what came late makes a row of a higher version, and
-- one without members takes back a group that was told too early.
CREATE TABLE IF NOT EXISTS bottleneck_groups_stored
(
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen. Unit: text.' CODEC(ZSTD(1)),
    window_start DateTime64(9, 'UTC')
        COMMENT 'Begin of the window, a multiple of its length. Unit: instant.' CODEC(Delta, ZSTD(1)),
    window_end DateTime64(9, 'UTC')
        COMMENT 'End of the window, not part of it. Unit: instant.' CODEC(Delta, ZSTD(1)),
    group_id FixedString(16)
        COMMENT 'Name of the group at its tap; from one window to the next mostly the same. Unit: 16 lower-case hexadecimal digits.' CODEC(ZSTD(1)),
    version UInt64
        COMMENT 'Analysis generation x 2^32 + observations of the window; of rows with the same key the highest counts. Unit: count.' CODEC(ZSTD(1)),
    bottleneck_side Enum8('before_tap' = 0, 'after_tap' = 1)
        COMMENT 'Where the shared queue stood, along the data. Unit: label.' CODEC(ZSTD(1)),
    capacity_bits_per_second UInt64
        COMMENT 'Rate of the shared link, on the configured layer. Unit: bit/s.' CODEC(T64, ZSTD(1)),
    capacity_kind Enum8('proven' = 0, 'lower_bound' = 1)
        COMMENT 'Whether a member has proven the capacity or it is what all took together. Unit: label.' CODEC(ZSTD(1)),
    observed_ns UInt64
        COMMENT 'Time in which a member sent and a queue stood, in whole seconds. Unit: ns.' CODEC(T64, ZSTD(1)),
    queue_delay_ns UInt64
        COMMENT 'Delay of the shared queue, mean weighted by bytes. Unit: ns.' CODEC(T64, ZSTD(1)),
    agreement_permille UInt16
        COMMENT 'Concordance of the members'' delays, mean over pairs. Unit: 1/1000.' CODEC(T64, ZSTD(1)),
    member_flow_ids Array(FixedString(16))
        COMMENT 'Flows in the queue, the largest taker first; empty if the group is taken back. Unit: 16 lower-case hexadecimal digits each.' CODEC(ZSTD(1)),
    member_directions Array(Enum8('client_to_server' = 0, 'server_to_client' = 1))
        COMMENT 'Where the data of each member go. Unit: labels.' CODEC(ZSTD(1)),
    member_bytes Array(UInt64)
        COMMENT 'What each member sent while a queue stood, headers of the configured layer included. Unit: bytes each.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1)),
    CONSTRAINT members_are_whole CHECK length(member_flow_ids) = length(member_bytes) AND length(member_directions) = length(member_bytes)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(window_start)
ORDER BY (toRelativeHourNum(window_start), tap, group_id, toUnixTimestamp64Nano(window_start))
TTL inserted_at + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One row per (tap, window, group); read it through the view.'
