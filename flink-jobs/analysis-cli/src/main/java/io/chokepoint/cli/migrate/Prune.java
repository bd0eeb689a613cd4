// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import com.clickhouse.client.api.query.GenericRecord;
import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code chokepoint prune}: keeps the tables within a budget of disk, by dropping the oldest days. Only tells what it would drop
 * unless it is told to.
 *
 * <p>Retention by time is the tables' own. This is for a disk that is full before: the finest rows go first, as coarser ones tell of
 * the same time at a fraction of the room.
 */
public final class Prune {
    /** What is printed for {@code help prune}. */
    public static final String USAGE = """
            usage: chokepoint prune --disk-budget SIZE [OPTION]... [apply]
            Tells which days of rows to drop so that all tables fit into SIZE; with apply, drops them.

              --disk-budget SIZE        what all tables of the database may take, such as 800GB or 1.5TB (powers of 1000)
              --keep-days N             days that stay in any case, today the last of them (default 2)
              --clickhouse URL          HTTP interface (CHOKEPOINT_CLICKHOUSE, default http://127.0.0.1:18123)
              --database NAME           database (CHOKEPOINT_CLICKHOUSE_DATABASE, default chokepoint)
              --user NAME               who may drop partitions (CHOKEPOINT_CLICKHOUSE_ADMIN_USER, default chokepoint_admin)
              --password-file FILE      password (else CHOKEPOINT_CLICKHOUSE_PASSWORD or CHOKEPOINT_CLICKHOUSE_ADMIN_PASSWORD)

            Intervals go first, then groups, paths, minutes and flows, of each the oldest days by the time of the packets; days
            yet to come last. Ends with 1 if that does not suffice.
            Of a cluster it looks at one server: run it on one of each shard, which the other replicas follow.
            """;

    /** Tables with a partition for each day, the first to go first. */
    static final List<String> TABLES = List.of(
            "limitation_intervals_stored",
            "bottleneck_groups_stored",
            "flow_path_intervals_stored",
            "limitation_minutes_stored",
            "flows_stored");

    private static final Set<String> OPTIONS =
            Set.of("--disk-budget", "--keep-days", "--clickhouse", "--database", "--user", "--password-file");
    private static final Pattern SIZE = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(MB|GB|TB)");
    private static final int MAX_KEPT_DAYS = 36_500;
    private static final int KEPT_DAYS = 2;

    /**
     * A day of rows of a table, in all its parts.
     *
     * @param day YYYYMMDD
     */
    record Partition(String table, String day, long rows, long bytes) {}

    private Prune() {}

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, IOException, InterruptedException {
        return run(Settings.processEnvironment(), System.out, args);
    }

    static int run(Map<String, String> environment, PrintStream out, String... args)
            throws WrongOption, IOException, InterruptedException {
        Settings settings = Settings.parse(OPTIONS, environment, args);
        boolean apply = settings.arguments().equals(List.of("apply"));
        if (!apply && !settings.arguments().isEmpty()) {
            throw new WrongOption("argument " + settings.arguments().get(0) + " is not expected: only apply is");
        }
        long budget = bytes(settings.get("--disk-budget", "", ""));
        Integer days = settings.integer("--keep-days", 1, MAX_KEPT_DAYS);
        ClickHouse.Access access = settings.access("ADMIN", "chokepoint_admin");
        try (ClickHouse database = ClickHouse.of(access)) {
            long used = usedBytes(database, access.database());
            List<Partition> dropped = plan(
                    partitions(database, access.database()),
                    used - budget,
                    LocalDate.now(ZoneOffset.UTC),
                    days == null ? KEPT_DAYS : days);
            for (Partition partition : dropped) {
                if (apply) {
                    // The server's guard against dropping much at once is for statements typed by hand.
                    database.execute("ALTER TABLE " + partition.table() + " DROP PARTITION ID '" + partition.day()
                            + "' SETTINGS max_partition_size_to_drop = 0");
                }
                out.println("prune: " + (apply ? "dropped " : "would drop ") + partition.table() + " of "
                        + partition.day() + ": " + partition.rows() + " rows, " + text(partition.bytes()));
            }
            long left = used - dropped.stream().mapToLong(Partition::bytes).sum();
            out.println("prune: " + access.database() + " takes " + text(used) + " of " + text(budget) + ", "
                    + (dropped.isEmpty()
                            ? "nothing to drop"
                            : text(left) + (apply ? " after this" : " if this is applied")));
            return left <= budget ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private static long bytes(String text) throws WrongOption {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            throw new WrongOption("option --disk-budget is '" + text + "': expected a size such as 800GB or 1.5TB");
        }
        int exponent = switch (matcher.group(2)) {
            case "MB" -> 6;
            case "GB" -> 9;
            default -> 12;
        };
        return new BigDecimal(matcher.group(1)).scaleByPowerOfTen(exponent).longValue();
    }

    private static String text(long bytes) {
        return String.format(Locale.ROOT, "%.3f GB", bytes / 1e9);
    }

    private static long usedBytes(ClickHouse database, String name) throws IOException {
        return database.rows("SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = '" + name
                        + "'")
                .get(0)
                .getLong("bytes");
    }

    private static List<Partition> partitions(ClickHouse database, String name) throws IOException {
        List<Partition> partitions = new ArrayList<>();
        for (GenericRecord row :
                database.rows("SELECT table, partition_id, sum(rows) AS number, sum(bytes_on_disk) AS bytes"
                        + " FROM system.parts WHERE active AND database = '" + name
                        + "' GROUP BY table, partition_id")) {
            partitions.add(new Partition(
                    row.getString("table"),
                    row.getString("partition_id"),
                    row.getLong("number"),
                    row.getLong("bytes")));
        }
        return partitions;
    }

    /**
     * What to drop, in this order, to be rid of so many bytes: no more than needed, and nothing of the days up to today. Captures
     * with wrong stamps may lie in days to come, which must not pass for the newest.
     */
    static List<Partition> plan(List<Partition> partitions, long excessBytes, LocalDate today, int keptDays) {
        String last = today.format(DateTimeFormatter.BASIC_ISO_DATE);
        String first = today.minusDays(keptDays - 1L).format(DateTimeFormatter.BASIC_ISO_DATE);
        List<Partition> dropped = new ArrayList<>();
        long excess = excessBytes;
        for (String table : TABLES) {
            List<Partition> days = partitions.stream()
                    .filter(partition ->
                            partition.table().equals(table) || partition.table().equals(table + "_local"))
                    .filter(partition -> partition.day().compareTo(first) < 0
                            || partition.day().compareTo(last) > 0)
                    .sorted(Comparator.comparing(Partition::day))
                    .toList();
            for (Partition partition : days) {
                if (excess <= 0) {
                    return dropped;
                }
                dropped.add(partition);
                excess -= partition.bytes();
            }
        }
        return dropped;
    }
}
