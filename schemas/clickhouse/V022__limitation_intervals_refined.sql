-- SPDX-License-Identifier: Apache-2.0
-- Each interval beside the group in which its flow shared a bottleneck in the window of its begin. The flow's own verdict stays what it was, and
-- refined_root_cause says shared_bottleneck where the flow alone could not tell by whom its link was filled.
CREATE OR REPLACE VIEW limitation_intervals_refined
(
    flow_id FixedString(16) COMMENT 'Name of the flow, the same at every tap if its SYN or SYN-ACK was seen. Unit: 16 lower-case hexadecimal digits.',
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1) COMMENT 'Where the data of the row goes. Unit: label.',
    interval_start DateTime64(9, 'UTC') COMMENT 'Begin of the interval, a multiple of its length. Unit: instant.',
    interval_end DateTime64(9, 'UTC') COMMENT 'End of the interval, not part of it. Unit: instant.',
    root_cause Enum8('unknown' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'short_transfer' = 9) COMMENT 'What limits the throughput, from this flow''s packets alone. Unit: label.',
    refined_root_cause Enum8('unknown' = 0, 'application' = 1, 'send_buffer' = 2, 'receiver_window' = 3, 'unshared_bottleneck' = 4, 'shared_bottleneck' = 5, 'bottleneck' = 6, 'transport' = 7, 'mixed' = 8, 'short_transfer' = 9) COMMENT 'shared_bottleneck where the root cause is a bottleneck nobody could call shared or not and the flow is in a group; else the root cause. Unit: label.',
    sub_cause Nullable(Enum8('idle' = 0, 'small_writes' = 1, 'paced' = 2, 'waiting_for_peer' = 3, 'zero_window' = 4, 'window_unscaled' = 5, 'window_clamped' = 6, 'slow_reader' = 7, 'deep_buffer' = 8, 'policed' = 9, 'sharing_undecided' = 10, 'slow_start' = 11, 'congestion_avoidance' = 12, 'random_loss' = 13, 'reordering' = 14)) COMMENT 'What refines the root cause. Unit: label. NULL: nothing refines it.',
    window_start DateTime64(9, 'UTC') COMMENT 'Begin of the window of groups in which the interval begins: a condition on it is asked of the groups, too. Unit: instant.',
    group_id Nullable(FixedString(16)) COMMENT 'Group in which the flow shared a bottleneck. Unit: 16 lower-case hexadecimal digits. NULL: in none.',
    group_flows Nullable(UInt64) COMMENT 'Its members. Unit: count. NULL: in none.',
    group_share Nullable(Float64) COMMENT 'Share of this flow in the bytes of all members. Unit: 0..1. NULL: in none.',
    group_capacity_bits_per_second Nullable(UInt64) COMMENT 'Rate of the shared link. Unit: bit/s. NULL: in none.'
)
SQL SECURITY INVOKER
AS
SELECT
    intervals.flow_id,
    intervals.tap,
    intervals.direction,
    intervals.interval_start,
    intervals.interval_end,
    intervals.root_cause,
    if(groups.group_flows >= 2 AND intervals.root_cause = 'bottleneck', CAST('shared_bottleneck', toTypeName(intervals.root_cause)), intervals.root_cause) AS refined_root_cause,
    intervals.sub_cause,
    intervals.window_start,
    groups.group_id,
    groups.group_flows,
    groups.group_share,
    groups.group_capacity_bits_per_second
FROM
(
    SELECT
        flow_id,
        tap,
        direction,
        interval_start,
        interval_end,
        root_cause,
        sub_cause,
        toDateTime64(intDiv(toUnixTimestamp64Nano(interval_start), 10000000000) * 10, 9, 'UTC') AS window_start
    FROM limitation_intervals
) AS intervals
LEFT JOIN
(
    SELECT
        tap,
        window_start,
        toNullable(group_id) AS group_id,
        toNullable(flows) AS group_flows,
        toNullable(capacity_bits_per_second) AS group_capacity_bits_per_second,
        member_flow_id,
        member_direction,
        toNullable(member_share) AS group_share
    FROM bottleneck_groups
    ARRAY JOIN
        member_flow_ids AS member_flow_id,
        member_directions AS member_direction,
        member_shares AS member_share
) AS groups
    ON groups.tap = intervals.tap
    AND groups.member_flow_id = intervals.flow_id
    AND groups.member_direction = intervals.direction
    AND groups.window_start = intervals.window_start
COMMENT 'What limits a flow, and with whom it shares the bottleneck: one row per (flow, tap, direction, interval).'
