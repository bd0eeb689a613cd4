// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.util.Arrays;

/**
 * One verdict: a flow, a direction, an interval (or the flow's whole life), and the integers of {@link RowField}.
 *
 * <p>Equal inputs give equal rows, bit for bit: that makes writing them twice harmless.
 */
public final class Row {
    /** Not known or not applicable. No column can hold this value otherwise. */
    public static final long NULL = Long.MIN_VALUE;

    /** Which table a row belongs to. */
    public enum Table {
        LIMITATION_INTERVALS,
        FLOWS
    }

    private static final int SIZE = RowField.values().length;

    private final Table table;
    private final FlowIdentity identity;
    private final long[] values;

    /** A row whose values are all {@link #NULL}. */
    public Row(Table table, FlowIdentity identity) {
        this.table = table;
        this.identity = identity;
        this.values = new long[SIZE];
        Arrays.fill(values, NULL);
    }

    /** The table the row belongs to. */
    public Table table() {
        return table;
    }

    /** The flow and tap the row is about. */
    public FlowIdentity identity() {
        return identity;
    }

    /** The stored integer of a column, or {@link #NULL}. */
    public long get(RowField field) {
        return values[field.ordinal()];
    }

    /** Whether the column is {@link #NULL}. */
    public boolean isNull(RowField field) {
        return values[field.ordinal()] == NULL;
    }

    /** Sets the stored integer of a column. */
    public Row set(RowField field, long value) {
        values[field.ordinal()] = value;
        return this;
    }

    /** Sets a label or flag column by its enum constant. */
    public Row set(RowField field, Enum<?> label) {
        return set(field, label.ordinal());
    }

    /** Length of the interval, in ns. */
    public long intervalNanos() {
        return get(RowField.INTERVAL_END) - get(RowField.INTERVAL_START);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Row row
                && table == row.table
                && identity.equals(row.identity)
                && Arrays.equals(values, row.values);
    }

    @Override
    public int hashCode() {
        return 31 * identity.hashCode() + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return table + " " + identity + " " + Arrays.toString(values);
    }
}
