// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Comma-separated values (RFC 4180) under a line of names; what is not known is empty. */
public final class CsvRows implements RowWriter {
    private final Output out;
    private final StringBuilder line = new StringBuilder();
    private boolean pathsBegun;

    public CsvRows(Output out) {
        this.out = out;
        out.line(
                RowValues.SEEN_FIELDS.stream().map(RowField::seenName).collect(Collectors.joining(",", "record,", "")));
    }

    @Override
    public void row(Row row) {
        line.setLength(0);
        line.append(RowValues.record(row));
        for (RowField field : RowValues.SEEN_FIELDS) {
            line.append(',').append(cell(RowValues.of(row, field)));
        }
        out.line(line);
    }

    /** Rows of paths have columns of their own: they follow behind an empty line, under a line of their names. */
    @Override
    public void path(PathRow row) {
        if (!pathsBegun) {
            pathsBegun = true;
            out.line("");
            out.line(Arrays.stream(PathField.values())
                    .map(PathField::seenName)
                    .collect(Collectors.joining(",", "record,", "")));
        }
        line.setLength(0);
        line.append(PathValues.RECORD);
        for (PathField field : PathField.values()) {
            Object value = PathValues.of(row, field);
            line.append(',').append(cell(value instanceof List<?> list ? joined(list) : value));
        }
        out.line(line);
    }

    /** A list in one cell. */
    private static String joined(List<?> list) {
        return list.stream()
                .map(item ->
                        item == null ? "" : item instanceof Double number ? NumberText.of(number) : item.toString())
                .collect(Collectors.joining(";"));
    }

    private static String cell(@Nullable Object value) {
        if (value == null) {
            return "";
        }
        String text = value instanceof Double number ? NumberText.of(number) : value.toString();
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    /** Does nothing: groups have other columns. */
    @Override
    public void group(BottleneckGroup group) {}

    /** Does nothing: the books are no row of this table. */
    @Override
    public void end(Map<String, ?> ledger) {}
}
