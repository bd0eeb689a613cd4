-- SPDX-License-Identifier: Apache-2.0
-- Whom a row policy may show a group: it tells of all its members, so only tenants who have an end of each of them.
ALTER TABLE bottleneck_groups_stored
    ADD COLUMN IF NOT EXISTS tenants Array(LowCardinality(String)) COMMENT 'Tenants who have an end of every member: who may see the row. Unit: texts, empty if there is none.' CODEC(ZSTD(1)) AFTER member_bytes,
    COMMENT COLUMN version 'Analysis generation x 2^48 + bytes behind it; of rows with the same key the highest counts. Unit: none.'
