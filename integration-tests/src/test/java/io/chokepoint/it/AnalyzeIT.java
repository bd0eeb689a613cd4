// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static io.chokepoint.it.Command.shell;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.chokepoint.it.Capture.Frame;
import io.chokepoint.it.Capture.Spoiler;
import io.chokepoint.it.Command.Outcome;
import io.chokepoint.testkit.PcapWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code chokepoint analyze} on good input and on all kinds of bad input. */
class AnalyzeIT {
    private static final int BAD_FRAMES = 7;

    @TempDir
    Path directory;

    @BeforeAll
    static void build() {
        chokepoint("build").run().succeeded();
    }

    @Test
    void everySampleHasItsRootCause() throws IOException {
        List<String> out = chokepoint("analyze", "--format", "json")
                .with(Samples.captures().toArray())
                .run()
                .succeeded();

        assertThat(rootCauses(out)).containsExactlyInAnyOrderElementsOf(expectedRootCauses());
        assertThat(Rows.ledger(out).path("balanced").asBoolean()).isTrue();
    }

    private static List<String> expectedRootCauses() throws IOException {
        List<String> all = new ArrayList<>();
        for (Samples.Expected expected : Samples.expected()) {
            String tap = Samples.tap(Path.of(expected.capture()));
            for (int i = 0; i < expected.flows(); i++) {
                all.add(tap + " " + expected.direction() + " " + expected.rootCause());
            }
        }
        return all;
    }

    private static List<String> rootCauses(List<String> out) {
        return Rows.of(out).stream()
                .filter(row -> row.get("record").equals("\"flow\""))
                .map(row ->
                        (row.get("tap") + " " + row.get("direction") + " " + row.get("root_cause")).replace("\"", ""))
                .toList();
    }

    @Test
    void anonymisedAddressesChangeNoVerdict() throws IOException {
        Path key = directory.resolve("key");
        shell("umask 077; head -c 32 /dev/urandom >\"$1\"", key).run().succeeded();

        assertThat(Set.copyOf(addresses(anonymised(key)))).doesNotContainAnyElementsOf(addresses(anonymised(null)));
        assertThat(withoutAddresses(anonymised(key))).isEqualTo(withoutAddresses(anonymised(null)));
    }

    /** All samples through a probe with that key; without one if it is null. */
    private List<Map<String, String>> anonymised(Path key) throws IOException {
        Path probe = directory.resolve("probe");
        String option = key == null ? "" : "--anonymise '" + key + "' ";
        Files.writeString(
                probe,
                "#!/bin/sh\nexec '" + Command.ROOT.resolve("build/probe/chokepoint-probe") + "' " + option
                        + "\"$@\"\n");
        Files.setPosixFilePermissions(probe, PosixFilePermissions.fromString("rwx------"));
        return Rows.of(Command.of("java", "-Dchokepoint.root=" + Command.ROOT, "-Dchokepoint.probe=" + probe)
                .with("-Dchokepoint.stdout.columns=0", "-Dchokepoint.stderr.terminal=false", "-jar")
                .with(Command.ROOT.resolve("flink-jobs/analysis-cli/target/analysis-cli.jar"))
                .with("analyze", "--format", "json")
                .with(Samples.captures().toArray())
                .run()
                .succeeded());
    }

    private static List<String> addresses(List<Map<String, String>> rows) {
        return rows.stream()
                .filter(row -> row.containsKey("client_ip"))
                .flatMap(row -> Stream.of(row.get("client_ip"), row.get("server_ip")))
                .toList();
    }

    private static List<String> withoutAddresses(List<Map<String, String>> rows) {
        rows.forEach(row -> row.keySet()
                .removeAll(List.of(
                        "client_ip",
                        "server_ip",
                        "flow_id",
                        "path_id",
                        "group_id",
                        "largest_flow_id",
                        "member_flow_ids")));
        return rows.stream().map(Map::toString).sorted().toList();
    }

    @Test
    void theProbeReceivesWhatCapinfosCounts() throws IOException {
        List<Path> captures = Samples.captures();
        JsonNode taps = Rows.ledger(chokepoint("analyze", "--format", "json")
                        .with(captures.toArray())
                        .run()
                        .succeeded())
                .path("taps");

        assertThat(taps).hasSameSizeAs(captures);
        for (int i = 0; i < captures.size(); i++) {
            assertThat(taps.get(i).path("probe").path("frames_received").asLong())
                    .as("frames of %s", captures.get(i))
                    .isEqualTo(Capinfos.frames(captures.get(i)));
        }
    }

