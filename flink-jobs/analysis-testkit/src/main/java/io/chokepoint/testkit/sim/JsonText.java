// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** JSON of maps, lists, numbers, booleans and plain texts. */
final class JsonText {
    private JsonText() {}

    static String of(@Nullable Object value) {
        return of(value, "\n");
    }

    private static String of(@Nullable Object value, String newLine) {
        String inner = newLine + " ";
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> quoted(entry.getKey().toString()) + ": " + of(entry.getValue(), inner))
                    .collect(Collectors.joining("," + inner, "{" + inner, newLine + "}"));
        }
        if (value instanceof List<?> list) {
            return list.isEmpty()
                    ? "[]"
                    : list.stream()
                            .map(each -> of(each, inner))
                            .collect(Collectors.joining("," + inner, "[" + inner, newLine + "]"));
        }
        return value instanceof String text ? quoted(text) : String.valueOf(value);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
