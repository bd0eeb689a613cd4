-- SPDX-License-Identifier: Apache-2.0
-- Who shared a bottleneck, with the names and units that people see; computed as the command line computes it, operation by operation.
-- A telling of a window gives all its rows one version; only the last one counts, as a job that was killed does not know of groups
-- that it told since its last checkpoint and takes none of them back. Conditions on tap and window_start reach the table.
CREATE OR REPLACE VIEW bottleneck_groups
(
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    window_start DateTime64(9, 'UTC') COMMENT 'Begin of the window, a multiple of its length. Unit: instant.',
    window_end DateTime64(9, 'UTC') COMMENT 'End of the window, not part of it. Unit: instant.',
    group_id FixedString(16) COMMENT 'Name of the group at its tap; from one window to the next mostly the same. Unit: 16 lower-case hexadecimal digits.',
    version UInt64 COMMENT 'Analysis generation x 2^48 + bytes behind it; of rows with the same key the highest counts. Unit: none.',
    bottleneck_side Enum8('before_tap' = 0, 'after_tap' = 1) COMMENT 'Where the shared queue stood, along the data. Unit: label.',
    flows UInt64 COMMENT 'Members: directions of flows in the queue, two at least. Unit: count.',
    capacity_bits_per_second UInt64 COMMENT 'Rate of the shared link, on the configured layer. Unit: bit/s.',
    capacity_kind Enum8('proven' = 0, 'lower_bound' = 1) COMMENT 'Whether a member has proven the capacity or it is what all took together. Unit: label.',
    throughput_bits_per_second Float64 COMMENT 'What all members sent while a queue stood. Unit: bit/s.',
    observed_seconds Float64 COMMENT 'Time in which a member sent and a queue stood, in whole seconds. Unit: s.',
    queue_delay_seconds Float64 COMMENT 'Delay of the shared queue, mean weighted by bytes. Unit: s.',
    agreement Float64 COMMENT 'Concordance of the members'' delays, mean over pairs. Unit: 0..1.',
    largest_flow_id FixedString(16) COMMENT 'Member that took most. Unit: 16 lower-case hexadecimal digits.',
    largest_share Float64 COMMENT 'Its share of the bytes of all members. Unit: 0..1.',
    member_flow_ids Array(FixedString(16)) COMMENT 'Flows in the queue, the largest taker first. Unit: 16 lower-case hexadecimal digits each.',
    member_directions Array(Enum8('client_to_server' = 0, 'server_to_client' = 1)) COMMENT 'Where the data of each member go. Unit: labels.',
    member_bytes Array(UInt64) COMMENT 'What each member sent while a queue stood, headers of the configured layer included. Unit: bytes each.',
    member_shares Array(Float64) COMMENT 'Its share of the bytes of all members; they sum to 1. Unit: 0..1 each.',
    tenants Array(LowCardinality(String)) COMMENT 'Tenants who have an end of every member: who may see the row. Unit: texts, empty if there is none.'
)
SQL SECURITY INVOKER
AS
SELECT
    stored.tap,
    stored.window_start,
    stored.window_end,
    stored.group_id,
    stored.version,
    stored.bottleneck_side,
    length(stored.member_bytes) AS flows,
    stored.capacity_bits_per_second,
    stored.capacity_kind,
    arraySum(stored.member_bytes) * 8e9 / stored.observed_ns AS throughput_bits_per_second,
    stored.observed_ns / 1000000000 AS observed_seconds,
    stored.queue_delay_ns / 1000000000 AS queue_delay_seconds,
    stored.agreement_permille / 1000 AS agreement,
    stored.member_flow_ids[1] AS largest_flow_id,
    stored.member_bytes[1] / arraySum(stored.member_bytes) AS largest_share,
    stored.member_flow_ids,
    stored.member_directions,
    stored.member_bytes,
    arrayMap(bytes -> bytes / arraySum(stored.member_bytes), stored.member_bytes) AS member_shares,
    stored.tenants
FROM
(
    SELECT *, max(version) OVER (PARTITION BY tap, window_start) AS told_last
    FROM bottleneck_groups_stored FINAL
) AS stored
WHERE stored.version = stored.told_last AND notEmpty(stored.member_bytes)
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Who shared a bottleneck: one row per (tap, window, group).'
