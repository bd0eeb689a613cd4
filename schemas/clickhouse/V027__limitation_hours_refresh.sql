-- SPDX-License-Identifier: Apache-2.0
-- Fills limitation_hours_stored. It runs by the clock, never by inserts, and reads rows as they count (FINAL): a row that is
-- written twice counts once. An hour of a tap is computed anew if minutes of it were written since it was computed, however
-- old it is; the same hour of other taps is left alone, as its minutes may be gone. Ten minutes of overlap are for inserts
-- that are under way. It looks at what was written within seven days, so that it may stand still for so long; the index on
-- inserted_at leaves out the rest.
-- GLOBAL is for tables that are spread over a cluster. One block a partition: an hour of a tap appears whole or not at all,
-- also if the server is killed.
CREATE MATERIALIZED VIEW IF NOT EXISTS limitation_hours_refresh
REFRESH EVERY 5 MINUTE
SETTINGS refresh_retries = 2
APPEND TO limitation_hours_stored
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS
WITH changed AS
(
    SELECT written.hour_number, written.tap
    FROM
    (
        SELECT toRelativeHourNum(stored.minute) AS hour_number, stored.tap AS tap, max(stored.inserted_at) AS newest
        FROM limitation_minutes_stored AS stored
        WHERE stored.inserted_at >= now() - INTERVAL 7 DAY
        GROUP BY hour_number, tap
    ) AS written
    GLOBAL LEFT JOIN
    (
        SELECT toRelativeHourNum(stored.hour) AS hour_number, stored.tap AS tap, max(stored.computed_at) AS computed
        FROM limitation_hours_stored AS stored
        GROUP BY hour_number, tap
    ) AS known USING (hour_number, tap)
    WHERE written.newest + INTERVAL 10 MINUTE >= known.computed
)
SELECT
    toDateTime64(toRelativeHourNum(stored.minute) * 3600, 9, 'UTC') AS hour,
    stored.tap AS tap,
    stored.server_ip AS server_ip,
    stored.server_port AS server_port,
    IPv6CIDRToRange(stored.client_ip, if(startsWith(toString(stored.client_ip), '::ffff:'), 120, 64)).1 AS client_prefix,
    stored.client_tenant AS client_tenant,
    stored.server_tenant AS server_tenant,
    stored.direction AS direction,
    now64(3, 'UTC') AS computed_at,
    uniqExact(stored.flow_id) AS flows,
    sum(stored.intervals) AS intervals,
    sum(stored.application_ns) AS application_ns,
    sum(stored.send_buffer_ns) AS send_buffer_ns,
    sum(stored.receiver_window_ns) AS receiver_window_ns,
    sum(stored.unshared_bottleneck_ns) AS unshared_bottleneck_ns,
    sum(stored.shared_bottleneck_ns) AS shared_bottleneck_ns,
    sum(stored.transport_ns) AS transport_ns,
    sum(stored.unknown_ns) AS unknown_ns,
    sum(stored.lost_application_bytes) AS lost_application_bytes,
    sum(stored.lost_send_buffer_bytes) AS lost_send_buffer_bytes,
    sum(stored.lost_receiver_window_bytes) AS lost_receiver_window_bytes,
    sum(stored.lost_shared_bottleneck_bytes) AS lost_shared_bottleneck_bytes,
    sum(stored.lost_transport_bytes) AS lost_transport_bytes,
    sum(stored.throughput_bytes) AS throughput_bytes,
    sum(stored.goodput_bytes) AS goodput_bytes,
    sum(stored.data_packets) AS data_packets,
    sum(stored.data_bytes) AS data_bytes,
    sum(stored.retransmitted_bytes) AS retransmitted_bytes,
    sum(stored.reordered_packets) AS reordered_packets,
    sum(stored.capture_loss_bytes) AS capture_loss_bytes,
    sum(stored.loss_events) AS loss_events,
    sum(stored.zero_window_ns) AS zero_window_ns,
    sum(stored.ecn_ce_packets) AS ecn_ce_packets,
    sum(stored.rtt_samples) AS rtt_samples,
    sum(stored.rtt_sum_ns) AS rtt_sum_ns,
    min(stored.rtt_min_ns) AS rtt_min_ns
FROM limitation_minutes_stored AS stored FINAL
WHERE (toRelativeHourNum(stored.minute), stored.tap) GLOBAL IN (SELECT hour_number, tap FROM changed)
GROUP BY hour, tap, server_ip, server_port, client_prefix, client_tenant, server_tenant, direction
SETTINGS do_not_merge_across_partitions_select_final = 1, min_insert_block_size_rows = 100000000, min_insert_block_size_bytes = 0
