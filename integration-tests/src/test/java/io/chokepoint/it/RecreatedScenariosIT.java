// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scenarios captured anew, with a seed, a rate and ports that nobody has seen before: no verdict is learnt by heart. */
class RecreatedScenariosIT {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"unshared", "window"})
    void freshCapturesHaveTheirRootCauseAtBothTaps(String scenario) throws IOException {
        assumeTrue(Command.shell("[ \"$(id -u)\" -eq 0 ]").run().exitCode() == 0, "network namespaces need root");
        SecureRandom random = new SecureRandom();
        int seed = random.nextInt(1_000_000);
        int megabitsPerSecond = random.nextInt(8, 30);

        Command.of(Command.ROOT.resolve("testbed/run"), scenario, "--seed", seed, "--out", directory)
                .with("--rate-mbit", megabitsPerSecond)
                .run()
                .succeeded();
        JsonNode expected = Rows.parse(Files.readString(directory.resolve("truth.json")));

        List<String> out = chokepoint("analyze", "--format", "json")
                .with(captures().toArray())
                .run()
                .succeeded();
        String direction = '"' + expected.path("expected").path("direction").asText() + '"';
        assertThat(Rows.of(out).stream()
                        .filter(row -> row.get("record").equals("\"flow\"")
                                && row.get("direction").equals(direction))
                        .map(row -> row.get("root_cause")))
                .as("seed %d, %d Mbit/s", seed, megabitsPerSecond)
                .hasSize(2 * expected.path("parameters").path("flows").asInt())
                .containsOnly('"' + expected.path("expected").path("root_cause").asText() + '"');
    }

    private List<Path> captures() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".pcap")).collect(Collectors.toList());
        }
    }
}
