// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Holds what the job writes of paths to the migration. */
class PathRowEncoderTest {
    private static final Pattern COLUMN = Pattern.compile("^    ([a-z0-9_]+) (\\S.*)$", Pattern.MULTILINE);
    private static final Pattern ADDED = Pattern.compile("ADD COLUMN IF NOT EXISTS ([a-z0-9_]+) (\\S+) COMMENT");

    @Test
    void theTableHasTheColumnsAndTypesOfTheBytes() throws IOException {
        Map<String, String> expected = new LinkedHashMap<>();
        Arrays.stream(PathField.values()).forEach(field -> expected.put(field.storedName(), sqlType(field)));
        expected.put(PathRowEncoder.REVISION, "UInt64");

        assertThat(columns()).containsExactlyInAnyOrderEntriesOf(expected);
        assertThat(PathRowEncoder.names()).containsExactlyElementsOf(expected.keySet());
    }

    private static String sqlType(PathField field) {
        return switch (field.kind()) {
            case HEX -> "FixedString(16)";
            case ADDRESS -> "IPv6";
            case TEXT -> "LowCardinality(String)";
            case TEXTS -> "Array(LowCardinality(String))";
            case LABEL, LABEL_OR_NULL -> nullable(field, "Enum8" + labels(field));
            case INTEGER_LIST, SCALED_LIST ->
                "Array(" + nullable(field, PathRowEncoder.typeOf(field).sql()) + ")";
            default -> nullable(field, PathRowEncoder.typeOf(field).sql());
        };
    }

    private static String nullable(PathField field, String type) {
        return PathRowEncoder.isNullable(field) ? "Nullable(" + type + ")" : type;
    }

    private static String labels(PathField field) {
        return IntStream.range(0, field.labels().size())
                .mapToObj(i -> "'" + field.labels().get(i) + "' = " + i)
                .collect(Collectors.joining(", ", "(", ")"));
    }

    private static Map<String, String> columns() throws IOException {
        Map<String, String> columns = new LinkedHashMap<>();
        Matcher column = COLUMN.matcher(sql("V016__flow_path_intervals_stored.sql"));
        while (column.find()) {
            if (!column.group(2).contains("MATERIALIZED")) {
                columns.put(column.group(1), column.group(2));
            }
        }
        Matcher added = ADDED.matcher(sql("V030__flow_path_intervals_tenants.sql"));
        while (added.find()) {
            columns.put(added.group(1), added.group(2));
        }
        return columns;
    }

    private static String sql(String migration) throws IOException {
        return Files.readString(Path.of(System.getProperty("chokepoint.root"), "schemas/clickhouse", migration));
    }
}
