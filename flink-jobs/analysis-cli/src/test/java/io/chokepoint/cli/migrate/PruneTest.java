// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.cli.WrongOption;
import io.chokepoint.cli.migrate.Prune.Partition;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PruneTest {
    private static final List<Partition> PARTITIONS = List.of(
            day("flows_stored", "20260101", 10),
            day("flows_stored", "20260103", 10),
            day("limitation_intervals_stored", "20260103", 100),
            day("limitation_intervals_stored", "20260102", 100),
            day("limitation_intervals_stored", "20251231", 100),
            day("limitation_intervals_stored", "21060207", 7),
            day("flow_path_intervals_stored", "20251231", 3),
            day("limitation_minutes_stored", "20251231", 5),
            day("limitation_minutes_stored", "20260102", 5),
            day("ledger_stored", "all", 1_000));

    private static Partition day(String table, String day, long bytes) {
        return new Partition(table, day, 1, bytes);
    }

    @ParameterizedTest(name = "{0} bytes too many, {1} days kept")
    @CsvSource(delimiter = '|', textBlock = """
            0    | 1 |
            1    | 1 | limitation_intervals_stored 20251231
            100  | 1 | limitation_intervals_stored 20251231
            101  | 1 | limitation_intervals_stored 20251231, limitation_intervals_stored 20260102
            201  | 1 | limitation_intervals_stored 20251231, limitation_intervals_stored 20260102, limitation_intervals_stored 21060207
            9999 | 2 | limitation_intervals_stored 20251231, limitation_intervals_stored 21060207, flow_path_intervals_stored 20251231, limitation_minutes_stored 20251231, flows_stored 20260101
            9999 | 3 | limitation_intervals_stored 20251231, limitation_intervals_stored 21060207, flow_path_intervals_stored 20251231, limitation_minutes_stored 20251231
            9999 | 9 | limitation_intervals_stored 21060207
            """)
    void theOldestDaysOfTheFinestRowsGoFirstAndThoseUpToTodayStay(long excess, int kept, String expected) {
        assertThat(Prune.plan(PARTITIONS, excess, LocalDate.of(2026, 1, 3), kept))
                .extracting(partition -> partition.table() + " " + partition.day())
                .isEqualTo(expected == null ? List.of() : List.of(expected.split(", ", -1)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --disk-budget much       | option --disk-budget is 'much': expected a size such as 800GB or 1.5TB
            --keep-days 2            | option --disk-budget is '': expected a size such as 800GB or 1.5TB
            --disk-budget 1GB now    | argument now is not expected: only apply is
            --disk-budget 1GB --keep-days 0 | option --keep-days is '0': expected a whole number, 1 to 36500
            """)
    void aWrongOptionIsOneSentence(String arguments, String sentence) {
        assertThatThrownBy(() -> Prune.run(Map.of(), System.out, arguments.split(" ", -1)))
                .isInstanceOf(WrongOption.class)
                .hasMessage(sentence);
    }

    @Test
    void aClusterGetsReplicatedTablesBehindTheNamesOfOneServer() {
        List<String> statements = new Cluster("main", "db").statements("""
                -- why
                CREATE TABLE IF NOT EXISTS rows_stored
                (
                    flow_id FixedString(16)
                )
                ENGINE = ReplacingMergeTree(version)
                ORDER BY flow_id
                """);

        assertThat(statements).containsExactly("""
                -- why
                CREATE TABLE IF NOT EXISTS rows_stored_local ON CLUSTER main
                (
                    flow_id FixedString(16)
                )
                ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
                ORDER BY flow_id
                """, """
            CREATE TABLE IF NOT EXISTS rows_stored ON CLUSTER main AS rows_stored_local
            ENGINE = Distributed(main, db, rows_stored_local, cityHash64(flow_id))\
            """);
        assertThat(new Cluster("main", "db").statements("CREATE OR REPLACE VIEW v\n(x)"))
                .containsExactly("CREATE OR REPLACE VIEW v ON CLUSTER main\n(x)");
        assertThat(new Cluster("main", "db").statements("ALTER TABLE rows_stored\n    ADD COLUMN x String"))
                .containsExactly(
                        "ALTER TABLE rows_stored_local ON CLUSTER main\n    ADD COLUMN x String",
                        "ALTER TABLE rows_stored ON CLUSTER main\n    ADD COLUMN x String");
    }
}
