-- SPDX-License-Identifier: Apache-2.0
-- What became of every packet that reached the job. The books balance if, for every (tap, session), the packets of
-- contributed, contributed_after_hole, repeated and malformed sum to those of consumed; ledger_balance does the sums.
CREATE OR REPLACE VIEW ledger
(
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen; empty if a record could not be read so far. Unit: text.',
    session Int64 COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.',
    worker UInt16 COMMENT 'Receive worker of the probe. Unit: index.',
    partition UInt16 COMMENT 'Kafka partition. Unit: index.',
    fate LowCardinality(String) COMMENT 'consumed; of that contributed, contributed_after_hole, repeated, malformed; beside it rejected_*, missing_batch, and of all that came repeated_batch. Unit: label.',
    batches UInt64 COMMENT 'Batches of this fate; 0 where runs have fates. Of repeated_batch those with a packet that had come before. Unit: batches.',
    runs UInt64 COMMENT 'Runs of this fate, summaries included; of missing_batch not known, of repeated_batch those of whole batches. Unit: runs.',
    packets UInt64 COMMENT 'Packets of this fate, by the headers of batches. Unit: packets.'
)
SQL SECURITY INVOKER
AS
SELECT
    stored.tap,
    stored.session,
    stored.worker,
    stored.partition,
    stored.fate,
    stored.batches,
    stored.runs,
    stored.packets
FROM ledger_stored AS stored FINAL
COMMENT 'What became of every packet that reached the job: one row per (tap, session, worker, partition, fate).'
