-- SPDX-License-Identifier: Apache-2.0
-- Rows that their table refused for good, each with the reason: nothing is lost silently, and one bad row does not hold
-- up the others.
CREATE TABLE IF NOT EXISTS rejected_rows
(
    table_name LowCardinality(String)
        COMMENT 'Table that refused the row. Unit: text.' CODEC(ZSTD(1)),
    reason String
        COMMENT 'What the table, or the writer before it, said. Unit: text.' CODEC(ZSTD(1)),
    row String
        COMMENT 'The row: RowBinary in hexadecimal digits, or text if it could not be encoded. Unit: text.' CODEC(ZSTD(1)),

    inserted_at DateTime('UTC') MATERIALIZED now()
        COMMENT 'When the row was written; retention counts from here. Unit: instant.' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (table_name, row)
TTL inserted_at + INTERVAL 30 DAY
COMMENT 'One row per row that was refused.'
