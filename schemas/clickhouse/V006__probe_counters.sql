-- SPDX-License-Identifier: Apache-2.0
-- A worker's counter, whichever partition brought its newest value. No FINAL is needed: the highest value is the last.
CREATE OR REPLACE VIEW probe_counters
(
    probe LowCardinality(String) COMMENT 'Name of the probe, from its configuration. Unit: text.',
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    session Int64 COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.',
    worker UInt16 COMMENT 'Receive worker of the probe. Unit: index.',
    counter LowCardinality(String) COMMENT 'Name as in the probe''s counter table. Unit: text.',
    minute DateTime('UTC') COMMENT 'Minute in which the broker appended the value. Unit: instant.',
    value UInt64 COMMENT 'Value at the end of the minute, since the start of the session. Unit: as the counter''s name says.'
)
SQL SECURITY INVOKER
AS
SELECT
    any(stored.probe) AS probe,
    stored.tap,
    stored.session,
    stored.worker,
    stored.counter,
    stored.minute,
    max(stored.value) AS value
FROM probe_counters_stored AS stored
GROUP BY stored.tap, stored.session, stored.worker, stored.counter, stored.minute
COMMENT 'What every probe counted: one row per (tap, session, worker, counter, minute).'
