// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.it.Command.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Topics and tables on a real broker and a real server: made once, whoever asks, and never turned back. */
class MigrateIT {
    private static final Map<String, String> ENVIRONMENT = new HashMap<>();

    @TempDir
    private static Path run;

    @TempDir
    private Path directory;

    @BeforeAll
    static void twoMigrateAtOnce() {
        Command.chokepoint("build", "cli").run().succeeded();
        ENVIRONMENT.put("CHOKEPOINT_RUN", run.toString());
        ENVIRONMENT.put("CHOKEPOINT_PORTS", "free");
        for (String service : List.of("kafka", "clickhouse")) {
            service(service, "start").run().succeeded();
        }
        List<CompletableFuture<Outcome>> both = Stream.of(1, 2)
                .map(number -> CompletableFuture.supplyAsync(
                        () -> chokepoint("migrate", "--partitions", 3).run()))
                .toList();
        both.forEach(outcome -> outcome.join().succeeded());
    }

    @AfterAll
    static void stop() {
        for (String service : List.of("kafka", "clickhouse")) {
            service(service, "stop").run();
        }
    }

    private static Command service(String name, Object... arguments) {
        return Command.of(Command.ROOT.resolve("services").resolve(name), arguments)
                .environment(ENVIRONMENT);
    }

    private static Command chokepoint(Object... arguments) {
        return Command.chokepoint(arguments).environment(ENVIRONMENT);
    }

    private static List<String> sql(String query) {
        return chokepoint("sql", "--format", "TSV", query).run().succeeded();
    }

    @Test
    void twoAtOnceDoItOnce() throws IOException {
        try (Stream<Path> files = Files.list(Command.ROOT.resolve("schemas/clickhouse"))) {
            long migrations =
                    files.filter(file -> file.toString().endsWith(".sql")).count();

            assertThat(sql("SELECT count(), uniqExact(version) FROM schema_migrations FINAL"))
                    .containsExactly("%1$d\t%1$d".formatted(migrations));
        }
    }

    @Test
    void onceMoreThereIsNothingToDo() {
        assertThat(chokepoint("migrate").run().succeeded())
                .contains("topics: tcp-segments is there with 3 partitions")
                .anyMatch(line ->
                        line.startsWith("tables: chokepoint is at version ") && line.endsWith(", nothing to do"));
    }

    @Test
    void theNumberOfPartitionsNeverChanges() {
        chokepoint("migrate", "--partitions", 4)
                .run()
                .failed(
                        1,
                        "chokepoint: topic tcp-segments-replay has 3 partitions, not 4 (option --partitions): the number"
                                + " never changes, because flows would move in the middle of their life; expected 3 or"
                                + " another topic");
    }

    @Test
    void aFileThatChangedIsRefused() throws IOException {
        Path schemas = copyOfSchemas();
        Files.writeString(
                schemas.resolve("clickhouse/V003__limitation_intervals.sql"), "-- more\n", StandardOpenOption.APPEND);

        chokepoint("migrate", "--only", "tables", "--schemas", schemas)
                .run()
                .failed(
                        1,
                        "chokepoint: V003__limitation_intervals.sql was changed after it was applied to database"
                                + " chokepoint: expected the change as a new migration");
    }

    @Test
    void aNewerDatabaseIsRefused() throws IOException {
        Path schemas = copyOfSchemas();
        try (Stream<Path> files = Files.list(schemas.resolve("clickhouse"))) {
            Files.delete(files.max(Comparator.naturalOrder()).orElseThrow());
        }

        Outcome outcome =
                chokepoint("migrate", "--only", "tables", "--schemas", schemas).run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.err())
                .singleElement()
                .asString()
                .startsWith("chokepoint: database chokepoint is at version ")
                .endsWith("expected the release that migrated it, or a newer one");
    }

    @Test
    void whoAsksCannotWrite() {
        Outcome outcome = chokepoint(
                        "sql", "INSERT INTO rejected_rows (table_name, reason, row) VALUES ('a', 'b', 'c')")
                .run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.err()).singleElement().asString().contains("chokepoint_reader: Not enough privileges");
    }

    /** A stamp beyond 2106 must be found by its time: an hour of 32 bits would wrap. */
    @Test
    void theTimeOfARowFindsItWhateverTheCentury() throws IOException {
        sqlAsWriter("INSERT INTO limitation_intervals_stored (flow_id, tap, interval_start, interval_end, version)"
                + " SELECT leftPad(toString(number), 16, '0'), 'century', toDateTime64('2106-05-01 00:00:00', 9, 'UTC')"
                + " + number AS interval_start, interval_start + 1, 1 FROM numbers(100000)");

        assertThat(sql("SELECT count() FROM limitation_intervals WHERE tap = 'century'"
                        + " AND interval_start >= '2106-05-01 12:00:00'"))
                .containsExactly(Integer.toString(100_000 - 12 * 3600));
    }

    /** A question about an hour of a day reads that hour. */
    @Test
    void anHourIsReadWithoutTheRestOfItsDay() throws IOException {
        sqlAsWriter("INSERT INTO limitation_intervals_stored (flow_id, tap, interval_start, interval_end, version)"
                + " SELECT leftPad(toString(number), 16, '0'), 'day', toDateTime64('2026-11-21 00:00:00', 9, 'UTC')"
                + " + intDiv(number, 5) AS interval_start, interval_start + 1, 1 FROM numbers(432000)");

        List<String> plan = sql("EXPLAIN indexes = 1 SELECT count() FROM limitation_intervals"
                + " WHERE interval_start >= '2026-11-21 05:00:00' AND interval_start < '2026-11-21 06:00:00'");

        assertThat(plan).as("granules that the primary key leaves").anySatisfy(line -> {
            assertThat(line.strip()).matches("Granules: [1-6]/[0-9]+");
        });
    }

    private static void sqlAsWriter(String statement) throws IOException {
        Map<String, String> variables = new HashMap<>();
        for (String line : Files.readAllLines(run.resolve("services.env"))) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                variables.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        chokepoint("sql", "--user", variables.get("CHOKEPOINT_CLICKHOUSE_WRITER_USER"), statement)
                .environment(Map.of(
                        "CHOKEPOINT_CLICKHOUSE_PASSWORD", variables.get("CHOKEPOINT_CLICKHOUSE_WRITER_PASSWORD")))
                .run()
                .succeeded();
    }

    private Path copyOfSchemas() throws IOException {
        Path schemas = Command.ROOT.resolve("schemas");
        try (Stream<Path> files = Files.walk(schemas)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = schemas.relativize(file).toString();
                if (name.startsWith("clickhouse") || name.startsWith("kafka")) {
                    Path copy = directory.resolve(name);
                    Files.createDirectories(copy.getParent());
                    Files.copy(file, copy);
                }
            }
        }
        return directory;
    }
}
