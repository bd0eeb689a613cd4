// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.util.Arrays;

/**
 * The sum of the interval rows of one flow, tap and direction that begin in one minute. Equal inputs give equal rows.
 *
 * <p>Times are ns, so that shares over any set of rows stay right; there are no percentiles, as these cannot be added.
 */
public final class MinuteRow {
    private final FlowIdentity identity;
    private final Direction direction;
    private final long startNanos;
    private final int version;
    private final long[] values;

    /**
     * @param startNanos begin of the minute, ns since the epoch
     * @param version analysis generation
     * @param values in the order of {@link MinuteField}; the row's to keep
     */
    public MinuteRow(FlowIdentity identity, Direction direction, long startNanos, int version, long[] values) {
        this.identity = identity;
        this.direction = direction;
        this.startNanos = startNanos;
        this.version = version;
        this.values = values;
    }

    /** The flow and tap the row is about. */
    public FlowIdentity identity() {
        return identity;
    }

    /** Where the data goes. */
    public Direction direction() {
        return direction;
    }

    /** Begin of the minute, ns since the epoch. */
    public long startNanos() {
        return startNanos;
    }

    /** Analysis generation. */
    public int version() {
        return version;
    }

    /** The value of a column; never NULL. */
    public long get(MinuteField field) {
        return values[field.ordinal()];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MinuteRow row
                && identity.equals(row.identity)
                && direction == row.direction
                && startNanos == row.startNanos
                && version == row.version
                && Arrays.equals(values, row.values);
    }

    @Override
    public int hashCode() {
        return 31 * identity.hashCode() + Long.hashCode(startNanos) + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return "MINUTE " + identity + " " + direction + " " + startNanos + " " + Arrays.toString(values);
    }
}
