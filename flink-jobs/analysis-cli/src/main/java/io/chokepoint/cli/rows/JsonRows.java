// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.Map;

/** One JSON object a line: the rows, then the ledger. */
public final class JsonRows implements RowWriter {
    private final Output out;
    private final StringBuilder line = new StringBuilder();

    public JsonRows(Output out) {
        this.out = out;
    }

    @Override
    public void row(Row row) {
        line.setLength(0);
        line.append("{\"record\":\"").append(RowValues.record(row)).append('"');
        for (RowField field : RowValues.SEEN_FIELDS) {
            line.append(",\"").append(field.seenName()).append("\":");
            JsonText.append(line, RowValues.of(row, field));
        }
        out.line(line.append('}'));
    }

    @Override
    public void group(BottleneckGroup group) {
        line.setLength(0);
        JsonText.append(line, GroupValues.of(group));
        out.line(line);
    }

    @Override
    public void path(PathRow row) {
        line.setLength(0);
        line.append("{\"record\":\"").append(PathValues.RECORD).append('"');
        for (PathField field : PathField.values()) {
            line.append(",\"").append(field.seenName()).append("\":");
            JsonText.append(line, PathValues.of(row, field));
        }
        out.line(line.append('}'));
    }

    @Override
    public void end(Map<String, ?> ledger) {
        line.setLength(0);
        JsonText.append(line, ledger);
        out.line(line);
    }
}
