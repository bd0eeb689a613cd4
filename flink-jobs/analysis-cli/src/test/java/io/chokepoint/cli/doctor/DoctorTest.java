// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.cli.doctor.Doctor.Hop;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
    @TempDir
    Path nothing;

    @Test
    void aHopThatFailsComesWithItsRemedyAndTheNextOnesAreStillLookedAt() throws InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<Hop> hops = List.of(
                new Hop("first", "", () -> "is well", "eat apples"),
                new Hop(
                        "second",
                        "",
                        () -> {
                            throw new IOException("it hurts");
                        },
                        "rest"),
                new Hop("inside", "second", () -> "is well", "eat plums"),
                new Hop("third", "first", () -> "is well", "eat pears"));

        int exitCode = Doctor.run(hops, new PrintStream(out, true, StandardCharsets.UTF_8));

        assertThat(exitCode).isEqualTo(1);
        assertThat(out.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        "ok    first      is well",
                        "FAIL  second     it hurts",
                        "                 rest",
                        "-     inside     needs second",
                        "ok    third      is well");
    }

    @Test
    void servicesThatAreNotThereAreNamed() throws Exception {
        String dead;
        try (ServerSocket socket = new ServerSocket(0)) {
            dead = "127.0.0.1:" + socket.getLocalPort();
        }
        Map<String, String> environment = Map.of(
                "CHOKEPOINT_KAFKA", dead,
                "CHOKEPOINT_FLINK", "http://" + dead,
                "CHOKEPOINT_CLICKHOUSE", "http://" + dead);
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        Doctor.run(Hops.of(nothing, environment), new PrintStream(out, true, StandardCharsets.UTF_8));

        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains(
                        "FAIL  probe      " + nothing.resolve("build/probe/chokepoint-probe") + " is not there",
                        "FAIL  kafka      " + dead + " does not answer",
                        "FAIL  flink      http://" + dead + " does not answer",
                        "FAIL  clickhouse http://" + dead + " does not answer");
    }
}
