// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.cli.WrongOption;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
    private static final Set<String> NAMES = Set.of("--clickhouse", "--database", "--user", "--password-file", "--n");

    @Test
    void anOptionWinsOverTheEnvironmentAndThatOverTheDefault() throws WrongOption {
        Map<String, String> environment = Map.of("CHOKEPOINT_CLICKHOUSE", "http://env:1");

        assertThat(Settings.parse(NAMES, environment, "--clickhouse=http://opt:1")
                        .access("READER", "r")
                        .url())
                .isEqualTo("http://opt:1");
        assertThat(Settings.parse(NAMES, environment).access("READER", "r").url())
                .isEqualTo("http://env:1");
        assertThat(Settings.parse(NAMES, Map.of()).access("READER", "r").url()).isEqualTo("http://127.0.0.1:18123");
    }

    @Test
    void thePasswordComesFromTheFileThenFromTheEnvironmentThenFromThatOfTheRole(@TempDir Path directory)
            throws WrongOption, IOException {
        String file =
                Files.writeString(directory.resolve("password"), "of file\n").toString();
        Map<String, String> both =
                Map.of("CHOKEPOINT_CLICKHOUSE_PASSWORD", "of all", "CHOKEPOINT_CLICKHOUSE_READER_PASSWORD", "of role");
        Map<String, String> role = Map.of("CHOKEPOINT_CLICKHOUSE_READER_PASSWORD", "of role");

        assertThat(password(both, "--password-file", file)).isEqualTo("of file");
        assertThat(password(both)).isEqualTo("of all");
        assertThat(password(role)).isEqualTo("of role");
    }

    private static String password(Map<String, String> environment, String... args) throws WrongOption {
        return Settings.parse(NAMES, environment, args).access("READER", "r").password();
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', textBlock = """
                    "--nix 1",              "option --nix is not known: expected one of"
                    "--n",                  "option --n has no value"
                    "--n=abc",              "option --n is 'abc': expected a whole number, 1 to 9"
                    "--n=10",               "option --n is '10': expected a whole number, 1 to 9"
                    "--clickhouse=h:1",     "option --clickhouse is 'h:1': expected a URL"
                    "--database=a;b",       "option --database is 'a;b': expected letters, digits and _"
                    "--password-file=/nix", "option --password-file is '/nix': expected a file that can be read"
                    """)
    void aWrongOptionIsOneSentence(String args, String sentence) {
        assertThatThrownBy(() -> {
                    Settings settings = Settings.parse(NAMES, Map.of(), args.split(" "));
                    settings.integer("--n", 1, 9);
                    settings.access("READER", "r");
                })
                .isInstanceOf(WrongOption.class)
                .hasMessageStartingWith(sentence);
    }

    @Test
    void aDeadServerIsOneSentenceWithTheOption() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        assertThatThrownBy(() -> Sql.run(
                        Map.of(),
                        new ByteArrayInputStream(new byte[0]),
                        out,
                        "--clickhouse",
                        "http://127.0.0.1:1",
                        "SELECT 1"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("ClickHouse at http://127.0.0.1:1 does not answer (option --clickhouse): ");
        assertThat(out.size()).isZero();
    }
}