    @ParameterizedTest
    @EnumSource(Spoiler.class)
    void badFramesAreCountedAndChangeNothing(Spoiler spoiler) throws IOException {
        Capture good = Capture.read(Samples.small());
        List<String> expected = analyze(good.write(directory.resolve("tap.pcap")));
        List<String> out = analyze(good.withBad(BAD_FRAMES, spoiler).write(directory.resolve("tap.pcap")));

        assertThat(Rows.of(out)).isNotEmpty().isEqualTo(Rows.of(expected));
        JsonNode counters = Rows.ledger(out).path("taps").get(0).path("probe");
        assertThat(counters.path(spoiler.counter).asInt()).isEqualTo(BAD_FRAMES);
        assertThat(counters.path("frames_received").asInt())
                .isEqualTo(good.frames().size() + BAD_FRAMES);
    }

    @Test
    void ofPacketsWithinEachOtherTheInnerIsJudgedUnlessTheOuterIsAskedFor() throws IOException {
        Capture plain = Capture.read(Samples.small());
        List<String> expected = analyze(plain.write(directory.resolve("tap.pcap")));
        Path tunnelled = plain.inTunnel().write(directory.resolve("tap.pcap"));

        assertThat(Rows.of(analyze(tunnelled))).isNotEmpty().isEqualTo(Rows.of(expected));
        List<String> outer = analyze("--tunnels", "outer", tunnelled);
        assertThat(Rows.of(outer)).isEmpty();
        assertThat(Rows.ledger(outer)
                        .path("taps")
                        .get(0)
                        .path("probe")
                        .path("frames_not_tcp")
                        .asInt())
                .isEqualTo(plain.frames().size());
    }

    @Test
    void compressedCapturesGiveTheSameRows() throws IOException {
        Path plain = Files.copy(Samples.small(), directory.resolve("tap.pcap"));
        List<String> expected = analyze(plain);
        shell("gzip -k \"$1\" && zstd -q \"$1\"", plain).run().succeeded();

        assertThat(Rows.of(analyze(directory.resolve("tap.pcap.gz")))).isEqualTo(Rows.of(expected));
        assertThat(Rows.of(analyze(directory.resolve("tap.pcap.zst")))).isEqualTo(Rows.of(expected));
    }

    @Test
    void filesOfOneTapContinueEachOther() throws IOException {
        Capture whole = Capture.read(Samples.small());
        int half = whole.frames().size() / 2;
        Path first = new Capture(whole.linkType(), whole.frames().subList(0, half)).write(directory.resolve("1.pcap"));
        Path second = new Capture(
                        whole.linkType(),
                        whole.frames().subList(half, whole.frames().size()))
                .write(directory.resolve("2.pcap"));
        List<String> expected = analyze("--tap", "a", whole.write(directory.resolve("whole.pcap")));

        assertThat(Rows.of(analyze("--tap", "a", first, second))).isEqualTo(Rows.of(expected));
    }

    @Test
    void standardInputIsATap() throws IOException {
        List<String> expected = analyze("--tap", "stdin", Samples.small());
        List<String> out = shell(
                        "exec \"$1\" analyze --format json - <\"$2\"",
                        Command.ROOT.resolve("chokepoint"),
                        Samples.small())
                .run()
                .succeeded();

        assertThat(Rows.of(out)).isEqualTo(Rows.of(expected));
    }

    @Test
    void aCaptureThatBreaksOffIsJudgedAsFarAsItGoes() throws IOException {
        byte[] bytes = Files.readAllBytes(Samples.small());
        Path cut = Files.write(directory.resolve("cut.pcap"), Arrays.copyOf(bytes, bytes.length - 10));

        Outcome outcome = chokepoint("analyze", "--format", "json", cut).run();

        assertThat(Rows.of(outcome.succeeded())).isNotEmpty();
        outcome.failed(0, "chokepoint-probe: " + cut + " is cut off at its end, all whole frames were read");
    }

    @Test
    void anEmptyCaptureIsSaidToBeEmpty() throws IOException {
        Path empty = new Capture(PcapWriter.ETHERNET, List.of()).write(directory.resolve("empty.pcap"));

        chokepoint("analyze", empty).run().failed(0, "chokepoint: no TCP packet in " + empty + " (0 frames read)");
    }

