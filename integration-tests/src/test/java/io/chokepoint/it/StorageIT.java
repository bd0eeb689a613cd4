// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.it.Command.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tables make of rows, on the real engine: upserts, hours, tenants, the budget of disk. */
class StorageIT {
    /** Sees rows of acme, and only where a policy was set for it, as an operator sets it for each tenant. */
    private static final String TENANT = """
            <clickhouse><users><acme>
              <password>secret</password>
              <profile>chokepoint_reader</profile>
              <quota>default</quota>
              <grants><query>GRANT SELECT ON tenants.*</query></grants>
              <databases><tenants>
                %s
              </tenants></databases>
            </acme></users></clickhouse>
            """.formatted(List.of(
                    "limitation_intervals_stored",
                    "flows_stored",
                    "limitation_minutes_stored",
                    "limitation_hours_stored",
                    "flow_path_intervals_stored")
            .stream()
            .map(table ->
                    "<%1$s><filter>client_tenant = 'acme' OR server_tenant = 'acme'</filter></%1$s>".formatted(table))
            .collect(Collectors.joining(
                    "",
                    "",
                    "<bottleneck_groups_stored><filter>has(tenants, 'acme')</filter></bottleneck_groups_stored>")));

    private static final int ROWS = 600;
    private static final long SEED = 1;

    @TempDir
    private static Path directory;

    private static ClickHouseServer server;

