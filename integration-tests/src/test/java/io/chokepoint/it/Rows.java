// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;

/** Rows as texts that are equal exactly if every column is equal, bit for bit; in one order whoever wrote them. */
final class Rows {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> KEY =
            List.of("record", "tap", "flow_id", "direction", "interval_start", "window_start", "group_id");

    private Rows() {}

    /** Parses one line of JSON. */
    static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON: " + line, e);
        }
    }

    /** The rows among JSON lines, without the ledger, each as {@code name=value} texts, in the order of their keys. */
    static List<Map<String, String>> of(List<String> jsonLines) {
        List<Map<String, String>> rows = new ArrayList<>();
        for (String line : jsonLines) {
            JsonNode node = parse(line);
            if (!node.path("record").asText().equals("ledger")) {
                rows.add(columns(node));
            }
        }
        rows.sort(
                Comparator.comparing(row -> KEY.stream().map(row::get).toList().toString()));
        return rows;
    }

    /** The last line of {@code analyze --format json}. */
    static JsonNode ledger(List<String> jsonLines) {
        JsonNode last = parse(jsonLines.get(jsonLines.size() - 1));
        if (!last.path("record").asText().equals("ledger")) {
            throw new AssertionError("the last line is no ledger: " + last);
        }
        return last;
    }

    private static Map<String, String> columns(JsonNode row) {
        Map<String, String> columns = new LinkedHashMap<>();
        row.properties().forEach(column -> columns.put(column.getKey(), text(column.getValue())));
        return columns;
    }

    /** Numbers by their bits: 0.1 and 0.10 are one, 0.1 and the next double are two. */
    private static String text(JsonNode value) {
        if (value.isArray()) {
            return StreamSupport.stream(value.spliterator(), false)
                    .map(Rows::text)
                    .toList()
                    .toString();
        }
        if (!value.isNumber()) {
            return value.isNull() ? "null" : '"' + value.asText() + '"';
        }
        double number = value.asDouble();
        boolean exact = value.isIntegralNumber() && Math.abs(value.asLong()) > 1L << 53;
        return exact ? value.asText() : Double.toHexString(number);
    }
}
