// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All samples, and all packet scripts as one capture, through the real probe, broker, JobManager, TaskManager and tables: what arrives is what the command line
 * says, bit for bit, however the way is configured, and the books balance over all hops.
 */
class PipelineIT {
    private static final int BAD_RECORDS = 5;
    private static final String[] RECORDS = {
        "\"limitation_interval\"", "\"flow\"", "\"bottleneck_group\"", "\"flow_path_interval\""
    };

    private static final List<Path> CAPTURES = new ArrayList<>();

    private static List<Map<String, String>> expected;

    @TempDir
    static Path scripts;

    @TempDir
    Path directory;

    @BeforeAll
    static void judgeByTheCommandLine() throws IOException {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
        CAPTURES.addAll(Samples.captures());
        CAPTURES.add(Scripts.captureOfAll(scripts));
        List<String> out = chokepoint("analyze", "--format", "json")
                .with(CAPTURES.toArray())
                .run()
                .succeeded();
        expected = Rows.of(out);
    }

    @ParameterizedTest(name = "parallelism {0}, {1} partitions, batches of {2}, state in {3}")
    @CsvSource({"1, 1, 16KiB, hashmap", "2, 3, 2KiB, rocksdb"})
    void theTablesHoldTheRowsOfTheCommandLine(int parallelism, int partitions, String batchBytes, String stateBackend)
            throws IOException {
        try (Stack stack = Stack.start(stateBackend, parallelism, partitions)) {
            Map<String, Map<String, Long>> books = new HashMap<>();
            for (Path capture : CAPTURES) {
                books.put(Samples.tap(capture), stack.play(capture, "--batch-bytes", batchBytes));
            }

            List<Map<String, String>> rows = awaitRows(stack);

            assertThat(rows).isEqualTo(expected);
            assertThat(rows).extracting(row -> row.get("record")).contains(RECORDS);
            intervalsSayWithWhomTheyShared(stack);
            theProbeReceivedWhatCapinfosCounts(books);
            anotherClientReadsWhatTheProbeDelivered(stack, books);
            theLedgerBalances(stack, books);
            stack.awaitMinutesThatAddUp();
            badRecordsAreCountedAndChangeNothing(stack);
            oneUnitInTheLastPlaceIsSeen(stack);
            anEmptyTableIsSeen(stack);
        }
    }

    /** In the end: who shares a bottleneck, and where along a path it is, is told again when more comes. */
    private static List<Map<String, String>> awaitRows(Stack stack) {
        return Stack.awaitAnyway(Duration.ofMinutes(1), () -> rows(stack), expected::equals);
    }

