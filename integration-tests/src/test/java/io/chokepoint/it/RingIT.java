// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code chokepoint capture}, asking a probe that has a ring. */
class RingIT {
    private static final String TAP = "core 1";

    @TempDir
    Path directory;

    private Path sample;
    private Path key;
    private List<Map<String, String>> rows;
    private Map<String, String> flow;
    private Process probe;
    private String url;

    @BeforeAll
    static void build() {
        chokepoint("build").run().succeeded();
    }

    /** Until it has read all of the sample; its standard input stays open. */
    @BeforeEach
    void startProbe() throws IOException {
        sample = Samples.small();
        List<String> out = judge(sample);
        rows = Rows.of(out);
        flow = rows.get(0);
        key = Files.createFile(
                directory.resolve("key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(key, "0123456789abcdef".repeat(4) + "\n");
        Path err = directory.resolve("err");
        probe = Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--tap", TAP)
                .with("--metrics", "127.0.0.1:0", "--ring-memory", "64MiB", "--ring-key", key)
                .with("--ring-audit", directory.resolve("audit"), "--output", directory.resolve("batches"), "-")
                .start(directory.resolve("out"), err);
        probe.getOutputStream().write(Files.readAllBytes(sample));
        probe.getOutputStream().flush();
        url = "http://127.0.0.1:"
                + Stack.await("a port", () -> text(err), text -> text.contains("metrics are at port"))
                        .replaceAll("(?s).*metrics are at port (\\d+).*", "$1");
        String received = "chokepoint_probe_frames_received_total{worker=\"0\"} "
                + Rows.ledger(out).at("/taps/0/probe/frames_received").asText();
        Stack.await(
                received,
                () -> Command.of("curl", "-s", url + "/metrics").run().out(),
                metrics -> metrics.contains(received));
    }

    @AfterEach
    void endProbe() throws IOException, InterruptedException {
        probe.getOutputStream().close();
        assertThat(probe.waitFor()).isZero();
    }

    private static List<String> judge(Path capture) {
        return chokepoint("analyze", "--format", "json", "--tap", TAP, capture)
                .run()
                .succeeded();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String column(String name) {
        String value = flow.get(name);
        return value.startsWith("\"") ? value.replace("\"", "") : String.valueOf((int) Double.parseDouble(value));
    }

    private String flowText() {
        return column("client_ip") + ":" + column("client_port") + ">" + column("server_ip") + ":"
                + column("server_port");
    }

    @Test
    void whatIsFetchedIsJudgedAsWhatWasSeen() throws IOException {
        Path dump = directory.resolve("dump.pcapng");

        List<String> out = chokepoint("capture", "--probe", url, "--key", key, "--flow", flowText())
                .with("--seconds", 3600, "--output", dump)
                .run()
                .succeeded();

        assertThat(out).singleElement().asString().contains(" frames of " + flowText(), "the ring holds nothing older");
        assertThat(Rows.of(judge(dump))).isEqualTo(rows);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dump)))
                .isEqualTo("rw-------");
        assertThat(text(directory.resolve("audit"))).contains("\"outcome\":\"dumped\",\"flow\":\"" + flowText() + "\"");
    }

    @Test
    void theFlowsOfAnAlertAreFetchedAndTheOthersNamed() throws IOException {
        Files.writeString(directory.resolve("probes"), url + " key " + TAP + "\n");
        Path alert = Files.writeString(directory.resolve("alert"), """
                {"status": "firing", "alerts": [
                 {"status": "firing", "labels": {"alertname": "a", "tap": "core 1", %1$s}},
                 {"status": "firing", "labels": {"alertname": "b", "tap": "core 2", %1$s}},
                 {"status": "firing", "labels": {"alertname": "c", "tap": "core 1"}},
                 {"status": "resolved", "labels": {"alertname": "d", "tap": "core 1"}}]}
                """.formatted(labels()));
        Path folder = Files.createDirectory(directory.resolve("captures"));

        Command.Outcome outcome = chokepoint("capture", "--alert", alert, "--probes", directory.resolve("probes"))
                .with("--output", folder)
                .run();

        outcome.failed(1, "chokepoint: no probe of tap core 2 is known: expected a line for it in --probes");
        assertThat(outcome.err())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("chokepoint: alert c names no flow: expected the labels tap,");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files)
                    .singleElement()
                    .asString()
                    .contains("/core.1_" + column("client_ip") + "-" + column("client_port") + "_");
        }
    }

    private String labels() {
        return "\"client_ip\": \"%s\", \"client_port\": \"%s\", \"server_ip\": \"%s\", \"server_port\": \"%s\""
                .formatted(column("client_ip"), column("client_port"), column("server_ip"), column("server_port"));
    }

    @Test
    void whoHasAnotherKeyIsToldSo() throws IOException {
        Path other = Files.writeString(directory.resolve("other"), "fedcba9876543210".repeat(4));

        chokepoint("capture", "--probe", url, "--key", other, "--flow", flowText())
                .run()
                .failed(
                        1,
                        "chokepoint: the probe at " + url + ", asked for " + flowText()
                                + ": the signature is not that of the command");
    }
}
