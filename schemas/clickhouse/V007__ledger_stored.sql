-- SPDX-License-Identifier: Apache-2.0
-- The job's part of the ledger: what it consumed, by the headers of the batches, what is missing by their cumulative
-- packet counts, and what became of every run of them.
-- Totals since the start of a session, kept in exactly-once state; of several writings the highest version counts.
CREATE TABLE IF NOT EXISTS ledger_stored
(
    tap LowCardinality(String)
        COMMENT 'Place in the network where the packets were seen; empty if a record could not be read so far. Unit: text.' CODEC(ZSTD(1)),
    session Int64
        COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.' CODEC(ZSTD(1)),
    worker UInt16
        COMMENT 'Receive worker of the probe. Unit: index.' CODEC(ZSTD(1)),
    partition UInt16
        COMMENT 'Kafka partition. Unit: index.' CODEC(ZSTD(1)),
    fate LowCardinality(String)
        COMMENT 'consumed; of that contributed, contributed_after_hole, repeated, malformed; beside it rejected_*, missing_batch, and of all that came repeated_batch. Unit: label.' CODEC(ZSTD(1)),
    batches UInt64
        COMMENT 'Batches of this fate; 0 where runs have fates. Of repeated_batch those with a packet that had come before. Unit: batches.' CODEC(ZSTD(1)),
    runs UInt64
        COMMENT 'Runs of this fate, summaries included; of missing_batch not known, of repeated_batch those of whole batches. Unit: runs.' CODEC(ZSTD(1)),
    packets UInt64
        COMMENT 'Packets of this fate, by the headers of batches. Unit: packets.' CODEC(ZSTD(1)),
    version UInt64
        COMMENT 'Grows with every change; what is missing may shrink. Unit: count.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (tap, session, worker, partition, fate)
TTL inserted_at + INTERVAL 400 DAY
COMMENT 'One row per (tap, session, worker, partition, fate); read it through the view.'
