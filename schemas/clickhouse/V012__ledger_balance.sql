-- SPDX-License-Identifier: Apache-2.0
-- The equation over all hops of each session. A difference is what the books do not know the fate of: of a session that is
-- alive, what is under way; of one that has ended, nothing if all is well.
CREATE OR REPLACE VIEW ledger_balance
(
    tap LowCardinality(String) COMMENT 'Place in the network where the packets were seen. Unit: text.',
    session Int64 COMMENT 'One start of a live probe (ns since the epoch) or one capture file (content hash). Unit: none.',
    frames_on_wire UInt64 COMMENT 'frames_received + frames_missed. Unit: frames.',
    frames_missed Map(String, UInt64) COMMENT 'What card, kernel and probe lost, by the probe''s counters that are not 0. Unit: frames.',
    frames_received UInt64 COMMENT 'What the probe read. Unit: frames.',
    frames_not_encoded Map(String, UInt64) COMMENT 'Of these: not in any batch, by the probe''s counters that are not 0. Unit: frames.',
    packets_encoded UInt64 COMMENT 'Of these: written into batches. Unit: packets.',
    probe_difference Int64 COMMENT 'frames_received - frames_not_encoded - packets_encoded: what waits in open runs. Unit: packets.',
    packets_delivered Nullable(UInt64) COMMENT 'What Kafka has taken. Unit: packets. NULL: the probe tells it in its own ledger only.',
    packets_undelivered Map(String, UInt64) COMMENT 'What Kafka has not taken, by the probe''s counters that are not 0; part of packets_missing. Unit: packets.',
    delivery_difference Nullable(Int64) COMMENT 'packets_encoded - packets_delivered - packets_undelivered. Unit: packets. NULL: the probe tells it in its own ledger only.',
    packets_missing UInt64 COMMENT 'What did not come although batches behind it did: Kafka did not take it, or lost it. Unit: packets.',
    packets_arrived UInt64 COMMENT 'What came, each packet once: packets_consumed + packets_rejected - packets_repeated. Unit: packets.',
    arrival_difference Int64 COMMENT 'packets_encoded - packets_missing - packets_arrived: what waits in open batches, or was in the last ones of a session and never came. Unit: packets.',
    packets_repeated UInt64 COMMENT 'What came again, as of a capture that is played twice. Unit: packets.',
    packets_rejected Map(String, UInt64) COMMENT 'What the job refused with the whole batch, by fates that are not 0; batches whose header could not be read are missing instead. Unit: packets.',
    packets_consumed UInt64 COMMENT 'What the job took apart, repeats included. Unit: packets.',
    packets_analysed Map(String, UInt64) COMMENT 'What became of it, by fates that are not 0. Unit: packets.',
    analysis_difference Int64 COMMENT 'packets_consumed - packets_analysed: fates are told at checkpoints. Unit: packets.',
    balanced Bool COMMENT 'Whether every difference is 0. Unit: true or false.'
)
SQL SECURITY INVOKER
AS
WITH
    arraySum(mapValues(missed)) AS missed_frames,
    toInt64(received) - toInt64(arraySum(mapValues(not_encoded))) - toInt64(encoded) AS in_probe,
    if(is_delivery_told, toInt64(encoded) - toInt64(delivered) - toInt64(arraySum(mapValues(undelivered))), NULL) AS in_delivery,
    consumed + arraySum(mapValues(rejected)) - repeated AS arrived,
    toInt64(encoded) - toInt64(missing) - toInt64(arrived) AS in_kafka,
    toInt64(consumed) - toInt64(arraySum(mapValues(analysed))) AS in_analysis
SELECT
    sums.tap,
    sums.session,
    received + missed_frames AS frames_on_wire,
    missed AS frames_missed,
    received AS frames_received,
    not_encoded AS frames_not_encoded,
    encoded AS packets_encoded,
    in_probe AS probe_difference,
    if(is_delivery_told, delivered, NULL) AS packets_delivered,
    undelivered AS packets_undelivered,
    in_delivery AS delivery_difference,
    missing AS packets_missing,
    arrived AS packets_arrived,
    in_kafka AS arrival_difference,
    repeated AS packets_repeated,
    rejected AS packets_rejected,
    consumed AS packets_consumed,
    analysed AS packets_analysed,
    in_analysis AS analysis_difference,
    toBool(in_probe = 0 AND ifNull(in_delivery, 0) = 0 AND in_kafka = 0 AND in_analysis = 0) AS balanced
FROM
(
    SELECT
        counted.tap,
        counted.session,
        sumMapIf(map(name, value), startsWith(name, 'frames_missed_')) AS missed,
        sumIf(value, name = 'frames_received') AS received,
        sumMapIf(map(name, value), startsWith(name, 'frames_') AND name != 'frames_received' AND NOT startsWith(name, 'frames_missed_')) AS not_encoded,
        sumIf(value, name = 'packets_encoded') AS encoded,
        countIf(name = 'packets_delivered' OR startsWith(name, 'packets_undelivered_')) > 0 AS is_delivery_told,
        sumIf(value, name = 'packets_delivered') AS delivered,
        sumMapIf(map(name, value), startsWith(name, 'packets_undelivered_')) AS undelivered,
        sumIf(value, name = 'missing_batch') AS missing,
        sumIf(value, name = 'repeated_batch') AS repeated,
        sumMapIf(map(name, value), startsWith(name, 'rejected_')) AS rejected,
        sumIf(value, name = 'consumed') AS consumed,
        sumMapIf(map(name, value), name IN ('contributed', 'contributed_after_hole', 'repeated', 'malformed')) AS analysed
    FROM
    (
        -- Names of counters and of fates have nothing in common.
        SELECT stored.tap, stored.session, stored.worker, toString(stored.counter) AS name, max(stored.value) AS value
        FROM probe_counters_stored AS stored
        GROUP BY stored.tap, stored.session, stored.worker, stored.counter
        UNION ALL
        SELECT stored.tap, stored.session, stored.worker, toString(stored.fate) AS name, stored.packets AS value
        FROM ledger_stored AS stored FINAL
        WHERE stored.tap != ''
    ) AS counted
    GROUP BY counted.tap, counted.session
) AS sums
COMMENT 'The equation from the wire to the verdict: one row per (tap, session).'
