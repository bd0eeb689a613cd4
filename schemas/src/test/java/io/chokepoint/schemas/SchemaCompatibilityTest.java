// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.schemas;

import static org.apache.avro.SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.SegmentBatchReader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaNormalization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Probes and jobs are never all updated at once: both ways, to every release, and for good. */
class SchemaCompatibilityTest {
    private static final String PROBE_FIELD = "{\"name\": \"probe\", \"type\": \"string\",";

    static List<Path> releases() {
        return Schemas.released("segment_batch.avsc");
    }

    @ParameterizedTest
    @MethodSource("releases")
    void everyReleaseReadsTodaysBytesAndTodayReadsTheirs(Path release) {
        assertThat(problems(Schemas.parse(release), Schemas.parse(Schemas.CURRENT)))
                .isEmpty();
    }

    @Test
    void thereIsARelease() {
        assertThat(releases()).isNotEmpty();
    }

    /** The reader by hand knows one layout: that of the newest release, which is today's. */
    @Test
    void theReaderByHandReadsTheNewestRelease() {
        Path newest = releases().get(releases().size() - 1);

        assertThat(SchemaNormalization.parsingFingerprint64(Schemas.parse(newest)))
                .isEqualTo(SchemaNormalization.parsingFingerprint64(Schemas.parse(Schemas.CURRENT)))
                .isEqualTo(SegmentBatchReader.FINGERPRINT);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a field with a default may come, true, '{\"name\": \"rack\", \"type\": \"int\", \"default\": 0},'",
        "a field without may not,         false, '{\"name\": \"rack\", \"type\": \"int\"},'",
    })
    void fieldsThatCome(String rule, boolean allowed, String field) {
        String current = Schemas.text(Schemas.CURRENT);
        Schema changed = Schemas.parse(current.replace(PROBE_FIELD, field + PROBE_FIELD));

        assertThat(problems(Schemas.parse(current), changed).isEmpty()).as(rule).isEqualTo(allowed);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a field without a default may not go, false, domain",
        "a field with a default may go,        true,  vlan_id",
        "not even the last one may,            false, columns",
    })
    void fieldsThatGo(String rule, boolean allowed, String field) {
        Schema current = Schemas.parse(Schemas.CURRENT);
        Schema run = current.getField("runs").schema().getElementType();

        assertThat(problems(run, without(run, field)).isEmpty()).as(rule).isEqualTo(allowed);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a name may not change,           false, '\"name\": \"worker\"', '\"name\": \"thread\"'",
        "a type may not change,           false, '\"name\": \"worker\", \"type\": \"int\"', '\"name\": \"worker\", \"type\": \"string\"'",
        "nor may it grow,                 false, '\"name\": \"worker\", \"type\": \"int\"', '\"name\": \"worker\", \"type\": \"long\"'",
        "a symbol may come,               true,  '\"SHED\"]', '\"SHED\", \"PAUSED\"]'",
        "a doc may change,                true,  'Name of the probe', 'The name of the probe'",
    })
    void otherChanges(String rule, boolean allowed, String before, String after) {
        String current = Schemas.text(Schemas.CURRENT);
        assertThat(current).contains(before);
        Schema changed = Schemas.parse(current.replace(before, after));

        assertThat(problems(Schemas.parse(current), changed).isEmpty()).as(rule).isEqualTo(allowed);
    }

    private static List<String> problems(Schema released, Schema current) {
        return Stream.of(
                        SchemaCompatibility.checkReaderWriterCompatibility(current, released),
                        SchemaCompatibility.checkReaderWriterCompatibility(released, current))
                .filter(pair -> pair.getType() != COMPATIBLE)
                .map(SchemaCompatibility.SchemaPairCompatibility::getDescription)
                .toList();
    }

    private static Schema without(Schema record, String name) {
        List<Schema.Field> kept = record.getFields().stream()
                .filter(field -> !field.name().equals(name))
                .map(field -> new Schema.Field(field, field.schema()))
                .toList();
        return Schema.createRecord(record.getName(), record.getDoc(), record.getNamespace(), false, kept);
    }
}
