// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.analysis.row.MinuteField;
import io.chokepoint.analysis.row.MinuteRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of the table of minutes: how the integer of a {@link MinuteField} is laid in RowBinary. The order is that of the
 * fields, behind the columns of the identity and {@link #KEY}; a test holds names and types to the migrations.
 *
 * @param nullable whether 0 is written as NULL
 */
record MinuteColumn(MinuteField field, StoredColumn.Type type, boolean nullable) {
    /** The columns between the identity and the sums. */
    static final List<String> KEY = List.of("direction", "minute", "version");

    static final List<MinuteColumn> ALL =
            Arrays.stream(MinuteField.values()).map(MinuteColumn::of).toList();

    /** Names of all columns that are written. */
    static List<String> names() {
        List<String> names = new ArrayList<>(StoredColumn.IDENTITY);
        names.addAll(KEY);
        ALL.forEach(column -> names.add(column.field.columnName()));
        return List.copyOf(names);
    }

    private static MinuteColumn of(MinuteField field) {
        return switch (field) {
            case INTERVALS, DATA_PACKETS, REORDERED_PACKETS, LOSS_EVENTS, ECN_CE_PACKETS, RTT_SAMPLES, QUALITY_FLAGS ->
                new MinuteColumn(field, StoredColumn.Type.UINT32, false);
            case RTT_MIN_NS -> new MinuteColumn(field, StoredColumn.Type.UINT64, true);
            default -> new MinuteColumn(field, StoredColumn.Type.UINT64, false);
        };
    }

    /** Appends the value of a row; null if it fits, else why it does not. */
    @Nullable
    String put(MinuteRow row, RowBinary out) {
        long value = row.get(field);
        String refusal = type.refusal(value);
        if (refusal != null) {
            return field.columnName() + " is " + refusal;
        }
        if (nullable) {
            out.putByte(value == 0 ? 1 : 0);
        }
        if (!nullable || value != 0) {
            type.put(value, out);
        }
        return null;
    }
}
