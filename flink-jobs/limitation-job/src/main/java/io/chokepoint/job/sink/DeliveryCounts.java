// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/** What became of rows, as metrics. Counted by the one thread that delivers. */
final class DeliveryCounts {
    private final Map<Table, Counter> inserted = new EnumMap<>(Table.class);
    private final Map<Table, Counter> refused = new EnumMap<>(Table.class);
    private final Counter retries;

    DeliveryCounts(MetricGroup metrics) {
        for (Table table : Table.values()) {
            String name = table.name().toLowerCase(Locale.ROOT);
            inserted.put(table, metrics.counter("rows_inserted_" + name));
            refused.put(table, metrics.counter("rows_refused_" + name));
        }
        retries = metrics.counter("insert_retries");
    }

    void inserted(Table table, int rows) {
        Objects.requireNonNull(inserted.get(table)).inc(rows);
    }

    void refused(Table table) {
        Objects.requireNonNull(refused.get(table)).inc();
    }

    void retried() {
        retries.inc();
    }
}
