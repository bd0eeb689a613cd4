// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.it.Command.Outcome;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Services that are not there, and outputs that take nothing: one sentence that says which, and exit code 1. */
class DeadServicesIT {
    private static final Path PROBE = Command.ROOT.resolve("build/probe/chokepoint-probe");

    private static String dead;

    /** Without services.env, so that nothing of a demo is found. */
    @TempDir
    private Path run;

    @BeforeAll
    static void chooseAPort() throws IOException {
        chokepoint("build").run().succeeded();
        try (ServerSocket socket = new ServerSocket(0)) {
            dead = "127.0.0.1:" + socket.getLocalPort();
        }
    }

    @Test
    void theProbeNamesTheBroker() throws IOException {
        Outcome outcome = Command.of(PROBE, "--kafka", dead, "--kafka-timeout", "1s", Samples.small())
                .run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.err().get(0))
                .startsWith("chokepoint-probe: Kafka at " + dead + " does not answer within 1 s: ")
                .contains("Connection refused");
    }

    @Test
    void theProbeNamesTheFullDisk() throws IOException {
        Command.of(PROBE, "--output", "/dev/full", Samples.small())
                .run()
                .failed(1, "chokepoint-probe: /dev/full cannot be written: No space left on device");
    }

    @Test
    void migrateNamesTheBroker() {
        assertOneSentence(
                chokepoint("migrate", "--only", "topics", "--kafka", dead),
                "Kafka at " + dead + " does not answer (option --kafka)");
    }

    @Test
    void migrateNamesClickHouse() {
        assertOneSentence(
                chokepoint("migrate", "--only", "tables", "--clickhouse", "http://" + dead),
                "ClickHouse at http://" + dead + " does not answer (option --clickhouse)");
    }

    @Test
    void sqlNamesClickHouse() {
        assertOneSentence(
                chokepoint("sql", "--clickhouse", "http://" + dead, "SELECT 1"),
                "ClickHouse at http://" + dead + " does not answer (option --clickhouse)");
    }

    @Test
    void reportNamesClickHouse() {
        assertOneSentence(
                chokepoint("report").environment(Map.of("CHOKEPOINT_CLICKHOUSE", "http://" + dead)),
                "ClickHouse at http://" + dead + " does not answer");
    }

    private void assertOneSentence(Command command, String start) {
        Outcome outcome =
                command.environment(Map.of("CHOKEPOINT_RUN", run.toString())).run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.err()).singleElement().asString().startsWith("chokepoint: " + start);
    }

    @Test
    void theDoctorNamesEveryServiceAndItsRemedy() {
        Outcome outcome = chokepoint("doctor")
                .environment(Map.of(
                        "CHOKEPOINT_RUN",
                        run.toString(),
                        "CHOKEPOINT_KAFKA",
                        dead,
                        "CHOKEPOINT_FLINK",
                        "http://" + dead,
                        "CHOKEPOINT_CLICKHOUSE",
                        "http://" + dead))
                .run();

        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
        assertThat(outcome.out())
                .contains(
                        "FAIL  kafka      " + dead + " does not answer",
                        "-     topics     needs kafka",
                        "FAIL  flink      http://" + dead + " does not answer",
                        "FAIL  clickhouse http://" + dead + " does not answer");
    }
}