    private static List<Map<String, String>> rows(Stack stack) {
        try {
            return Rows.of(stack.rows());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Refined only where the flow's own verdict left it open; every interval is there once. */
    private static void intervalsSayWithWhomTheyShared(Stack stack) {
        Map<String, Long> seen = counts(
                stack,
                "SELECT multiIf(group_id IS NULL, 'alone', root_cause = 'bottleneck', 'refined', 'in a group') AS name,"
                        + " count() AS n FROM limitation_intervals_refined"
                        + " WHERE toString(refined_root_cause) = if(name = 'refined', 'shared_bottleneck', toString(root_cause))"
                        + " GROUP BY name");

        assertThat(seen).containsKeys("alone", "in a group");
        assertThat(seen.values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(expected.stream()
                        .filter(row -> "\"limitation_interval\"".equals(row.get("record")))
                        .count());
    }

    private static void theProbeReceivedWhatCapinfosCounts(Map<String, Map<String, Long>> books) throws IOException {
        for (Path capture : CAPTURES) {
            assertThat(books.get(Samples.tap(capture)))
                    .as("books of %s", capture)
                    .containsEntry("frames_received", Capinfos.frames(capture));
        }
    }

    /** kcat shares librdkafka with the probe, but neither its producer nor its counters. */
    private static void anotherClientReadsWhatTheProbeDelivered(Stack stack, Map<String, Map<String, Long>> books) {
        List<String> sizes = stack.shell("kcat -C -q -e -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -f '%S\\n'")
                .run()
                .succeeded();

        assertThat(sizes).hasSize((int) sum(books, "batches_delivered"));
        assertThat(sizes.stream().mapToLong(Long::parseLong).sum()).isEqualTo(sum(books, "bytes_delivered"));
    }

    private static void theLedgerBalances(Stack stack, Map<String, Map<String, Long>> books) {
        Map<String, Long> fates = Stack.await(
                "a balanced ledger",
                () -> fates(stack),
                seen -> seen.getOrDefault("contributed", 0L) == sum(books, "packets_delivered"));

        assertThat(fates.get("consumed")).isEqualTo(sum(books, "packets_delivered"));
        assertThat(fates.getOrDefault("contributed_after_hole", 0L)).isZero();
        assertThat(fates.getOrDefault("repeated", 0L)).isZero();
        assertThat(fates.getOrDefault("malformed", 0L)).isZero();
    }

    private static Map<String, Long> fates(Stack stack) {
        return counts(stack, "SELECT fate AS name, sum(packets) AS n FROM ledger GROUP BY fate");
    }

    private static Map<String, Long> counts(Stack stack, String query) {
        try {
            Map<String, Long> counts = new HashMap<>();
            for (String line : stack.ask(query)) {
                JsonNode row = Rows.parse(line);
                counts.put(row.path("name").asText(), row.path("n").asLong());
            }
            return counts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long sum(Map<String, Map<String, Long>> books, String counter) {
        return books.values().stream().mapToLong(book -> book.get(counter)).sum();
    }

    /** Records that are no batches, and batches of an unknown schema: to the topic of the rejected, each with its reason. */
    private void badRecordsAreCountedAndChangeNothing(Stack stack) throws IOException {
        Path garbage = Files.writeString(directory.resolve("garbage"), "this is no batch");
        Path unknown =
                Files.write(directory.resolve("unknown"), new byte[] {(byte) 0xc3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0});
        for (int i = 0; i < BAD_RECORDS; i++) {
            stack.shell("kcat -P -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -p 0 \"$1\" \"$2\"", garbage, unknown)
                    .run()
                    .succeeded();
        }

        Map<String, Long> rejected = Stack.await(
                2 * BAD_RECORDS + " rejected records",
                () -> counts(
                        stack,
                        "SELECT fate AS name, sum(batches) AS n FROM ledger WHERE fate LIKE 'rejected_%' GROUP BY fate"),
                seen -> seen.values().stream().mapToLong(Long::longValue).sum() >= 2 * BAD_RECORDS);
        assertThat(rejected)
                .containsOnly(
                        Map.entry("rejected_not_single_object", (long) BAD_RECORDS),
                        Map.entry("rejected_unknown_schema", (long) BAD_RECORDS));
        assertThat(stack.shell("kcat -C -q -e -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments-rejected -f '%S %h\\n'")
                        .run()
                        .succeeded())
                .hasSize(2 * BAD_RECORDS);
        assertThat(rows(stack)).isEqualTo(expected);
    }

    /** The comparison above would not be worth much if it could not fail. */
    private static void oneUnitInTheLastPlaceIsSeen(Stack stack) throws IOException {
        stack.ask(
                "ADMIN",
                "INSERT INTO flows_stored SELECT * REPLACE (goodput_bytes + 1 AS goodput_bytes) FROM flows_stored FINAL"
                        + " WHERE goodput_bytes > 1000000 ORDER BY tap, flow_id LIMIT 1");

        List<Map<String, String>> spoiled = rows(stack);
        assertThat(spoiled).isNotEqualTo(expected).hasSameSizeAs(expected);
        spoiled.removeAll(expected);
        assertThat(spoiled).as("the one row that differs").hasSize(1);
    }

    private static void anEmptyTableIsSeen(Stack stack) throws IOException {
        stack.ask("ADMIN", "TRUNCATE TABLE flows_stored");

        stack.chokepoint("report").run().failed(1, "chokepoint: there is no flow in ClickHouse");
    }

    @Test
    void expectationsAreNotEmpty() {
        assertThat(expected).extracting(row -> row.get("record")).contains(RECORDS);
    }
}
