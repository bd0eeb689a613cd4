// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import java.util.Arrays;
import java.util.List;

/**
 * One flow, direction and interval at all taps that saw it. A row with more {@link PathField#OBSERVATIONS} replaces one with
 * fewer; equal observations give equal rows, bit for bit, in whatever order they come.
 */
public final class PathRow {
    private static final int SIZE = PathField.values().length;
    private static final int REVISION_BITS = 32;

    private final FlowIdentity identity;
    private final long[] values = new long[SIZE];
    private final long[][] lists = new long[SIZE][];
    private final List<String> taps;
    private final String limitFrom;
    private final String limitTo;

    /** A row whose numbers are all {@link Row#NULL}; of the identity tap, VLAN and tunnel do not count. */
    PathRow(FlowIdentity identity, List<String> taps, String limitFrom, String limitTo) {
        this.identity = identity;
        this.taps = List.copyOf(taps);
        this.limitFrom = limitFrom;
        this.limitTo = limitTo;
        Arrays.fill(values, Row.NULL);
        Arrays.fill(lists, new long[0]);
    }

    PathRow set(PathField field, long value) {
        values[field.ordinal()] = value;
        return this;
    }

    PathRow set(PathField field, Enum<?> label) {
        return set(field, label.ordinal());
    }

    PathRow set(PathField field, long[] list) {
        lists[field.ordinal()] = list;
        return this;
    }

    /** The flow and its ends. */
    public FlowIdentity identity() {
        return identity;
    }

    /** A stored integer, or {@link Row#NULL}. */
    public long get(PathField field) {
        return values[field.ordinal()];
    }

    /** Whether the column is {@link Row#NULL}. */
    public boolean isNull(PathField field) {
        return get(field) == Row.NULL;
    }

    /** A list of stored integers, each may be {@link Row#NULL}. */
    public long[] list(PathField field) {
        return lists[field.ordinal()].clone();
    }

    /** The taps in the order in which the data pass them. */
    public List<String> taps() {
        return taps;
    }

    /** A text: whose an end is; the tap that the segment begins or ends at, empty at the end of the path. */
    public String text(PathField field) {
        return switch (field) {
            case CLIENT_TENANT -> identity.clientTenant();
            case SERVER_TENANT -> identity.serverTenant();
            case LIMIT_FROM -> limitFrom;
            case LIMIT_TO -> limitTo;
            default -> throw new IllegalArgumentException("no text: " + field);
        };
    }

    /** Length of the interval, in ns. */
    public long intervalNanos() {
        return get(PathField.INTERVAL_END) - get(PathField.INTERVAL_START);
    }

    /** Of two rows with the same path and interval the higher one counts. */
    public long revision() {
        return get(PathField.VERSION) << REVISION_BITS | get(PathField.OBSERVATIONS);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PathRow row
                && identity.equals(row.identity)
                && taps.equals(row.taps)
                && limitFrom.equals(row.limitFrom)
                && limitTo.equals(row.limitTo)
                && Arrays.equals(values, row.values)
                && Arrays.deepEquals(lists, row.lists);
    }

    @Override
    public int hashCode() {
        return 31 * identity.hashCode() + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return identity + " " + taps + " " + limitFrom + ".." + limitTo + " " + Arrays.toString(values) + " "
                + Arrays.deepToString(lists);
    }
}
