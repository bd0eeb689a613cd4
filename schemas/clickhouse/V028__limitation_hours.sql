-- SPDX-License-Identifier: Apache-2.0
-- The hours of each tap as computed last. flows are counted by group: a flow seen at two taps is in two of them.
CREATE OR REPLACE VIEW limitation_hours
(
    hour DateTime64(9, 'UTC') COMMENT 'Begin of the hour. Unit: instant.',
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    server_ip String COMMENT 'Address of the service. Unit: text, IPv4 as a.b.c.d, IPv6 compressed.',
    server_port UInt16 COMMENT 'TCP port of the service. Unit: port.',
    client_prefix String COMMENT 'Prefix in which the clients are: 24 bits of IPv4, 64 bits of IPv6. Unit: text such as 192.0.2.0/24.',
    client_tenant LowCardinality(String) COMMENT 'Whose the clients are; empty if that is not told. Unit: text.',
    server_tenant LowCardinality(String) COMMENT 'Whose the service is; empty if that is not told. Unit: text.',
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1) COMMENT 'Where the data of the row goes. Unit: label.',
    computed_at DateTime64(3, 'UTC') COMMENT 'When the hour of the tap was computed. Unit: instant.',
    flows UInt64 COMMENT 'Flows with intervals in the hour; one that lives for several hours counts in each. Unit: flows.',
    intervals UInt64 COMMENT 'Rows of limitation_intervals that the row adds up. Unit: rows.',
    application_ns UInt64 COMMENT 'Time in which the sender had nothing to send. Unit: ns.',
    send_buffer_ns UInt64 COMMENT 'Time in which the sender\'s socket buffer was the limit. Unit: ns.',
    receiver_window_ns UInt64 COMMENT 'Time in which the receiver\'s window was the limit. Unit: ns.',
    unshared_bottleneck_ns UInt64 COMMENT 'Time in which this flow alone filled the path. Unit: ns.',
    shared_bottleneck_ns UInt64 COMMENT 'Time in which a queue stood that others filled too. Unit: ns.',
    transport_ns UInt64 COMMENT 'Time in which congestion control had not filled the path. Unit: ns.',
    unknown_ns UInt64 COMMENT 'Time in which nothing can be said. Unit: ns.',
    lost_application_bytes UInt64 COMMENT 'Lost bytes of the intervals whose root cause is the application. Unit: bytes.',
    lost_send_buffer_bytes UInt64 COMMENT 'Lost bytes of the intervals whose root cause is the send buffer. Unit: bytes.',
    lost_receiver_window_bytes UInt64 COMMENT 'Lost bytes of the intervals whose root cause is the receiver\'s window. Unit: bytes.',
    lost_shared_bottleneck_bytes UInt64 COMMENT 'Lost bytes of the intervals whose root cause is a shared bottleneck. Unit: bytes.',
    lost_transport_bytes UInt64 COMMENT 'Lost bytes of the intervals whose root cause is congestion control. Unit: bytes.',
    throughput_bytes UInt64 COMMENT 'Bytes sent, headers of the configured layer included. Unit: bytes.',
    goodput_bytes UInt64 COMMENT 'Payload acknowledged. Unit: bytes.',
    data_packets UInt64 COMMENT 'Segments with payload. Unit: packets.',
    data_bytes UInt64 COMMENT 'Payload sent, repeats included. Unit: bytes.',
    retransmitted_bytes UInt64 COMMENT 'Payload sent again for whatever reason. Unit: bytes.',
    reordered_packets UInt64 COMMENT 'Segments that arrived at the tap after later ones, not sent again. Unit: packets.',
    capture_loss_bytes UInt64 COMMENT 'Payload that was acknowledged and never seen. Unit: bytes.',
    loss_events UInt64 COMMENT 'Losses that the sender answered once. Unit: events.',
    zero_window_ns UInt64 COMMENT 'Time in which the receiver\'s window was closed. Unit: ns.',
    ecn_ce_packets UInt64 COMMENT 'Packets marked Congestion Experienced. Unit: packets.',
    rtt_samples UInt64 COMMENT 'Round trips that were timed. Unit: round trips.',
    rtt_sum_ns UInt64 COMMENT 'Sum of the round trips; divided by rtt_samples, over any rows, their mean. Unit: ns.',
    rtt_min_ns Nullable(UInt64) COMMENT 'Lowest round trip. Unit: ns. NULL: no round trip was seen.'
)
SQL SECURITY INVOKER
AS
SELECT
    stored.hour,
    stored.tap,
    replaceRegexpOne(toString(stored.server_ip), '^::ffff:([0-9.]+)$', '\\1') AS server_ip,
    stored.server_port,
    if(startsWith(toString(stored.client_prefix), '::ffff:'), concat(substring(toString(stored.client_prefix), 8), '/24'), concat(toString(stored.client_prefix), '/64')) AS client_prefix,
    stored.client_tenant,
    stored.server_tenant,
    stored.direction,
    stored.computed_at,
    stored.flows,
    stored.intervals,
    stored.application_ns,
    stored.send_buffer_ns,
    stored.receiver_window_ns,
    stored.unshared_bottleneck_ns,
    stored.shared_bottleneck_ns,
    stored.transport_ns,
    stored.unknown_ns,
    stored.lost_application_bytes,
    stored.lost_send_buffer_bytes,
    stored.lost_receiver_window_bytes,
    stored.lost_shared_bottleneck_bytes,
    stored.lost_transport_bytes,
    stored.throughput_bytes,
    stored.goodput_bytes,
    stored.data_packets,
    stored.data_bytes,
    stored.retransmitted_bytes,
    stored.reordered_packets,
    stored.capture_loss_bytes,
    stored.loss_events,
    stored.zero_window_ns,
    stored.ecn_ce_packets,
    stored.rtt_samples,
    stored.rtt_sum_ns,
    stored.rtt_min_ns
FROM limitation_hours_stored AS stored FINAL
WHERE (toRelativeHourNum(stored.hour), stored.tap, stored.computed_at) GLOBAL IN
(
    SELECT toRelativeHourNum(newest.hour) AS hour_number, newest.tap, max(newest.computed_at)
    FROM limitation_hours_stored AS newest
    GROUP BY hour_number, newest.tap
)
COMMENT 'What limited the flows of each service: one row per (hour, tap, service, client prefix, tenants, direction).'
