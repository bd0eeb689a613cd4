-- SPDX-License-Identifier: Apache-2.0
-- What limited the flows of a service, by client prefix, tap and direction, hour by hour. Filled by limitation_hours_refresh,
-- which computes an hour anew as a whole: all its rows then have one computed_at, and those of older computations no
-- longer count, also where a group is gone.
CREATE TABLE IF NOT EXISTS limitation_hours_stored
(
    hour DateTime64(9, 'UTC')
        COMMENT 'Begin of the hour. Unit: instant.' CODEC(Delta, ZSTD(1)),
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen. Unit: text.' CODEC(ZSTD(1)),
    server_ip IPv6
        COMMENT 'Address of the service. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    server_port UInt16
        COMMENT 'TCP port of the service. Unit: port.' CODEC(ZSTD(1)),
    client_prefix IPv6
        COMMENT 'First address of the prefix in which the clients are: 24 bits of IPv4, 64 bits of IPv6. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    client_tenant LowCardinality(String)
        COMMENT 'Whose the clients are; empty if that is not told. Unit: text.' CODEC(ZSTD(1)),
    server_tenant LowCardinality(String)
        COMMENT 'Whose the service is; empty if that is not told. Unit: text.' CODEC(ZSTD(1)),
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1)
        COMMENT 'Where the data of the row goes. Unit: label.' CODEC(ZSTD(1)),
    computed_at DateTime64(3, 'UTC')
        COMMENT 'When the hour was computed. Unit: instant.' CODEC(Delta, ZSTD(1)),

    flows UInt64
        COMMENT 'Flows with intervals in the hour; one that lives for several hours counts in each. Unit: flows.' CODEC(T64, ZSTD(1)),
    intervals UInt64
        COMMENT 'Rows of limitation_intervals that the row adds up. Unit: rows.' CODEC(T64, ZSTD(1)),
    application_ns UInt64
        COMMENT 'Time in which the sender had nothing to send. Unit: ns.' CODEC(T64, ZSTD(1)),
    send_buffer_ns UInt64
        COMMENT 'Time in which the sender\'s socket buffer was the limit. Unit: ns.' CODEC(T64, ZSTD(1)),
    receiver_window_ns UInt64
        COMMENT 'Time in which the receiver\'s window was the limit. Unit: ns.' CODEC(T64, ZSTD(1)),
    unshared_bottleneck_ns UInt64
        COMMENT 'Time in which this flow alone filled the path. Unit: ns.' CODEC(T64, ZSTD(1)),
    shared_bottleneck_ns UInt64
        COMMENT 'Time in which a queue stood that others filled too. Unit: ns.' CODEC(T64, ZSTD(1)),
    transport_ns UInt64
        COMMENT 'Time in which congestion control had not filled the path. Unit: ns.' CODEC(T64, ZSTD(1)),
    unknown_ns UInt64
        COMMENT 'Time in which nothing can be said. Unit: ns.' CODEC(T64, ZSTD(1)),
    lost_application_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the application. Unit: bytes.' CODEC(T64, ZSTD(1)),
    lost_send_buffer_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the send buffer. Unit: bytes.' CODEC(T64, ZSTD(1)),
    lost_receiver_window_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the receiver\'s window. Unit: bytes.' CODEC(T64, ZSTD(1)),
    lost_shared_bottleneck_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is a shared bottleneck. Unit: bytes.' CODEC(T64, ZSTD(1)),
    lost_transport_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is congestion control. Unit: bytes.' CODEC(T64, ZSTD(1)),
    throughput_bytes UInt64
        COMMENT 'Bytes sent, headers of the configured layer included. Unit: bytes.' CODEC(T64, ZSTD(1)),
    goodput_bytes UInt64
        COMMENT 'Payload acknowledged. Unit: bytes.' CODEC(T64, ZSTD(1)),
    data_packets UInt64
        COMMENT 'Segments with payload. Unit: packets.' CODEC(T64, ZSTD(1)),
    data_bytes UInt64
        COMMENT 'Payload sent, repeats included. Unit: bytes.' CODEC(T64, ZSTD(1)),
    retransmitted_bytes UInt64
        COMMENT 'Payload sent again for whatever reason. Unit: bytes.' CODEC(T64, ZSTD(1)),
    reordered_packets UInt64
        COMMENT 'Segments that arrived at the tap after later ones, not sent again. Unit: packets.' CODEC(T64, ZSTD(1)),
    capture_loss_bytes UInt64
        COMMENT 'Payload that was acknowledged and never seen. Unit: bytes.' CODEC(T64, ZSTD(1)),
    loss_events UInt64
        COMMENT 'Losses that the sender answered once. Unit: events.' CODEC(T64, ZSTD(1)),
    zero_window_ns UInt64
        COMMENT 'Time in which the receiver\'s window was closed. Unit: ns.' CODEC(T64, ZSTD(1)),
    ecn_ce_packets UInt64
        COMMENT 'Packets marked Congestion Experienced. Unit: packets.' CODEC(T64, ZSTD(1)),
    rtt_samples UInt64
        COMMENT 'Round trips that were timed. Unit: round trips.' CODEC(T64, ZSTD(1)),
    rtt_sum_ns UInt64
        COMMENT 'Sum of the round trips; divided by rtt_samples, over any rows, their mean. Unit: ns.' CODEC(T64, ZSTD(1)),
    rtt_min_ns Nullable(UInt64)
        COMMENT 'Lowest round trip. Unit: ns. NULL: no round trip was seen.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (toRelativeHourNum(hour), tap, server_ip, server_port, client_prefix, client_tenant, server_tenant, direction)
TTL inserted_at + INTERVAL 800 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'One row per (hour, tap, service, client prefix, tenants, direction); read it through the view.'
