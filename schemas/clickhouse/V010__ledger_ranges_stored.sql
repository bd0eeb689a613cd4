-- SPDX-License-Identifier: Apache-2.0
-- The ledger by range: for each minute of the log the batches that came in it, and each gap by itself, so that it can be
-- seen where, and when, packets went missing. Kept in exactly-once state; of several writings the highest version counts.
CREATE TABLE IF NOT EXISTS ledger_ranges_stored
(
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen; empty if a record could not be read so far. Unit: text.' CODEC(ZSTD(1)),
    session Int64
        COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.' CODEC(ZSTD(1)),
    worker UInt16
        COMMENT 'Receive worker of the probe. Unit: index.' CODEC(ZSTD(1)),
    partition UInt16
        COMMENT 'Kafka partition. Unit: index.' CODEC(ZSTD(1)),
    minute DateTime('UTC')
        COMMENT 'Minute in which the broker appended the batches; of missing_batch, the batch behind the gap. Unit: instant.' CODEC(DoubleDelta, ZSTD(1)),
    fate LowCardinality(String)
        COMMENT 'As in ledger. Unit: label.' CODEC(ZSTD(1)),
    from_sequence UInt64
        COMMENT 'Sequence number of the first batch; Kafka offset where tap is empty. Unit: count.' CODEC(ZSTD(1)),
    to_sequence UInt64
        COMMENT 'Behind the last batch; from_sequence of a gap if a capture was played again with other options, and numbers tell nothing. Unit: count.' CODEC(ZSTD(1)),
    from_packet UInt64
        COMMENT 'Packets in all batches before the first. Unit: packets.' CODEC(ZSTD(1)),
    to_packet UInt64
        COMMENT 'The same with those of the range. Unit: packets.' CODEC(ZSTD(1)),
    batches UInt64
        COMMENT 'Batches of this fate; 0 where runs have fates. A gap that was filled later has none of anything. Unit: batches.' CODEC(ZSTD(1)),
    runs UInt64
        COMMENT 'Runs of this fate. Unit: runs.' CODEC(ZSTD(1)),
    packets UInt64
        COMMENT 'Packets of this fate. Unit: packets.' CODEC(ZSTD(1)),
    version UInt64
        COMMENT 'Grows with every change. Unit: count.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (tap, session, worker, partition, minute, fate, from_sequence, from_packet)
TTL inserted_at + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'One row per (tap, session, worker, partition, minute, fate) and per gap; read it through the view.'
