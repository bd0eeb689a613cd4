// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.FlowKey.Endpoint;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What one tap tells of one direction of a flow in one interval: as much of an interval row as the path needs.
 *
 * <p>Flows meet by their key, not by their name: a piece whose handshake a tap has missed has a name of its own.
 */
public final class PathObservation {
    private static final Observed[] ALL = Observed.values();
    private static final int LOW_SENDS = 1;
    private static final int CLIENT_SENDS = 2;
    private static final int NAMED = 4;

    private final FlowKey key;
    private final boolean lowSends;
    private final long startNanos;
    private final long endNanos;
    private final String tap;
    private final long flowId;
    private final boolean named;
    private final boolean clientSends;
    private final int version;
    private final long[] values;

    private PathObservation(
            FlowKey key,
            int bits,
            long startNanos,
            long endNanos,
            String tap,
            long flowId,
            int version,
            long[] values) {
        this.key = key;
        this.lowSends = (bits & LOW_SENDS) != 0;
        this.clientSends = (bits & CLIENT_SENDS) != 0;
        this.named = (bits & NAMED) != 0;
        this.startNanos = startNanos;
        this.endNanos = endNanos;
        this.tap = tap;
        this.flowId = flowId;
        this.version = version;
        this.values = values;
    }

    /** What an interval row tells; null of any other row. {@code intervalNanos} is the usual length of an interval. */
    public static @Nullable PathObservation of(Row row, long intervalNanos) {
        if (row.table() != Row.Table.LIMITATION_INTERVALS || row.isNull(RowField.DOMAIN)) {
            return null;
        }
        FlowIdentity flow = row.identity();
        Endpoint client = new Endpoint(flow.clientHigh(), flow.clientLow(), flow.clientPort());
        Endpoint server = new Endpoint(flow.serverHigh(), flow.serverLow(), flow.serverPort());
        FlowKey key = FlowKey.between((int) row.get(RowField.DOMAIN), client, server);
        boolean clientSends = row.get(RowField.DIRECTION) == Direction.CLIENT_TO_SERVER.ordinal();
        boolean lowSends = clientSends == (client.compareTo(server) <= 0);
        boolean named = (row.get(RowField.QUALITY) >>> Quality.SYN_MISSED.ordinal() & 1) == 0;
        long startNanos = Math.floorDiv(row.get(RowField.INTERVAL_START), intervalNanos) * intervalNanos;
        return new PathObservation(
                key,
                (lowSends ? LOW_SENDS : 0) | (clientSends ? CLIENT_SENDS : 0) | (named ? NAMED : 0),
                startNanos,
                startNanos + intervalNanos,
                flow.tap(),
                flow.flowId(),
                (int) row.get(RowField.VERSION),
                valuesOf(row));
    }

    private static long[] valuesOf(Row row) {
        long[] values = new long[ALL.length];
        for (Observed observed : ALL) {
            values[observed.ordinal()] = observed.in(row);
        }
        values[Observed.ROWS.ordinal()] = 1;
        values[Observed.OBSERVED_NS.ordinal()] = row.intervalNanos();
        boolean isProven = row.get(RowField.CAPACITY_KIND) == CapacityKind.PROVEN.ordinal();
        values[Observed.CAPACITY.ordinal()] = isProven ? row.get(RowField.CAPACITY_BITS_PER_SECOND) : 0;
        return values;
    }

    /** The flow. */
    public FlowKey key() {
        return key;
    }

    /** Whether the low endpoint of the key sends the data. */
    boolean lowSends() {
        return lowSends;
    }

    /** Begin of the interval, a multiple of its length, in ns since the epoch. */
    public long startNanos() {
        return startNanos;
    }

    /** End of the interval. */
    long endNanos() {
        return endNanos;
    }

    /** Where the flow was seen. */
    public String tap() {
        return tap;
    }

    /** Name of the flow in the row. */
    long flowId() {
        return flowId;
    }

    /** Whether the name is the same at every tap: a SYN or SYN-ACK was seen. */
    boolean isNamed() {
        return named;
    }

    boolean clientSends() {
        return clientSends;
    }

    int version() {
        return version;
    }

    long get(Observed observed) {
        return values[observed.ordinal()];
    }

    /** Whether both are of the same flow, direction and interval. */
    public boolean isBesides(PathObservation other) {
        return startNanos == other.startNanos && lowSends == other.lowSends && key.equals(other.key);
    }

    /** What two observations of one key and interval tell together, under the name of this one. */
    PathObservation with(PathObservation other) {
        long[] merged = new long[ALL.length];
        for (Observed observed : ALL) {
            merged[observed.ordinal()] = observed.merged(get(observed), other.get(observed));
        }
        return new PathObservation(
                key, bits(), startNanos, endNanos, tap, flowId, Math.max(version, other.version), merged);
    }

    private int bits() {
        return (lowSends ? LOW_SENDS : 0) | (clientSends ? CLIENT_SENDS : 0) | (named ? NAMED : 0);
    }

    /** Writes all but key and tap, which stand elsewhere. */
    public void writeTo(DataOutput out) throws IOException {
        out.writeByte(bits());
        Varint.write(out, startNanos);
        Varint.write(out, endNanos - startNanos);
        out.writeLong(flowId);
        Varint.write(out, version);
        Varint.writeSparse(out, values);
    }

    /** Reads what {@link #writeTo} wrote. */
    public static PathObservation readFrom(DataInput in, FlowKey key, String tap) throws IOException {
        int bits = in.readByte();
        long startNanos = Varint.read(in);
        long endNanos = startNanos + Varint.read(in);
        long flowId = in.readLong();
        int version = Varint.readInt(in);
        long[] values = new long[ALL.length];
        Varint.readSparse(in, values);
        return new PathObservation(key, bits, startNanos, endNanos, tap, flowId, version, values);
    }
}
