// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replays have a topic and a job of their own beside the live ones, may be killed and played again, and be of any date: the
 * rows are those of the command line.
 */
class ReplayIT {
    private static final Path PROBE = Command.ROOT.resolve("build/probe/chokepoint-probe");
    private static final String REPLAY_TOPIC = "tcp-segments-replay";
    /** The last second but some of unsigned 32 bits, in 2106, and of the times that a probe takes, in 2261. */
    private static final long SECONDS_OF_2106 = 4_294_967_290L;

    private static final long SECONDS_OF_2261 = 9_214_646_395L;
    private static final long SECONDS_OF_2012 = 1_330_000_000L;

    private static Stack stack;

    @TempDir
    static Path directory;

    @BeforeAll
    static void startTwoJobs() throws IOException {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
        stack = Stack.start(1, 3);
        stack.submit(List.of("-p", 1), "--topic", REPLAY_TOPIC, "--group", "limitation-job-replay");
    }

    @AfterAll
    static void stop() {
        if (stack != null) {
            stack.close();
        }
    }

    @Test
    void aReplayOfAFileThatWasKilledIsPlayedAgainAndChangesNothing() throws IOException {
        Path capture = copy("bergen-before", "killed-file");
        // One record at a time, and none at once: the probe is in the midst for many seconds.
        Process killed = probe("killed-file", capture)
                .with("--batch-bytes", "1B", "--kafka-option", "queue.buffering.max.messages=1")
                .with("--kafka-option", "linger.ms=200")
                .start(directory.resolve("out"), directory.resolve("err"));
        awaitConsumed("killed-file");
        kill(killed);

        Map<String, Long> books = stack.play(capture, "--topic", REPLAY_TOPIC, "--batch-bytes", "2KiB");

        rowsBecomeThoseOf(capture);
        theLedgerTellsOfRepeats("killed-file", books.get("packets_delivered"));
    }

    /** A silent pipe lets out what it has: runs and batches of the second try are cut elsewhere. */
    @Test
    void aReplayOfAPipeThatWasKilledIsPlayedAgainAndChangesNothing() throws IOException {
        Path capture = copy("lille-before", "killed-pipe");
        byte[] bytes = Files.readAllBytes(capture);
        Process killed = probe("killed-pipe", "-").start(directory.resolve("out"), directory.resolve("err"));
        OutputStream pipe = killed.getOutputStream();
        pipe.write(bytes, 0, bytes.length / 2);
        pipe.flush();
        awaitConsumed("killed-pipe");
        kill(killed);

        Path ledger = directory.resolve("ledger");
        stack.shell(
                        "cat \"$1\" | \"$2\" --tap killed-pipe --kafka \"$CHOKEPOINT_KAFKA\" --topic \"$3\" --ledger \"$4\" -",
                        capture,
                        PROBE,
                        REPLAY_TOPIC,
                        ledger)
                .run()
                .succeeded();

        rowsBecomeThoseOf(capture);
        theLedgerTellsOfRepeats(
                "killed-pipe",
                Rows.parse(Files.readString(ledger))
                        .path("counters")
                        .path("packets_delivered")
                        .asLong());
    }

    /** A flow that goes on at the live topic, and captures of other centuries in its midst, at both topics. */
    @Test
    void rowsOfAllTimesLandAndNobodyWaitsForAnother() throws IOException {
        Path live = copy("seville-before", "goes-on");
        byte[] bytes = Files.readAllBytes(live);
        Process watching = Command.of(PROBE, "--tap", "goes-on", "--kafka", kafka(), "-")
                .start(directory.resolve("out"), directory.resolve("err"));
        OutputStream pipe = watching.getOutputStream();
        pipe.write(bytes, 0, bytes.length / 2);
        pipe.flush();
        awaitConsumed("goes-on");

        List<Path> captures = List.of(
                shifted("graz-before", "of-2012", SECONDS_OF_2012),
                shifted("graz-after", "of-2106", SECONDS_OF_2106),
                shiftedBeyondPcap("graz-before", "of-2261", SECONDS_OF_2261));
        for (Path capture : captures) {
            stack.play(capture);
            stack.play(copyOf(capture, "replayed-"), "--topic", REPLAY_TOPIC);
        }
        for (Path capture : captures) {
            rowsBecomeThoseOf(capture);
            rowsBecomeThoseOf(capture.resolveSibling("replayed-" + capture.getFileName()));
        }

        pipe.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        pipe.close();
        rowsBecomeThoseOf(live);
        assertThat(stack.service("flink", "list").run().succeeded())
                .anyMatch(line -> line.contains(" limitation-job (RUNNING)"))
                .anyMatch(line -> line.contains(" limitation-job-replay (RUNNING)"));
    }

