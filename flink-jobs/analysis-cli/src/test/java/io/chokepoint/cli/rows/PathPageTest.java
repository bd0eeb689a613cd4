// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.path.PathField;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Holds the columns of paths to be the same in JSON, in the view and in {@code docs/path.md}. After a change of the view,
 * {@code mvn test -Dtest=PathPageTest -Dchokepoint.write=true} writes the page anew.
 */
class PathPageTest {
    private static final Path ROOT = Path.of(System.getProperty("chokepoint.root", "../.."));
    private static final Path PAGE = ROOT.resolve("docs/path.md");
    private static final Path VIEW = ROOT.resolve("schemas/clickhouse/V031__flow_path_intervals.sql");
    private static final Pattern COLUMN =
            Pattern.compile("^    ([a-z0-9_]+) (\\S.*?) COMMENT '((?:[^'\\\\]|\\\\.)*)',?$", Pattern.MULTILINE);
    private static final String TABLE_START = "| column | meaning |\n|---|---|\n";

    @Test
    void theViewHasTheColumnsOfJson() throws IOException {
        assertThat(comments().keySet())
                .containsExactlyElementsOf(Arrays.stream(PathField.values())
                        .map(PathField::seenName)
                        .toList());
    }

    @Test
    void thePageHasTheCommentsOfTheView() throws IOException {
        String table = comments().entrySet().stream()
                .map(column -> "| `" + column.getKey() + "` | " + column.getValue() + " |\n")
                .collect(Collectors.joining("", TABLE_START, ""));
        String page = Files.readString(PAGE);
        String expected = page.substring(0, page.indexOf(TABLE_START)) + table;
        if (Boolean.getBoolean("chokepoint.write")) {
            Files.writeString(PAGE, expected);
            return;
        }

        assertThat(page).isEqualTo(expected);
    }

    private static Map<String, String> comments() throws IOException {
        Map<String, String> comments = new LinkedHashMap<>();
        Matcher matcher = COLUMN.matcher(Files.readString(VIEW));
        while (matcher.find()) {
            comments.put(matcher.group(1), matcher.group(3).replace("\\'", "'"));
        }
        return comments;
    }
}
