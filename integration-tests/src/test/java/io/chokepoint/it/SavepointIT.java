// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The job is ended at a savepoint in the middle of flows and goes on from there, with other slots, or as a later program. */
class SavepointIT {
    /** Written by {@link #writeTheSavepointOfThisVersion}; those of released versions are kept. */
    private static final Path SAVEPOINT =
            Command.ROOT.resolve("integration-tests/src/test/resources/savepoints/v1/_metadata");

    private static final Path RECORDS = SAVEPOINT.resolveSibling("records");
    /** What the taps of the savepoint had seen. */
    private static final double HALF = 0.5;

    private static final Pattern CHECKPOINTS = Pattern.compile("\"completed\":([0-9]+)");

    @TempDir
    Path directory;

    @BeforeAll
    static void build() {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
    }

    /** One capture of one tap, and two taps of one path that flows share. */
    @Test
    void rescalingAndPlayingAgainChangeNothing() throws IOException {
        Path samples = Command.ROOT.resolve("samples");
        List<Path> captures = List.of(
                Scripts.captureOfAll(directory),
                samples.resolve("bergen-before.pcap"),
                samples.resolve("bergen-after.pcap"));
        List<Map<String, String>> expected = undisturbed(captures);
        assertThat(expected)
                .extracting(row -> row.get("record"))
                .contains("\"bottleneck_group\"", "\"flow_path_interval\"");
        List<Tap> taps = new ArrayList<>();

        try (Stack stack = Stack.start(1, 3)) {
            for (Path capture : captures) {
                taps.add(new Tap(stack, Samples.tap(capture), capture));
            }
            feed(stack, taps, 0.3);
            stack.restore(stack.stop(), 2);
            feed(stack, taps, 0.6);
            stack.restore(stack.stop(), 1);
            long packets = playOut(taps);

            theRowsAre(expected, stack);
            awaitFates(stack, Map.of("consumed", packets, "contributed", packets));

            List<Tap> again = new ArrayList<>();
            for (Path capture : captures) {
                again.add(new Tap(stack, Samples.tap(capture), capture));
            }
            taps.addAll(again);
            assertThat(playOut(again)).isEqualTo(packets);
            awaitJudged(stack, 2 * packets);
            awaitCheckpoints(stack, 3); // groups that more came for are told within one
            theRowsAre(expected, stack);
        } finally {
            for (Tap tap : taps) {
                tap.close();
            }
        }
    }

    private static void feed(Stack stack, List<Tap> taps, double share) throws IOException {
        long packets = 0;
        for (Tap tap : taps) {
            tap.feed(share);
            packets += tap.framesFed();
        }
        awaitConsumed(stack, packets);
    }

    /** Feeds what is left; the packets that the probes have delivered. */
    private static long playOut(List<Tap> taps) throws IOException {
        long packets = 0;
        for (Tap tap : taps) {
            tap.feed(1);
            packets += tap.end().get("packets_delivered");
        }
        return packets;
    }

    /** State of flows, books, unsent rows and the offset, all of them in use. */
    @Test
    void theJobGoesOnFromASavepointOfVersion1() throws IOException {
        List<Path> captures = captures();
        String records = Files.readString(RECORDS).strip();
        List<Tap> taps = new ArrayList<>();

        try (Stack stack = Stack.services(Map.of(), 1)) {
            // What the job had read lies before the offset of the savepoint, and nobody reads it again.
            stack.shell("yes | head -n \"$1\" | kcat -P -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -p 0", records)
                    .run()
                    .succeeded();
            // By the log its flows have been silent since it was written; that of the second tap would end with the
            // first one's batches.
            stack.restore(SAVEPOINT.getParent(), 1, "--idle", "365 d");
            long seenBefore = 0;
            for (Path capture : captures) {
                Tap tap = new Tap(stack, Samples.tap(capture), capture);
                taps.add(tap);
                tap.feed(HALF);
                seenBefore += tap.framesFed();
            }
            awaitConsumed(stack, 2 * seenBefore);
            long packets = 0;
            for (Tap tap : taps) {
                tap.feed(1);
                packets += tap.end().get("packets_delivered");
            }

            theRowsAre(undisturbed(captures), stack);
            awaitFates(
                    stack,
                    Map.of(
                            "consumed",
                            seenBefore + packets,
                            "contributed",
                            packets,
                            "repeated",
                            seenBefore,
                            "repeated_batch",
                            seenBefore));
        } finally {
            for (Tap tap : taps) {
                tap.close();
            }
        }
    }

