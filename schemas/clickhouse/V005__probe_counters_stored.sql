-- SPDX-License-Identifier: Apache-2.0
-- The counters that every batch carries, thinned to the last of each minute. A counter of a session only grows, so the
-- highest value of a minute is its last: the value itself is the version, and the order of writing does not matter.
CREATE TABLE IF NOT EXISTS probe_counters_stored
(
    probe LowCardinality(String)
        COMMENT 'Name of the probe, from its configuration. Unit: text.' CODEC(ZSTD(1)),
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen. Unit: text.' CODEC(ZSTD(1)),
    session Int64
        COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.' CODEC(ZSTD(1)),
    worker UInt16
        COMMENT 'Receive worker of the probe. Unit: index.' CODEC(ZSTD(1)),
    partition UInt16
        COMMENT 'Kafka partition of the batch that brought the value; the counter is the worker''s, not the partition''s. Unit: index.' CODEC(ZSTD(1)),
    counter LowCardinality(String)
        COMMENT 'Name as in the probe''s counter table. Unit: text.' CODEC(ZSTD(1)),
    minute DateTime('UTC')
        COMMENT 'Minute in which the broker appended the batch. Unit: instant.' CODEC(DoubleDelta, ZSTD(1)),
    value UInt64
        COMMENT 'Value since the start of the session. Unit: as the counter''s name says.' CODEC(T64, ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(value)
PARTITION BY toYYYYMM(minute)
ORDER BY (tap, session, worker, counter, partition, minute)
TTL inserted_at + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'One row per (tap, session, worker, partition, counter, minute); read it through the view.'
