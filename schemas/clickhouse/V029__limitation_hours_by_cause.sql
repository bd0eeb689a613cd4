-- SPDX-License-Identifier: Apache-2.0
-- The hours turned, a row for each cause: what costs a service most is one GROUP BY away.
CREATE OR REPLACE VIEW limitation_hours_by_cause
(
    hour DateTime64(9, 'UTC') COMMENT 'Begin of the hour. Unit: instant.',
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    server_ip String COMMENT 'Address of the service. Unit: text, IPv4 as a.b.c.d, IPv6 compressed.',
    server_port UInt16 COMMENT 'TCP port of the service. Unit: port.',
    client_prefix String COMMENT 'Prefix in which the clients are: 24 bits of IPv4, 64 bits of IPv6. Unit: text such as 192.0.2.0/24.',
    client_tenant LowCardinality(String) COMMENT 'Whose the clients are; empty if that is not told. Unit: text.',
    server_tenant LowCardinality(String) COMMENT 'Whose the service is; empty if that is not told. Unit: text.',
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1) COMMENT 'Where the data of the row goes. Unit: label.',
    cause String COMMENT 'What limited the flows. Unit: label.',
    cause_ns UInt64 COMMENT 'Time of the flows with this limit. Unit: ns.',
    judged_ns UInt64 COMMENT 'Time of the flows with any limit, the same in all rows of a group. Unit: ns.',
    lost_bytes UInt64 COMMENT 'Lost bytes of the intervals with this root cause; 0 for causes without. Unit: bytes.',
    throughput_bytes UInt64 COMMENT 'Bytes sent whatever the limit was, the same in all rows of a group. Unit: bytes.',
    flows UInt64 COMMENT 'Flows with intervals in the hour whatever their limit was, the same in all rows of a group. Unit: flows.'
)
SQL SECURITY INVOKER
AS
SELECT
    hours.hour,
    hours.tap,
    hours.server_ip,
    hours.server_port,
    hours.client_prefix,
    hours.client_tenant,
    hours.server_tenant,
    hours.direction,
    turned.1 AS cause,
    turned.2 AS cause_ns,
    hours.application_ns + hours.send_buffer_ns + hours.receiver_window_ns + hours.unshared_bottleneck_ns
        + hours.shared_bottleneck_ns + hours.transport_ns + hours.unknown_ns AS judged_ns,
    turned.3 AS lost_bytes,
    hours.throughput_bytes,
    hours.flows
FROM limitation_hours AS hours
ARRAY JOIN
    [
        ('application', hours.application_ns, hours.lost_application_bytes),
        ('send_buffer', hours.send_buffer_ns, hours.lost_send_buffer_bytes),
        ('receiver_window', hours.receiver_window_ns, hours.lost_receiver_window_bytes),
        ('unshared_bottleneck', hours.unshared_bottleneck_ns, toUInt64(0)),
        ('shared_bottleneck', hours.shared_bottleneck_ns, hours.lost_shared_bottleneck_bytes),
        ('transport', hours.transport_ns, hours.lost_transport_bytes),
        ('unknown', hours.unknown_ns, toUInt64(0))
    ] AS turned
COMMENT 'What limited the flows of each service, by cause: one row per (group of limitation_hours, cause).'
