// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A field without unit and range is a field that two hands read differently. */
class SchemaDocumentationTest {
    private static final Pattern UNIT = Pattern.compile("Unit: \\S.*\\.$");

    static List<Path> schemas() {
        return Schemas.all();
    }

    @ParameterizedTest
    @MethodSource("schemas")
    void everyFieldSaysItsUnitAndEveryTypeWhatItIs(Path path) {
        assertThat(gapsOf(Schemas.parse(path))).isEmpty();
    }

    @Test
    void aMissingDocIsFoundAtAnyDepth() {
        Schema schema = Schemas.parse("""
                {"type": "record", "name": "R", "doc": "A record.", "fields": [
                  {"name": "good", "type": "int", "doc": "Unit: ns."},
                  {"name": "bad", "type": "int", "doc": "No unit."},
                  {"name": "list", "doc": "Unit: list.", "type": {"type": "array", "items":
                    {"type": "record", "name": "S", "fields": [
                      {"name": "inner", "type": ["null", {"type": "enum", "name": "E", "symbols": ["A"]}]}]}}}]}
                """);

        assertThat(gapsOf(schema)).containsExactly("R.bad: unit", "S: doc", "S.inner: unit", "E: doc", "E: default");
    }

    private static List<String> gapsOf(Schema schema) {
        List<String> gaps = new ArrayList<>();
        collectGaps(schema, gaps);
        return gaps;
    }

    private static void collectGaps(Schema schema, List<String> gaps) {
        switch (schema.getType()) {
            case RECORD -> {
                requireDoc(schema, gaps);
                schema.getFields().forEach(field -> {
                    if (field.doc() == null || !UNIT.matcher(field.doc()).find()) {
                        gaps.add(schema.getName() + "." + field.name() + ": unit");
                    }
                    collectGaps(field.schema(), gaps);
                });
            }
            case ENUM -> {
                requireDoc(schema, gaps);
                if (!schema.getEnumSymbols().get(0).equals(schema.getEnumDefault())) {
                    gaps.add(schema.getName() + ": default"); // what an older reader makes of a newer symbol
                }
            }
            case ARRAY -> collectGaps(schema.getElementType(), gaps);
            case MAP -> collectGaps(schema.getValueType(), gaps);
            case UNION -> schema.getTypes().forEach(branch -> collectGaps(branch, gaps));
            default -> {} // the field documents a primitive type
        }
    }

    private static void requireDoc(Schema schema, List<String> gaps) {
        if (schema.getDoc() == null || schema.getDoc().isBlank()) {
            gaps.add(schema.getName() + ": doc");
        }
    }
}
