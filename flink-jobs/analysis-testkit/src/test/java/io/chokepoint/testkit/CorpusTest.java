// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each script of the corpus says what it shows and expects something; all of them can lie in one capture. */
class CorpusTest {
    private static final Path FOLDER =
            Path.of(System.getProperty("chokepoint.root", "../.."), "schemas/golden/scripts");

    static List<String> scripts() {
        return PacketScript.names(FOLDER);
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void aScriptSaysWhatItShowsAndExpects(String name) throws IOException {
        PacketScript script = PacketScript.load(name);

        assertThat(Files.readAllLines(FOLDER.resolve(name + ".pkt")).get(1)).matches("# .+\\.");
        assertThat(script.packets()).hasSizeGreaterThan(4);
        assertThat(script.expectations()).isNotEmpty();
    }

    @Test
    void noTwoScriptsShareTheirEnds() {
        assertThat(scripts())
                .hasSizeGreaterThan(10)
                .flatExtracting(name -> {
                    Flow flow = PacketScript.load(name).flow();
                    return Arrays.asList(flow.a(), flow.b());
                })
                .doesNotHaveDuplicates();
    }
}