    @BeforeAll
    static void start() throws IOException {
        Command.chokepoint("build", "cli").run().succeeded();
        server = ClickHouseServer.start(directory, TENANT);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    // ---- upserts ----

    @Test
    void rowsThatAreWrittenTwiceInOtherCutsChangeNoView() {
        server.migrate("once");
        server.migrate("twice");
        List<String> tables = writtenTables("once");
        assertThat(tables).contains("limitation_intervals_stored", "limitation_minutes_stored", "ledger_stored");
        for (String table : tables) {
            insertRandomRows("once", table);
            server.ask("twice", "SYSTEM STOP MERGES " + table);
            copy(table, "cityHash64(*) % 3 = 0");
        }
        compute("twice"); // hours of which the rest comes late
        for (String table : tables) {
            copy(table, "cityHash64(*) % 3 = 2");
            copy(table, "cityHash64(*) % 3 = 1");
            for (int cut = 4; cut >= 0; cut--) {
                copy(table, "cityHash64(*) % 5 = " + cut);
            }
            assertThat(count("twice", table))
                    .as("rows of %s before they meet", table)
                    .isEqualTo(2 * count("once", table));
        }
        compute("once");
        compute("twice");

        Map<String, String> expected = contentsOfViews("once");
        assertThat(expected)
                .containsKeys("limitation_intervals", "flows", "limitation_minutes", "limitation_hours", "ledger");
        assertThat(expected)
                .allSatisfy((view, contents) ->
                        assertThat(contents).as("rows of %s", view).doesNotStartWith("0\t"));
        assertThat(contentsOfViews("twice")).isEqualTo(expected);
    }

    /** Tables that rows are inserted into: those that are no target of a view. */
    private static List<String> writtenTables(String database) {
        return server.ask(
                database,
                "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
                        + " AND name NOT IN ('schema_migrations', 'limitation_hours_stored') ORDER BY name");
    }

    /** Any values of the columns' types, with times of some hours, and bytes and ns as they come. */
    private static void insertRandomRows(String database, String table) {
        List<String> structure = new ArrayList<>();
        List<String> values = new ArrayList<>();
        for (String column : columns(database, table)) {
            String name = column.substring(0, column.indexOf('\t'));
            String type = column.substring(column.indexOf('\t') + 1);
            structure.add(name + " " + type);
            String value = name;
            if (name.equals("flow_id")) {
                value = "lower(hex(cityHash64(flow_id)))";
            } else if (type.startsWith("DateTime")) {
                String day = name.endsWith("_end") ? "2026-01-02" : "2026-01-01";
                value = "toDateTime64('%s 00:00:00', 9, 'UTC') + toIntervalSecond(cityHash64(%s) %% 10000)"
                        .formatted(day, name);
            } else if (type.startsWith("UInt64")) {
                value = "cityHash64(" + name + ") % 1000000000";
            } else if (type.startsWith("Array")) {
                value = "arrayResize(" + name + ", 2)"; // columns beside each other are equally long
            } else if (name.equals("quality_flags")) {
                value = "quality_flags % 32768"; // as many bits as have names
            }
            values.add(value + " AS new_" + name);
        }
        String random =
                "generateRandom('" + String.join(", ", structure).replace("'", "\\'") + "', " + SEED + ", 12, 2)";
        server.ask(
                database,
                "INSERT INTO " + table + " SELECT " + String.join(", ", values) + " FROM (SELECT * FROM " + random
                        + " LIMIT " + ROWS + ")");
        server.ask(database, "OPTIMIZE TABLE " + table + " FINAL");
    }

    private static List<String> columns(String database, String table) {
        return server.ask(
                database,
                "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND default_kind = ''"
                        + " AND table = '" + table + "' ORDER BY position FORMAT TSVRaw");
    }

    private static void copy(String table, String condition) {
        String columns = columns("once", table).stream()
                .map(column -> column.substring(0, column.indexOf('\t')))
                .collect(Collectors.joining(", "));
        server.ask(
                "twice",
                "INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM once." + table + " WHERE "
                        + condition.replace("*", "toString(tuple(" + columns + "))"));
    }

    private static void compute(String database) {
        server.ask(database, "SYSTEM REFRESH VIEW limitation_hours_refresh");
        server.ask(database, "SYSTEM WAIT VIEW limitation_hours_refresh");
    }

    private static long count(String database, String table) {
        return Long.parseLong(
                server.ask(database, "SELECT count() FROM " + table).get(0));
    }

    /** Number and sum of the hashes of the rows of each view, but for when they were computed. */
    private static Map<String, String> contentsOfViews(String database) {
        Map<String, String> contents = new TreeMap<>();
        for (String view : server.ask(
                database, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'")) {
            contents.put(
                    view,
                    server.ask(
                                    database,
                                    "SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM (SELECT * EXCEPT"
                                            + " (computed_at) FROM "
                                            + view + ")")
                            .get(0));
        }
        return contents;
    }

    // ---- hours ----

    @Test
    void anHourIsComputedAnewWhenMinutesOfItArriveAndWhatIsGoneNoLongerCounts() {
        server.migrate("hours");
        String minute =
                "INSERT INTO limitation_minutes_stored (flow_id, tap, server_ip, server_port, client_ip, minute,"
                        + " version, intervals, transport_ns, lost_transport_bytes) VALUES ";
        server.ask(
                "hours",
                minute
                        + "('a', 'leaf1', '192.0.2.1', 443, '198.51.100.7', '2026-01-01 10:59:00', 1, 60, 60, 5),"
                        + "('b', 'leaf1', '192.0.2.1', 443, '198.51.100.9', '2026-01-01 10:00:00', 1, 60, 40, 6),"
                        + "('b', 'leaf1', '192.0.2.1', 443, '198.51.100.9', '2026-01-01 11:00:00', 1, 60, 50, 7)");
        compute("hours");
        String question = "SELECT toHour(hour), client_prefix, server_port, flows, transport_ns, lost_transport_bytes"
                + " FROM limitation_hours ORDER BY ALL";

        assertThat(server.ask("hours", question))
                .containsExactly("10\t198.51.100.0/24\t443\t2\t100\t11", "11\t198.51.100.0/24\t443\t1\t50\t7");

        // A flow's minute is late; another analysis names the other end of flow b the server.
        server.ask(
                "hours",
                minute
                        + "('c', 'leaf1', '192.0.2.1', 443, '2001:db8::7', '2026-01-01 10:30:00', 1, 60, 1, 1),"
                        + "('b', 'leaf1', '198.51.100.9', 40000, '192.0.2.1', '2026-01-01 11:00:00', 2, 60, 50, 7)");
        compute("hours");

        assertThat(server.ask("hours", question))
                .containsExactly(
                        "10\t198.51.100.0/24\t443\t2\t100\t11",
                        "10\t2001:db8::/64\t443\t1\t1\t1",
                        "11\t192.0.2.0/24\t40000\t1\t50\t7");
        assertThat(server.ask(
                        "hours",
                        "SELECT cause, sum(cause_ns), sum(lost_bytes) FROM limitation_hours_by_cause WHERE cause_ns > 0"
                                + " GROUP BY cause"))
                .containsExactly("transport\t151\t19");
    }

    @Test
    void lateMinutesOfOneTapLeaveTheHoursOfOthersAloneWhoseMinutesAreGone() {
        server.migrate("gone");
        String minute = "INSERT INTO limitation_minutes_stored (flow_id, tap, minute, version, intervals) VALUES ";
        server.ask(
                "gone",
                minute
                        + "('a', 'leaf1', '2026-01-01 10:10:00', 1, 60), ('a', 'leaf2', '2026-01-01 10:10:00', 1, 60),"
                        + "('b', 'leaf2', '2026-01-01 10:20:00', 1, 60)");
        compute("gone");

        server.ask("gone", "TRUNCATE TABLE limitation_minutes_stored");
        server.ask("gone", minute + "('a', 'leaf1', '2026-01-01 10:10:00', 1, 59)");
        compute("gone");

        assertThat(server.ask("gone", "SELECT tap, flows, intervals FROM limitation_hours ORDER BY ALL"))
                .containsExactly("leaf1\t1\t59", "leaf2\t2\t120");
    }

    // ---- groups ----

    /** A job that told of a group and died before its next checkpoint does not know of it. */
    @Test
    void ofAWindowTheGroupsOfTheNewestTellingCount() {
        server.migrate("groups");
        String told = "INSERT INTO bottleneck_groups_stored (tap, window_start, window_end, group_id, version,"
                + " observed_ns, member_flow_ids, member_directions, member_bytes) VALUES ";
        String members = "1000000000, ['b', 'c'], ['client_to_server', 'client_to_server'], [3, 1])";
        server.ask(
                "groups",
                told
                        + "('leaf1', '2026-01-01 10:00:00', '2026-01-01 10:00:10', 'b', 20, " + members + ","
                        + "('leaf1', '2026-01-01 10:00:10', '2026-01-01 10:00:20', 'b', 20, " + members + ","
                        + "('leaf1', '2026-01-01 10:00:20', '2026-01-01 10:00:30', 'b', 20, " + members + ","
                        + "('leaf2', '2026-01-01 10:00:00', '2026-01-01 10:00:10', 'b', 10, " + members);
        server.ask(
                "groups",
                told
                        + "('leaf1', '2026-01-01 10:00:00', '2026-01-01 10:00:10', 'a', 30, " + members + ","
                        + "('leaf1', '2026-01-01 10:00:10', '2026-01-01 10:00:20', 'b', 30, 0, [], [], [])");
        server.ask(
                "groups",
                "INSERT INTO limitation_intervals_stored (flow_id, tap, interval_start, interval_end, version)"
                        + " VALUES ('b', 'leaf1', '2026-01-01 10:00:01', '2026-01-01 10:00:02', 1)");

        assertThat(server.ask(
                        "groups",
                        "SELECT tap, toSecond(window_start), trim(TRAILING '\\0' FROM group_id) FROM bottleneck_groups"
                                + " ORDER BY ALL"))
                .containsExactly("leaf1\t0\ta", "leaf1\t20\tb", "leaf2\t0\tb");
        assertThat(server.ask(
                        "groups",
                        "SELECT trim(TRAILING '\\0' FROM assumeNotNull(group_id)) FROM limitation_intervals_refined"))
                .as("an interval is there once")
                .containsExactly("a");
        assertThat(String.join(
                        "\n",
                        server.ask(
                                "groups",
                                "EXPLAIN indexes = 1 SELECT * FROM bottleneck_groups WHERE tap = 'leaf1'"
                                        + " AND window_start >= '2026-01-01 10:00:20'")))
                .as("only hours that are asked for are read")
                .contains("(tap in [", "(toRelativeHourNum(window_start) in [");
    }

    // ---- tenants ----

    @Test
    void aTenantSeesItsRowsInTablesAndViews() {
        server.migrate("tenants");
        for (String table : List.of("limitation_intervals_stored", "flows_stored")) {
            server.ask(
                    "tenants",
                    "INSERT INTO " + table
                            + " (flow_id, tap, client_tenant, server_tenant, interval_start, interval_end, version)"
                            + " VALUES ('a', 't', 'acme', '', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1), ('b',"
                            + " 't', 'other', 'acme', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1), ('c', 't',"
                            + " 'other', '', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1)");
        }
        server.ask(
                "tenants",
                "INSERT INTO limitation_minutes_stored (flow_id, tap, client_tenant, server_tenant, minute, version)"
                        + " VALUES ('a', 't', 'acme', '', '2026-01-01 00:00:00', 1), ('b', 't', 'other', 'acme',"
                        + " '2026-01-01 00:00:00', 1), ('c', 't', 'other', '', '2026-01-01 00:00:00', 1)");
        server.ask(
                "tenants",
                "INSERT INTO flow_path_intervals_stored (path_id, flow_id, client_tenant, server_tenant, interval_start,"
                        + " interval_end, version) VALUES ('a', 'a', 'acme', '', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1),"
                        + " ('b', 'b', 'other', 'acme', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1),"
                        + " ('c', 'c', 'other', '', '2026-01-01 00:00:00', '2026-01-01 00:00:01', 1)");
        compute("tenants");

        for (String relation : List.of(
                "limitation_intervals_stored",
                "limitation_intervals",
                "flows_stored",
                "flows",
                "limitation_minutes_stored",
                "limitation_minutes",
                "limitation_hours_stored",
                "limitation_hours",
                "flow_path_intervals_stored",
                "flow_path_intervals")) {
            String question = "SELECT client_tenant, server_tenant FROM " + relation + " ORDER BY ALL";
            assertThat(server.ask("tenants", question)).as(relation).hasSize(3);
            assertThat(server.ask("acme", "secret", "tenants", question))
                    .as("%s, as acme", relation)
                    .containsExactly("acme\t", "other\tacme");
        }
    }

    /** A row tells of all members: who has not an end of each must not see it, nor by it that there are others. */
    @Test
    void aTenantSeesTheGroupsOfWhichEveryMemberIsItsOwn() {
        server.migrate("tenants");
        group(1, "acme_alone", "1000000000, ['e', 'f'], ['client_to_server', 'client_to_server'], [3, 1], ['acme']");
        group(1, "with_others", "1000000000, ['g', 'h'], ['client_to_server', 'client_to_server'], [3, 1], []");
        String question = "SELECT trim(TRAILING '\\0' FROM group_id) FROM bottleneck_groups ORDER BY ALL";

        assertThat(server.ask("tenants", question)).containsExactly("acme_alone", "with_others");
        assertThat(server.ask("acme", "secret", "tenants", question)).containsExactly("acme_alone");
        assertThat(server.ask("acme", "secret", "tenants", "SELECT group_id FROM bottleneck_groups_stored"))
                .hasSize(1);

        group(2, "acme_alone", "1000000000, ['e', 'g'], ['client_to_server', 'client_to_server'], [3, 1], []");

        assertThat(server.ask("tenants", question)).containsExactly("acme_alone");
        assertThat(server.ask("acme", "secret", "tenants", question))
                .as("another's flow has joined")
                .isEmpty();
    }

    private static void group(int version, String name, String members) {
        server.ask(
                "tenants",
                "INSERT INTO bottleneck_groups_stored (tap, window_start, window_end, group_id, version, observed_ns,"
                        + " member_flow_ids, member_directions, member_bytes, tenants) VALUES ('leaf1', '2026-01-01 10:00:00',"
                        + " '2026-01-01 10:00:10', '" + name + "', " + version + ", " + members + ")");
    }

    // ---- disk ----

    @Test
    void pruneTellsWhatItWouldDropAndThenDropsTheOldestDays() {
        server.migrate("budget");
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        List<String> days = new ArrayList<>();
        for (int ago = 3; ago >= 0; ago--) {
            LocalDate day = today.minusDays(ago);
            days.add(day.format(DateTimeFormatter.BASIC_ISO_DATE));
            server.ask(
                    "budget",
                    "INSERT INTO limitation_intervals_stored (flow_id, tap, interval_start, interval_end, version,"
                            + " rto_ns) SELECT leftPad(toString(number), 16, '0'), 't', toDateTime64('" + day
                            + " 00:00:00', 9, 'UTC') + number AS start, start + 1, 1, rand64() FROM numbers(80000)");
        }
        long all = bytes("budget");
        String budget = "%.3fMB".formatted(all * 0.6 / 1e6);

        Outcome told = prune("budget", "--disk-budget", budget);
        assertThat(told.succeeded())
                .anyMatch(line -> line.startsWith(
                        "prune: would drop limitation_intervals_stored of " + days.get(0) + ": 80000 rows"));
        assertThat(days("budget")).isEqualTo(days);

        prune("budget", "--disk-budget", budget, "apply").succeeded();
        assertThat(days("budget")).isEqualTo(days.subList(2, 4));
        assertThat(prune("budget", "--disk-budget", budget, "apply").succeeded())
                .hasSize(1)
                .allMatch(line -> line.endsWith("nothing to drop"));

        assertThat(prune("budget", "--disk-budget", "0.001MB", "apply").exitCode())
                .as("yesterday and today stay")
                .isEqualTo(1);
        assertThat(days("budget")).isEqualTo(days.subList(2, 4));
    }

    private static Outcome prune(String database, Object... arguments) {
        return server.chokepoint("prune", "--database", database)
                .with(arguments)
                .run();
    }

    private static long bytes(String database) {
        return Long.parseLong(server.ask(
                        database,
                        "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase()")
                .get(0));
    }

    private static List<String> days(String database) {
        return server.ask(
                database,
                "SELECT DISTINCT partition_id FROM system.parts WHERE active AND database = currentDatabase()"
                        + " AND table = 'limitation_intervals_stored' ORDER BY ALL");
    }

    // ---- cluster ----

    /** There is no cluster here: the engine reads the statements and does not run them. */
    @Test
    void theStatementsForAClusterAreReadByTheEngine() {
        String statements = String.join(
                "\n",
                server.chokepoint("migrate", "--only", "sql", "--cluster", "main")
                        .run()
                        .succeeded());

        assertThat(statements.split(";\n", -1)).hasSizeGreaterThan(10).allSatisfy(statement -> {
            if (!statement.isBlank() && !statement.strip().equals(";")) {
                assertThat(server.ask("default", "EXPLAIN AST " + statement.replaceAll(";\\s*$", "")))
                        .isNotEmpty();
            }
        });
    }
}
