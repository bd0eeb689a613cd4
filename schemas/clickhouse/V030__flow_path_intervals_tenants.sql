-- SPDX-License-Identifier: Apache-2.0
-- Whose the ends of a path are, so that row policies can keep tenants apart as in limitation_intervals_stored.
ALTER TABLE flow_path_intervals_stored
    ADD COLUMN IF NOT EXISTS client_tenant LowCardinality(String) COMMENT 'Whose the client is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)) AFTER server_port,
    ADD COLUMN IF NOT EXISTS server_tenant LowCardinality(String) COMMENT 'Whose the server is, by the longest prefix of its address in the list of tenants; empty without one. Unit: text.' CODEC(ZSTD(1)) AFTER client_tenant
