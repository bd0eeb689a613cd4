-- SPDX-License-Identifier: Apache-2.0
-- The intervals of a flow added up by the minute: a fiftieth of the rows, kept for longer. The analysis writes them itself,
-- as upserts like all rows; a view triggered by inserts would count a row twice that is written twice.
-- Only what may be added up further is here: sums, and times by cause in ns, so that shares over any rows stay right.
CREATE TABLE IF NOT EXISTS limitation_minutes_stored
(
    flow_id FixedString(16)
        COMMENT 'Name of the flow, the same at every tap if its SYN or SYN-ACK was seen. Unit: 16 lower-case hexadecimal digits.' CODEC(ZSTD(1)),
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen. Unit: text.' CODEC(ZSTD(1)),
    client_ip IPv6
        COMMENT 'Address of the end that opened the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    client_port UInt16
        COMMENT 'TCP port of the client. Unit: port.' CODEC(ZSTD(1)),
    server_ip IPv6
        COMMENT 'Address of the end that accepted the flow. Unit: address, IPv4 as ::ffff:a.b.c.d.' CODEC(ZSTD(1)),
    server_port UInt16
        COMMENT 'TCP port of the server. Unit: port.' CODEC(ZSTD(1)),
    vlan Nullable(UInt16)
        COMMENT 'Innermost VLAN of the first packet. Unit: VLAN id, 0..4095. NULL: untagged.' CODEC(ZSTD(1)),
    tunnel_id Nullable(UInt32)
        COMMENT 'Innermost tunnel of the first packet (VNI, GRE key, TEID). Unit: none. NULL: no tunnel.' CODEC(ZSTD(1)),
    client_tenant LowCardinality(String)
        COMMENT 'Whose the client is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)),
    server_tenant LowCardinality(String)
        COMMENT 'Whose the server is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)),
    direction Enum8('client_to_server' = 0, 'server_to_client' = 1)
        COMMENT 'Where the data of the row goes. Unit: label.' CODEC(ZSTD(1)),
    minute DateTime64(9, 'UTC')
        COMMENT 'Begin of the minute. Unit: instant.' CODEC(Delta, ZSTD(1)),
    version UInt32
        COMMENT 'Analysis generation; of rows with the same key the highest counts. Unit: count.' CODEC(ZSTD(1)),

    intervals UInt32
        COMMENT 'Rows of limitation_intervals that begin in the minute, which the row adds up. Unit: rows.' CODEC(ZSTD(1)),
    application_ns UInt64
        COMMENT 'Time in which the sender had nothing to send. Unit: ns.' CODEC(ZSTD(1)),
    send_buffer_ns UInt64
        COMMENT 'Time in which the sender\'s socket buffer was the limit. Unit: ns.' CODEC(ZSTD(1)),
    receiver_window_ns UInt64
        COMMENT 'Time in which the receiver\'s window was the limit. Unit: ns.' CODEC(ZSTD(1)),
    unshared_bottleneck_ns UInt64
        COMMENT 'Time in which this flow alone filled the path. Unit: ns.' CODEC(ZSTD(1)),
    shared_bottleneck_ns UInt64
        COMMENT 'Time in which a queue stood that others filled too. Unit: ns.' CODEC(ZSTD(1)),
    transport_ns UInt64
        COMMENT 'Time in which congestion control had not filled the path. Unit: ns.' CODEC(ZSTD(1)),
    unknown_ns UInt64
        COMMENT 'Time in which nothing can be said. Unit: ns.' CODEC(ZSTD(1)),
    lost_application_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the application. Unit: bytes.' CODEC(ZSTD(1)),
    lost_send_buffer_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the send buffer. Unit: bytes.' CODEC(ZSTD(1)),
    lost_receiver_window_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is the receiver\'s window. Unit: bytes.' CODEC(ZSTD(1)),
    lost_shared_bottleneck_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is a shared bottleneck. Unit: bytes.' CODEC(ZSTD(1)),
    lost_transport_bytes UInt64
        COMMENT 'Lost bytes of the intervals whose root cause is congestion control. Unit: bytes.' CODEC(ZSTD(1)),
    throughput_bytes UInt64
        COMMENT 'Bytes sent, headers of the configured layer included. Unit: bytes.' CODEC(T64, ZSTD(1)),
    goodput_bytes UInt64
        COMMENT 'Payload acknowledged. Unit: bytes.' CODEC(T64, ZSTD(1)),
    data_packets UInt32
        COMMENT 'Segments with payload. Unit: packets.' CODEC(T64, ZSTD(1)),
    data_bytes UInt64
        COMMENT 'Payload sent, repeats included. Unit: bytes.' CODEC(T64, ZSTD(1)),
    retransmitted_bytes UInt64
        COMMENT 'Payload sent again for whatever reason. Unit: bytes.' CODEC(ZSTD(1)),
    reordered_packets UInt32
        COMMENT 'Segments that arrived at the tap after later ones, not sent again. Unit: packets.' CODEC(ZSTD(1)),
    capture_loss_bytes UInt64
        COMMENT 'Payload that was acknowledged and never seen. Unit: bytes.' CODEC(ZSTD(1)),
    loss_events UInt32
        COMMENT 'Losses that the sender answered once. Unit: events.' CODEC(T64, ZSTD(1)),
    zero_window_ns UInt64
        COMMENT 'Time in which the receiver\'s window was closed. Unit: ns.' CODEC(ZSTD(1)),
    ecn_ce_packets UInt32
        COMMENT 'Packets marked Congestion Experienced. Unit: packets.' CODEC(ZSTD(1)),
    rtt_samples UInt32
        COMMENT 'Round trips that were timed. Unit: round trips.' CODEC(T64, ZSTD(1)),
    rtt_sum_ns UInt64
        COMMENT 'Sum of the round trips; divided by rtt_samples, over any rows, their mean. Unit: ns.' CODEC(T64, ZSTD(1)),
    rtt_min_ns Nullable(UInt64)
        COMMENT 'Lowest round trip. Unit: ns. NULL: no round trip was seen.' CODEC(ZSTD(1)),
    quality_flags UInt32
        COMMENT 'Bits that any of the intervals had; their names are those of limitation_intervals_stored. Unit: bits.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1)),
    INDEX inserted_at_range inserted_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(minute)
ORDER BY (toRelativeHourNum(minute), tap, flow_id, direction, toUnixTimestamp64Nano(minute))
TTL inserted_at + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One row per (flow, tap, direction, minute) with intervals; read it through the view.'
