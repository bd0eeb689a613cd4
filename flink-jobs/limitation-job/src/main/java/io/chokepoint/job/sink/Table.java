// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.util.List;

/** The tables that the job writes, with the columns it writes. Constants are part of savepoints and only appended. */
public enum Table {
    LIMITATION_INTERVALS("limitation_intervals_stored", StoredColumn.names()),
    FLOWS("flows_stored", StoredColumn.names()),
    PROBE_COUNTERS(
            "probe_counters_stored",
            List.of("probe", "tap", "session", "worker", "partition", "counter", "minute", "value")),
    LEDGER(
            "ledger_stored",
            List.of("tap", "session", "worker", "partition", "fate", "batches", "runs", "packets", "version")),
    REJECTED_ROWS("rejected_rows", List.of("table_name", "reason", "row")),
    LEDGER_RANGES(
            "ledger_ranges_stored",
            List.of(
                    "tap",
                    "session",
                    "worker",
                    "partition",
                    "minute",
                    "fate",
                    "from_sequence",
                    "to_sequence",
                    "from_packet",
                    "to_packet",
                    "batches",
                    "runs",
                    "packets",
                    "version")),
    LIMITATION_MINUTES("limitation_minutes_stored", MinuteColumn.names()),
    BOTTLENECK_GROUPS(
            "bottleneck_groups_stored",
            List.of(
                    "tap",
                    "window_start",
                    "window_end",
                    "group_id",
                    "version",
                    "bottleneck_side",
                    "capacity_bits_per_second",
                    "capacity_kind",
                    "observed_ns",
                    "queue_delay_ns",
                    "agreement_permille",
                    "member_flow_ids",
                    "member_directions",
                    "member_bytes",
                    "tenants")),
    FLOW_PATH_INTERVALS("flow_path_intervals_stored", PathRowEncoder.names());

    private final String tableName;
    private final List<String> columns;

    Table(String tableName, List<String> columns) {
        this.tableName = tableName;
        this.columns = columns;
    }

    /** Name in the database. */
    public String tableName() {
        return tableName;
    }

    /** Names in the order of the bytes of an {@link EncodedRow}. */
    public List<String> columns() {
        return columns;
    }
}
