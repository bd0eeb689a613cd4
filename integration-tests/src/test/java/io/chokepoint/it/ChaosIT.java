// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.chokepoint.it.Players.Played;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Probes, three brokers, two TaskManagers, a JobManager and ClickHouse are killed and frozen while captures are played: every
 * row is in the end that of the command line, bit for bit, and no packet is missing from the ledger. {@code make chaos} is
 * this at length.
 */
class ChaosIT {
    private static final long SEED = Long.getLong("chokepoint.chaos.seed", 1);
    private static final int KILLS = Integer.getInteger("chokepoint.chaos.kills", 5);
    private static final Duration AWAY = Duration.ofSeconds(Integer.getInteger("chokepoint.chaos.away", 0));
    private static final Duration DEADLINE = Duration.ofMinutes(5);
    private static final int PARALLELISM = 2;
    private static final int PARTITIONS = 3;

    /** The least: when ClickHouse is away for minutes, the job has to wait, too. */
    private static final String INSERT_MEMORY = "1mb";

    /** So that a frozen TaskManager is given up, and a restart is tried, within the freezes of this test. */
    private static final String FLINK = """
            heartbeat.timeout: 10 s
            restart-strategy.exponential-delay.max-backoff: 5 s
            execution.checkpointing.interval: 2 s
            """;

    @TempDir
    static Path directory;

    private static final List<Path> CAPTURES = new ArrayList<>();

    @BeforeAll
    static void build() throws IOException {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
        CAPTURES.addAll(Samples.captures());
        CAPTURES.add(Scripts.captureOfAll(directory));
    }

    @Test
    void rowsAreThoseOfAnUndisturbedRun() throws Exception {
        List<Chaos.Strike> plan = Chaos.plan(SEED, KILLS);
        Timeline timeline = new Timeline();
        timeline.tell("seed %d: %d strikes, %d of them kills", SEED, plan.size(), KILLS);

        try (Stack stack = Stack.start(variables(), PARALLELISM, PARTITIONS, "--insert-memory", INSERT_MEMORY)) {
            timeline.tell("the services are up, the job is submitted");
            Players players = new Players(stack, timeline, CAPTURES).start();
            Chaos chaos = new Chaos(stack, players, timeline);
            Map<String, Played> played;
            try {
                if (!AWAY.isZero()) {
                    chaos.clickHouseAway(AWAY);
                }
                chaos.strikeAll(plan);
                played = players.stop();
            } finally {
                players.abort();
                chaos.over();
            }
            timeline.tell("%d captures are played, %d processes were killed", played.size(), chaos.kills());

            List<Map<String, String>> expected = undisturbed(played);
            theRowsAre(expected, stack);
            timeline.tell("%d rows are those of an undisturbed run", expected.size());
            theLedgerBalances(played, stack);
            theRowsAre(expected, stack);
            stack.awaitMinutesThatAddUp();
            timeline.tell("the ledger balances, the minutes add up, nothing is missing");
        }
    }

    private static Map<String, String> variables() throws IOException {
        return Map.of(
                "CHOKEPOINT_KAFKA_BROKERS",
                "3",
                "CHOKEPOINT_START_SECONDS",
                "240",
                "CHOKEPOINT_KAFKA_HEAP_MIB",
                "256",
                "CHOKEPOINT_FLINK_HA",
                "zookeeper",
                "CHOKEPOINT_FLINK_TASKMANAGERS",
                "2",
                "CHOKEPOINT_FLINK_TASK_HEAP_MIB",
                "256",
                "CHOKEPOINT_FLINK_MANAGED_MIB",
                "64",
                "CHOKEPOINT_FLINK_STATE_BACKEND",
                SEED % 2 == 0 ? "rocksdb" : "hashmap",
                "CHOKEPOINT_FLINK_PROPERTIES",
                Files.writeString(directory.resolve("flink.yaml"), FLINK).toString());
    }

    private static List<Map<String, String>> undisturbed(Map<String, Played> played) {
        Command analyze = chokepoint("analyze", "--format", "json");
        played.forEach((tap, capture) -> analyze.with("--tap", tap, capture.capture()));
        return Rows.of(analyze.run().succeeded());
    }

    /** In the end: who shares a bottleneck, and where along a path it is, is told again when more comes. */
    private static void theRowsAre(List<Map<String, String>> expected, Stack stack) {
        Set<Map<String, String>> known = new HashSet<>(expected);
        List<Map<String, String>> rows = Stack.awaitAnyway(
                DEADLINE, stack::parsedRows, seen -> seen.size() == expected.size() && known.containsAll(seen));
        // Row by row, so that a failure names those that differ and not the thousands that do not.
        List<Map<String, String>> wrong = new ArrayList<>(rows);
        wrong.removeAll(known);
        List<Map<String, String>> missing = new ArrayList<>(expected);
        missing.removeAll(new HashSet<>(rows));
        assertThat(wrong).as("rows that no undisturbed run has").isEmpty();
        assertThat(missing).as("rows that are missing").isEmpty();
        assertThat(rows).hasSameSizeAs(expected);
    }

    /** Of a probe that was killed, what it had delivered comes twice: then packets may count as repeated, or contribute anew to a flow that had ended. */
    private static void theLedgerBalances(Map<String, Played> played, Stack stack) {
        Map<String, Map<String, Long>> fates = Stack.await(
                "a ledger of all packets",
                DEADLINE,
                () -> fates(stack),
                seen -> played.entrySet().stream().allMatch(one -> isComplete(one.getValue(), seen.get(one.getKey()))));

        fates.forEach((tap, fate) -> assertThat(fate)
                .as("ledger of %s", tap)
                .doesNotContainKeys("contributed_after_hole", "malformed", "missing_batch"));
        assertThat(stack.counts(
                        "SELECT fate AS name, sum(batches) AS n FROM ledger WHERE fate LIKE 'rejected%' GROUP BY fate"))
                .isEmpty();
        assertThat(stack.counts("SELECT table_name AS name, count() AS n FROM rejected_rows GROUP BY 1"))
                .isEmpty();
    }

    private static boolean isComplete(Played played, Map<String, Long> fate) {
        if (fate == null) {
            return false;
        }
        long consumed = fate.getOrDefault("consumed", 0L);
        long contributed = fate.getOrDefault("contributed", 0L);
        long judged = contributed + fate.getOrDefault("repeated", 0L);
        boolean once = played.attempts() == 1;
        return consumed == judged && (once ? contributed == played.packets() : contributed >= played.packets());
    }

    private static Map<String, Map<String, Long>> fates(Stack stack) {
        Map<String, Map<String, Long>> fates = new TreeMap<>();
        try {
            for (String line : stack.ask(
                    "SELECT tap, fate, sum(packets) AS packets FROM ledger GROUP BY tap, fate HAVING packets > 0")) {
                JsonNode row = Rows.parse(line);
                fates.computeIfAbsent(row.path("tap").asText(), tap -> new TreeMap<>())
                        .put(row.path("fate").asText(), row.path("packets").asLong());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return fates;
    }
}