    @Test
    void aFileWithoutABytesIsNoCapture() throws IOException {
        Path nothing = Files.createFile(directory.resolve("nothing.pcap"));

        chokepoint("analyze", nothing)
                .run()
                .failed(1, "chokepoint-probe: " + nothing + " is empty, expected a capture (pcap or pcapng)");
    }

    @Test
    void aFileOfAnotherKindIsNoCapture() throws IOException {
        Path text = Files.writeString(directory.resolve("notes.pcap"), "not a capture at all\n".repeat(10));

        chokepoint("analyze", text).run().failed(1, "chokepoint-probe: " + text + " is not a capture (pcap or pcapng)");
    }

    @Test
    void theSizeOfAFileIsNoProblemForTheLauncher() throws IOException {
        Path sparse = directory.resolve("sparse.pcap");
        shell("truncate -s 5G \"$1\"", sparse).run().succeeded();

        Outcome outcome = chokepoint("analyze", sparse).run();

        outcome.failed(1, "chokepoint-probe: " + sparse + " is not a capture (pcap or pcapng)");
        assertThat(outcome.err()).as("nothing but the sentence").hasSize(1);
    }

    @Test
    void otherLinkTypesAreNamed() throws IOException {
        Path wireless = new Capture(105, Capture.read(Samples.small()).frames()).write(directory.resolve("wlan.pcap"));

        Outcome outcome = chokepoint("analyze", wireless).run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.err())
                .singleElement()
                .asString()
                .contains("wlan.pcap", "link type")
                .contains("IEEE802_11");
    }

    @Test
    void aMissingFileDoesNotKeepTheOthersFromBeingJudged() throws IOException {
        Path missing = directory.resolve("missing.pcap");

        Outcome outcome = chokepoint("analyze", "--format", "json", missing, Samples.small())
                .run();

        outcome.failed(1, "chokepoint-probe: " + missing + " cannot be read: No such file or directory");
        assertThat(Rows.of(outcome.out())).isNotEmpty();
    }

    @Test
    void aBrokenArchiveIsNamed() throws IOException {
        Path broken = Files.writeString(directory.resolve("broken.pcap.gz"), "no archive");

        chokepoint("analyze", broken)
                .run()
                .failed(1, "chokepoint: cannot decompress " + broken + ": gzip: stdin: not in gzip format");
    }

    @Test
    void aTimeStampIn2106CostsNothing() throws IOException {
        Capture good = Capture.read(Samples.small());
        List<Frame> frames = new ArrayList<>(good.frames());
        frames.add(frames.get(frames.size() - 1).at(0xffff_ffffL));

        List<String> out = analyze(new Capture(good.linkType(), frames).write(directory.resolve("late.pcap")));

        assertThat(Rows.of(out)).hasSizeBetween(1, 20);
        assertThat(Rows.ledger(out).path("balanced").asBoolean()).isTrue();
    }

    @Test
    void aFullDiskIsToldByItsReason() throws IOException {
        shell(
                        "exec \"$1\" analyze --format json \"$2\" >/dev/full",
                        Command.ROOT.resolve("chokepoint"),
                        Samples.small())
                .run()
                .failed(1, "chokepoint: No space left on device");
    }

    @Test
    void aReaderThatHasSeenEnoughIsNoError() throws IOException {
        Outcome outcome = shell(
                        "\"$1\" analyze --format json \"${@:2}\" | head -n 1; exit \"${PIPESTATUS[0]}\"",
                        Command.ROOT.resolve("chokepoint"))
                .with(Samples.captures().toArray())
                .run();

        assertThat(outcome.succeeded()).hasSize(1);
        assertThat(outcome.err()).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            --interval 0s FILE     | chokepoint: option --interval is '0s': expected a duration from 1ms to 24h, such as 500ms, 1s or 1m
            --format xml FILE      | chokepoint: option --format is 'xml': expected table, json or csv
            --layer l7 FILE        | chokepoint: option --layer is 'l7': expected ip, l2 or wire
            --nonsense FILE        | chokepoint: option --nonsense is not known: expected --tap, --filter, --tunnels, --interval, --layer, --tenants or --format
            --filter nonsense FILE | chokepoint-probe: option --filter: 'nonsense' is not a libpcap filter: can't parse filter expression: syntax error
            """)
    void wrongOptionsAreToldInOneSentence(String arguments, String sentence) throws IOException {
        String file = Samples.small().toString();

        Outcome outcome = chokepoint("analyze")
                .with((Object[]) arguments.replace("FILE", file).split(" "))
                .run();

        outcome.failed(2, sentence);
        assertThat(outcome.err()).as("nothing but the sentence").hasSize(1);
    }

    @Test
    void unknownCommandsAreToldInOneSentence() {
        chokepoint("analyse")
                .run()
                .failed(
                        2,
                        "chokepoint: command analyse is not known: expected analyze, migrate, prune, sql, report,"
                                + " doctor, capture, build, version or help");
    }

    @Test
    void theLauncherWorksThroughALinkFromAnywhere() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("ckp"), Command.ROOT.resolve("chokepoint"));
        Path copy = Files.copy(Samples.small(), directory.resolve("tap.pcap"));

        List<String> out = Command.of(link, "analyze", "--format", "json", copy.getFileName())
                .in(directory)
                .run()
                .succeeded();

        assertThat(Rows.of(out)).isNotEmpty();
    }

    @Test
    void severalLaunchersMayRunAtOnce() throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(chokepoint("analyze", "--format", "json", Samples.small())
                    .start(directory.resolve(i + ".out"), directory.resolve(i + ".err")));
        }
        for (Process process : processes) {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isZero();
        }
        for (int i = 1; i < 4; i++) {
            assertThat(directory.resolve(i + ".out")).hasSameTextualContentAs(directory.resolve("0.out"));
        }
    }

    @Test
    void noProbeOutlivesItsJava() throws Exception {
        Process launcher = shell(
                        "(cat \"$2\"; exec tail -f /dev/null) | exec \"$1\" analyze -",
                        Command.ROOT.resolve("chokepoint"),
                        Samples.small())
                .start(directory.resolve("out"), directory.resolve("err"));
        ProcessHandle java = await(launcher, "java");
        ProcessHandle probe = await(launcher, "chokepoint-probe");

        java.destroyForcibly();

        probe.onExit().get(30, TimeUnit.SECONDS);
        launcher.descendants().forEach(ProcessHandle::destroyForcibly);
        assertThat(launcher.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aLiveCaptureIsToldWhileItRunsAndToItsEnd() throws Exception {
        Path out = directory.resolve("out");
        Process launcher = shell(
                        "(cat \"$2\"; exec tail -f /dev/null) | exec \"$1\" analyze --format json -",
                        Command.ROOT.resolve("chokepoint"),
                        Samples.small())
                .start(out, directory.resolve("err"));
        ProcessHandle java = await(launcher, "java");
        Stack.await("a row of the capture that still runs", () -> lines(out), lines -> lines.size() > 0);

        // SIGTERM goes the same way as Ctrl-C, which a shell in the background lets its children ignore.
        Command.of("kill", "-TERM", java.pid()).run().succeeded();
        java.onExit().get(30, TimeUnit.SECONDS);

        launcher.descendants().forEach(ProcessHandle::destroyForcibly);
        assertThat(launcher.waitFor(30, TimeUnit.SECONDS)).isTrue();
        List<String> expected = analyze("--tap", "stdin", Samples.small());
        assertThat(Rows.of(lines(out))).isEqualTo(Rows.of(expected));
        assertThat(Rows.ledger(lines(out)).path("balanced").asBoolean()).isTrue();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessHandle await(Process parent, String name) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (System.nanoTime() < deadline) {
            var found = parent.descendants()
                    .filter(process -> process.info().command().orElse("").endsWith("/" + name))
                    .findFirst();
            if (found.isPresent()) {
                return found.get();
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("no process " + name + " came up under " + parent);
    }

    @Test
    void aFullTemporaryDirectoryIsToldByItsReason() throws IOException {
        assumeTrue(Command.shell("[ \"$(id -u)\" -eq 0 ]").run().exitCode() == 0, "mounting a small disk needs root");
        Path disk = Files.createDirectory(directory.resolve("disk"));
        shell("mount -t tmpfs -o size=64k none \"$1\"", disk).run().succeeded();
        try {
            shell("head -c 65536 /dev/zero >\"$1/ballast\"", disk).run();
            Path output = disk.resolve("rows.json");
            shell(
                            "exec \"$1\" analyze --format json \"$2\" >\"$3\"",
                            Command.ROOT.resolve("chokepoint"),
                            Samples.small(),
                            output)
                    .run()
                    .failed(1, "chokepoint: No space left on device");
        } finally {
            shell("umount \"$1\"", disk).run().succeeded();
        }
    }

    private static List<String> analyze(Object... arguments) {
        return chokepoint("analyze", "--format", "json").with(arguments).run().succeeded();
    }
}
