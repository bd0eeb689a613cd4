-- SPDX-License-Identifier: Apache-2.0
-- The same columns over the whole life of a flow, written at its end.
CREATE TABLE IF NOT EXISTS flows_stored AS limitation_intervals_stored
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(interval_start)
ORDER BY (toRelativeHourNum(interval_start), tap, flow_id, direction, toUnixTimestamp64Nano(interval_start))
TTL inserted_at + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One row per (flow, tap, direction), quantised to integers; read it through the view.'
