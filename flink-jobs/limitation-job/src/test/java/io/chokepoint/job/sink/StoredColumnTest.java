// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.Quality;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds what the job writes to the migrations in schemas/clickhouse. */
class StoredColumnTest {
    private static final String ROWS = "V001__limitation_intervals_stored.sql";
    private static final String MINUTES = "V024__limitation_minutes_stored.sql";
    private static final Pattern COLUMN = Pattern.compile("^    ([a-z0-9_]+) (\\S.*)$", Pattern.MULTILINE);
    private static final Pattern QUALITY = Pattern.compile("Unit: bits: ([^.]*)\\.");
    private static final Pattern SENTENCES = Pattern.compile("\\[\\n(.*?)\\n\\s*\\]", Pattern.DOTALL);
    private static final Pattern QUOTED = Pattern.compile("'((?:[^'\\\\]|\\\\.)*)'");

    @Test
    void theRowTablesHaveTheColumnsInTheOrderOfTheBytes() {
        assertThat(written(ROWS)).containsExactlyElementsOf(StoredColumn.names());
        assertThat(sql("V002__flows_stored.sql")).contains("flows_stored AS limitation_intervals_stored");
    }

    @Test
    void theirTypesAreThoseOfTheBytes() {
        Map<String, String> types = columns(ROWS);
        Map<String, String> expected = new LinkedHashMap<>();
        StoredColumn.ALL.forEach(column -> expected.put(column.name(), type(column)));

        Map<String, String> actual = new LinkedHashMap<>();
        expected.keySet().forEach(name -> actual.put(name, types.get(name)));

        assertThat(actual).containsExactlyEntriesOf(expected);
    }

    @Test
    void theTableOfMinutesHasTheColumnsAndTypesOfTheBytes() {
        Map<String, String> types = columns(MINUTES);
        Map<String, String> intervals = columns(ROWS);

        assertThat(written(MINUTES)).containsExactlyElementsOf(Table.LIMITATION_MINUTES.columns());
        assertThat(sql(MINUTES)).contains("CREATE TABLE IF NOT EXISTS limitation_minutes_stored\n");
        assertThat(StoredColumn.IDENTITY)
                .allSatisfy(name -> assertThat(types.get(name)).as(name).isEqualTo(intervals.get(name)));
        assertThat(types)
                .containsEntry("direction", intervals.get("direction"))
                .containsEntry("minute", intervals.get("interval_start"))
                .containsEntry("version", intervals.get("version"));
        assertThat(MinuteColumn.ALL).allSatisfy(column -> {
            String type = column.type().sql();
            assertThat(types.get(column.field().columnName()))
                    .as(column.field().columnName())
                    .isEqualTo(column.nullable() ? "Nullable(" + type + ")" : type);
        });
    }

    private static String type(StoredColumn column) {
        String type = column.type().sql();
        if (column.type() == StoredColumn.Type.ENUM8) {
            List<String> labels = labels(column);
            type += IntStream.range(0, labels.size())
                    .mapToObj(i -> "'" + labels.get(i) + "' = " + i)
                    .collect(Collectors.joining(", ", "(", ")"));
        }
        return column.nullable() ? "Nullable(" + type + ")" : type;
    }

    private static List<String> labels(StoredColumn column) {
        return switch (column.field()) {
            case EVIDENCE_RULE -> names(EvidenceRule.values());
            case ADVICE_RULE -> names(AdviceRule.values());
            default -> column.field().labels();
        };
    }

    private static List<String> names(Enum<?>[] constants) {
        return Arrays.stream(constants)
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    @Test
    void theBitsOfQualityAreThoseOfTheEnum() {
        Matcher bits = QUALITY.matcher(sql(ROWS));
        assertThat(bits.find()).isTrue();

        List<String> names = names(Quality.values());
        assertThat(bits.group(1))
                .isEqualTo(IntStream.range(0, names.size())
                        .mapToObj(i -> i + " " + names.get(i))
                        .collect(Collectors.joining(", ")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"V003__limitation_intervals.sql", "V004__flows.sql"})
    void theViewsSayTheSentencesOfTheEnums(String view) {
        String sql = sql(view);
        List<List<String>> lists = new ArrayList<>();
        Matcher list = SENTENCES.matcher(sql);
        while (list.find()) {
            lists.add(quoted(list.group(1)));
        }

        assertThat(lists)
                .containsExactly(
                        Arrays.stream(EvidenceRule.values())
                                .map(EvidenceRule::template)
                                .toList(),
                        Arrays.stream(AdviceRule.values())
                                .map(AdviceRule::template)
                                .toList());
        assertThat(sql)
                .contains(names(Quality.values()).stream().collect(Collectors.joining("', '", "['", "'][bit + 1]")));
    }

    private static List<String> quoted(String list) {
        return QUOTED.matcher(list)
                .results()
                .map(match -> match.group(1).replace("\\'", "'"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "PROBE_COUNTERS, V005__probe_counters_stored.sql",
        "LEDGER,         V007__ledger_stored.sql",
        "REJECTED_ROWS,  V009__rejected_rows.sql",
        "LEDGER_RANGES,  V010__ledger_ranges_stored.sql",
    })
    void theOtherTablesHaveTheColumnsInTheOrderOfTheBytes(Table table, String migration) {
        assertThat(written(migration)).containsExactlyElementsOf(table.columns());
        assertThat(sql(migration)).contains("CREATE TABLE IF NOT EXISTS " + table.tableName() + "\n");
    }

    @Test
    void groupsHaveTheColumnsInTheOrderOfTheBytes() {
        List<String> written = new ArrayList<>(written("V020__bottleneck_groups_stored.sql"));
        assertThat(sql("V032__bottleneck_groups_tenants.sql"))
                .contains("ALTER TABLE bottleneck_groups_stored\n    ADD COLUMN IF NOT EXISTS tenants Array(");
        written.add("tenants");

        assertThat(written).containsExactlyElementsOf(Table.BOTTLENECK_GROUPS.columns());
    }

    /** Names of the columns that an insert fills. */
    private static List<String> written(String migration) {
        return columns(migration).entrySet().stream()
                .filter(column -> !column.getValue().contains("MATERIALIZED"))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static Map<String, String> columns(String migration) {
        Map<String, String> columns = new LinkedHashMap<>();
        Matcher column = COLUMN.matcher(sql(migration));
        while (column.find()) {
            columns.put(column.group(1), column.group(2));
        }
        return columns;
    }

    private static String sql(String migration) {
        try {
            return Files.readString(Path.of(System.getProperty("chokepoint.root"), "schemas/clickhouse", migration));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
