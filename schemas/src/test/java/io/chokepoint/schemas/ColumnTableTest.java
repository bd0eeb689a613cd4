// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Columns are outside of what Avro checks: their table in README.md may only grow at its end. */
class ColumnTableTest {
    private static final List<String> TABLE = tableOf(Schemas.text(Schemas.ROOT.resolve("README.md")));

    static List<Path> releases() {
        return Schemas.released("columns.tsv");
    }

    @ParameterizedTest
    @MethodSource("releases")
    void noReleasedColumnChanges(Path release) {
        assertThat(TABLE).containsAll(frozen(release));
    }

    @Test
    void idsAreUnique() {
        assertThat(TABLE.stream().map(row -> row.split("\t")[0]))
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(16);
    }

    @Test
    void aColumnMayComeButNoneMayGoOrChange() {
        String readme = Schemas.text(Schemas.ROOT.resolve("README.md"));
        List<String> released = frozen(releases().get(0));

        assertThat(tableOf(readme + "\n| 18 | `urgent_pointer` | n | varint |\n"))
                .containsAll(released);
        assertThat(tableOf(readme.replace("| 8 | `window_field`", "| 18 | `window_field`"))
                        .containsAll(released))
                .isFalse();
        assertThat(tableOf(readme.replaceAll("(?m)^\\| 9 .*$", "")).containsAll(released))
                .isFalse();
    }

    private static List<String> tableOf(String readme) {
        return readme.lines()
                .filter(line -> line.matches("\\| \\d+ \\|.*\\|"))
                .map(line -> String.join(
                        "\t",
                        Arrays.stream(line.split("\\|"))
                                .skip(1)
                                .map(String::strip)
                                .toList()))
                .toList();
    }

    private static List<String> frozen(Path release) {
        return Schemas.text(release)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }
}