    private static Path copy(String sample, String tap) throws IOException {
        return Files.copy(Command.ROOT.resolve("samples").resolve(sample + ".pcap"), directory.resolve(tap + ".pcap"));
    }

    private static Path copyOf(Path capture, String prefix) throws IOException {
        return Files.copy(capture, capture.resolveSibling(prefix + capture.getFileName()));
    }

    private static Path shifted(String sample, String tap, long firstSecond) throws IOException {
        Capture capture = Capture.read(Command.ROOT.resolve("samples").resolve(sample + ".pcap"));
        long shift = firstSecond - capture.frames().get(0).seconds();
        return new Capture(
                        capture.linkType(),
                        capture.frames().stream()
                                .map(frame -> frame.at(frame.seconds() + shift))
                                .toList())
                .write(directory.resolve(tap + ".pcap"));
    }

    /** Its stamps have 32 bits of seconds, those of pcapng have 64. */
    private static Path shiftedBeyondPcap(String sample, String tap, long firstSecond) throws IOException {
        Path capture = Command.ROOT.resolve("samples").resolve(sample + ".pcap");
        long shift = firstSecond - Capture.read(capture).frames().get(0).seconds();
        Path file = directory.resolve(tap + ".pcap");
        Command.of("editcap", "-F", "pcapng", "-t", shift, capture, file).run().succeeded();
        return file;
    }

    private static String kafka() {
        return stack.environment().get("CHOKEPOINT_KAFKA");
    }

    private static Command probe(String tap, Object capture) {
        return Command.of(PROBE, "--tap", tap, "--kafka", kafka(), "--topic", REPLAY_TOPIC)
                .with(capture);
    }

    private static void awaitConsumed(String tap) {
        Stack.await("batches of " + tap, () -> ledger(tap), ledger -> ledger.containsKey("consumed"));
    }

    private static void kill(Process process) {
        assertThat(process.isAlive()).as("it is in the midst").isTrue();
        process.destroyForcibly().onExit().join();
    }

    private static void rowsBecomeThoseOf(Path capture) {
        List<Map<String, String>> expected = Rows.of(
                chokepoint("analyze", "--format", "json").with(capture).run().succeeded());
        String tap = '"' + Samples.tap(capture) + '"';
        List<Map<String, String>> rows = Stack.await(
                expected.size() + " rows of " + capture,
                () -> rows(tap),
                seen -> seen.equals(expected) || (seen.size() >= expected.size() && isSettled(capture)));

        assertThat(rows).isEqualTo(expected).isNotEmpty();
    }

    /** Whether all that was consumed has a fate, so that no more rows will come. */
    private static boolean isSettled(Path capture) {
        Map<String, Long> ledger = ledger(Samples.tap(capture));
        long fates = Arrays.asList("contributed", "contributed_after_hole", "repeated", "malformed").stream()
                .mapToLong(fate -> ledger.getOrDefault(fate, 0L))
                .sum();
        return ledger.getOrDefault("consumed", 0L) == fates
                && rows('"' + Samples.tap(capture) + '"').stream()
                        .anyMatch(row -> row.get("record").equals("\"flow\""));
    }

    private static List<Map<String, String>> rows(String tap) {
        try {
            return Rows.of(stack.rows()).stream()
                    .filter(row -> row.get("tap").equals(tap))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void theLedgerTellsOfRepeats(String tap, long packets) {
        Map<String, Long> ledger = Stack.await(
                "a balanced ledger",
                () -> ledger(tap),
                seen -> seen.getOrDefault("contributed", 0L) == packets
                        && seen.getOrDefault("consumed", 0L) == packets + seen.getOrDefault("repeated", 0L));

        assertThat(ledger.get("repeated")).as("packets that came twice").isPositive();
        assertThat(ledger.get("repeated_batch")).isPositive();
        assertThat(ledger).doesNotContainKeys("missing_batch", "contributed_after_hole", "malformed");
    }

    private static Map<String, Long> ledger(String tap) {
        try {
            Map<String, Long> packets = new HashMap<>();
            for (String line :
                    stack.ask("SELECT fate, sum(packets) AS n FROM ledger WHERE tap = '" + tap + "' GROUP BY fate")) {
                JsonNode row = Rows.parse(line);
                packets.put(row.path("fate").asText(), row.path("n").asLong());
            }
            return packets;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
