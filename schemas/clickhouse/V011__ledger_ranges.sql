-- SPDX-License-Identifier: Apache-2.0
-- Where packets went: within each range the packets of contributed, contributed_after_hole, repeated and malformed sum to
-- those of consumed, and the ranges of consumed, less repeated_batch, and of rejected_* and missing_batch cover all packets
-- of the origin once.
CREATE OR REPLACE VIEW ledger_ranges
(
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen; empty if a record could not be read so far. Unit: text.',
    session Int64 COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.',
    worker UInt16 COMMENT 'Receive worker of the probe. Unit: index.',
    partition UInt16 COMMENT 'Kafka partition. Unit: index.',
    minute DateTime('UTC') COMMENT 'Minute in which the broker appended the batches; of missing_batch, the batch behind the gap. Unit: instant.',
    fate LowCardinality(String) COMMENT 'As in ledger. Unit: label.',
    from_sequence UInt64 COMMENT 'Sequence number of the first batch; Kafka offset where tap is empty. Unit: count.',
    to_sequence UInt64 COMMENT 'Behind the last batch; from_sequence of a gap if a capture was played again with other options, and numbers tell nothing. Unit: count.',
    from_packet UInt64 COMMENT 'Packets in all batches before the first. Unit: packets.',
    to_packet UInt64 COMMENT 'The same with those of the range. Unit: packets.',
    batches UInt64 COMMENT 'Batches of this fate; 0 where runs have fates. Unit: batches.',
    runs UInt64 COMMENT 'Runs of this fate. Unit: runs.',
    packets UInt64 COMMENT 'Packets of this fate. Unit: packets.'
)
SQL SECURITY INVOKER
AS
SELECT
    stored.tap,
    stored.session,
    stored.worker,
    stored.partition,
    stored.minute,
    stored.fate,
    stored.from_sequence,
    stored.to_sequence,
    stored.from_packet,
    stored.to_packet,
    stored.batches,
    stored.runs,
    stored.packets
FROM ledger_ranges_stored AS stored FINAL
WHERE stored.batches + stored.runs + stored.packets > 0
COMMENT 'The ledger by range: one row per (tap, session, worker, partition, minute, fate), and one per gap that is open.'
