// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.BottleneckGroup.Member;
import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.RowField;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holds the names of the columns to be the same in JSON, in the views and in {@code docs/rows.md}. After a change of the
 * views, {@code mvn test -Dtest=RowsPageTest -Dchokepoint.write=true} writes the page anew.
 */
class RowsPageTest {
    private static final Path ROOT = Path.of(System.getProperty("chokepoint.root", "../.."));
    private static final Path PAGE = ROOT.resolve("docs/rows.md");
    private static final Pattern COLUMN =
            Pattern.compile("^    ([a-z0-9_]+) (\\S.*?) COMMENT '((?:[^'\\\\]|\\\\.|'')*)',?$", Pattern.MULTILINE);
    private static final String TABLE_START = "| column | meaning |\n|---|---|\n";

    @ParameterizedTest
    @ValueSource(strings = {"V003__limitation_intervals.sql", "V004__flows.sql"})
    void viewsHaveTheColumnsOfJson(String view) throws IOException {
        assertThat(comments(view).keySet())
                .containsExactlyElementsOf(
                        RowValues.SEEN_FIELDS.stream().map(RowField::seenName).toList());
    }

    @Test
    void thePageHasTheCommentsOfTheViews() throws IOException {
        String table = comments("V003__limitation_intervals.sql").entrySet().stream()
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

    @Test
    void groupsHaveTheColumnsOfJson() throws IOException {
        BottleneckGroup group = new BottleneckGroup(
                "leaf1",
                0,
                1,
                1,
                BottleneckSide.AFTER_TAP,
                1,
                CapacityKind.PROVEN,
                1,
                1,
                1,
                List.of(new Member(1, Direction.CLIENT_TO_SERVER, 1, List.of())));
        Map<String, Object> json = GroupValues.of(group);
        json.remove("record");
        Map<String, String> view = comments("V033__bottleneck_groups.sql");

        assertThat(view.keySet()).containsExactlyElementsOf(json.keySet());
        assertThat(Files.readString(ROOT.resolve("docs/groups.md")))
                .endsWith(view.entrySet().stream()
                        .map(column -> "| `" + column.getKey() + "` | " + column.getValue() + " |\n")
                        .collect(Collectors.joining("", TABLE_START, "")));
    }

    private static Map<String, String> comments(String view) throws IOException {
        Map<String, String> comments = new LinkedHashMap<>();
        Matcher matcher = COLUMN.matcher(
                Files.readString(ROOT.resolve("schemas/clickhouse").resolve(view)));
        while (matcher.find()) {
            comments.put(matcher.group(1), matcher.group(3).replace("\\'", "'").replace("''", "'"));
        }
        return comments;
    }
}