    /** {@code mvn verify -Dchokepoint.write=true}: right until this version of the state is released, and never again. */
    @Test
    @EnabledIfSystemProperty(named = "chokepoint.write", matches = "true")
    void writeTheSavepointOfThisVersion() throws IOException {
        Path settings = Files.writeString(
                directory.resolve("flink.yaml"), "execution.checkpointing.data-inline-threshold: 1 mb\n");
        List<Tap> taps = new ArrayList<>();
        try (Stack stack = Stack.start(Map.of("CHOKEPOINT_FLINK_PROPERTIES", settings.toString()), 1, 1)) {
            stack.service("clickhouse", "kill").run().succeeded();
            for (Path capture : captures()) {
                Tap tap = new Tap(stack, Samples.tap(capture), capture);
                taps.add(tap);
                tap.feed(HALF);
            }
            awaitCheckpoints(stack, 3);
            List<String> records = stack.shell("kcat -C -q -e -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -f '%o\\n'")
                    .run()
                    .succeeded();
            Path savepoint = stack.stop();

            Files.createDirectories(SAVEPOINT.getParent());
            Files.copy(savepoint.resolve("_metadata"), SAVEPOINT, StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(RECORDS, records.size() + "\n");
            try (var files = Files.list(savepoint)) {
                assertThat(files).as("all state is within the one file").hasSize(1);
            }
        } finally {
            for (Tap tap : taps) {
                tap.close();
            }
        }
    }

    /** Small ones that will not change: one of a flow with intervals behind it, one of a flow that began just now. */
    private static List<Path> captures() {
        return List.of(
                Command.ROOT.resolve("samples/faro-before.pcap"), Command.ROOT.resolve("samples/graz-before.pcap"));
    }

    private static List<Map<String, String>> undisturbed(List<Path> captures) {
        return Rows.of(chokepoint("analyze", "--format", "json")
                .with(captures.toArray())
                .run()
                .succeeded());
    }

    /** In the end: who shares a bottleneck, and where along a path it is, is told again when more comes. */
    private static void theRowsAre(List<Map<String, String>> expected, Stack stack) {
        assertThat(Stack.awaitAnyway(Duration.ofMinutes(1), stack::parsedRows, expected::equals))
                .isEqualTo(expected);
    }

    private static void awaitConsumed(Stack stack, long packets) {
        Stack.await(
                packets + " packets consumed",
                () -> fates(stack).getOrDefault("consumed", 0L),
                consumed -> consumed == packets);
    }

    /** Of packets that come again, those of a flow that had ended and was forgotten contribute anew. */
    private static void awaitJudged(Stack stack, long packets) {
        Stack.await(
                packets + " packets judged",
                () -> fates(stack),
                fates -> fates.getOrDefault("consumed", 0L) == packets
                        && fates.getOrDefault("contributed", 0L) + fates.getOrDefault("repeated", 0L) == packets);
    }

    private static void awaitFates(Stack stack, Map<String, Long> expected) {
        Stack.await("the ledger " + expected, () -> fates(stack), expected::equals);
    }

    private static Map<String, Long> fates(Stack stack) {
        return stack.counts("SELECT fate AS name, sum(packets) AS n FROM ledger GROUP BY fate HAVING n > 0");
    }

    /** Awaits so many more; they are further apart than a window of groups is quiet before it is told. */
    private static void awaitCheckpoints(Stack stack, int more) {
        int checkpoints = completed(stack) + more;
        Stack.await(checkpoints + " checkpoints", () -> completed(stack), count -> count >= checkpoints);
    }

    private static int completed(Stack stack) {
        Matcher matcher = CHECKPOINTS.matcher(stack.ofTheJob("/checkpoints"));
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }
}
