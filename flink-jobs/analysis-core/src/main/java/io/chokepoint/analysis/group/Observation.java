// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One second of one direction of a flow in which a queue stood: all that is needed to tell with whom it shared the queue.
 * There is at most one for a flow, direction and second at a tap. Whose the ends are is a name tag: two that differ in
 * nothing else are equal.
 */
public final class Observation {
    /** Whom a bound on their number leaves: the largest, then by name, so that the order in which they came is forgotten. */
    static final Comparator<Observation> LARGEST_FIRST = Comparator.comparingLong(Observation::layerBytes)
            .reversed()
            .thenComparing(Observation::flowId, Long::compareUnsigned)
            .thenComparing(Observation::direction);

    private static final int TENANTS_SHIFT = 2;

    private final long flowId;
    private final Direction direction;
    private final long startNanos;
    private final BottleneckSide side;
    private final long layerBytes;
    private final long capacityBitsPerSecond;
    private final long queueNanos;
    private final int[] delaysMicros;
    private final List<String> tenants;

    Observation(
            long flowId,
            Direction direction,
            long startNanos,
            BottleneckSide side,
            long layerBytes,
            long capacityBitsPerSecond,
            long queueNanos,
            int[] delaysMicros) {
        this(
                flowId,
                direction,
                startNanos,
                side,
                layerBytes,
                capacityBitsPerSecond,
                queueNanos,
                delaysMicros,
                List.of());
    }

    private Observation(
            long flowId,
            Direction direction,
            long startNanos,
            BottleneckSide side,
            long layerBytes,
            long capacityBitsPerSecond,
            long queueNanos,
            int[] delaysMicros,
            List<String> tenants) {
        this.flowId = flowId;
        this.direction = direction;
        this.startNanos = startNanos;
        this.side = side;
        this.layerBytes = layerBytes;
        this.capacityBitsPerSecond = capacityBitsPerSecond;
        this.queueNanos = queueNanos;
        this.delaysMicros = delaysMicros;
        this.tenants = tenants;
    }

    /** The same, of a flow between these ends, each empty if it is nobody's. */
    public Observation between(String clientTenant, String serverTenant) {
        TreeSet<String> names = new TreeSet<>(List.of(clientTenant));
        names.add(serverTenant);
        names.remove("");
        return new Observation(
                flowId,
                direction,
                startNanos,
                side,
                layerBytes,
                capacityBitsPerSecond,
                queueNanos,
                delaysMicros,
                List.copyOf(names));
    }

    /** Name of the flow. */
    public long flowId() {
        return flowId;
    }

    /** Where its data go. */
    public Direction direction() {
        return direction;
    }

    /** Begin of the second, ns since the epoch. */
    public long startNanos() {
        return startNanos;
    }

    /** Where the queue stood, along the data. */
    public BottleneckSide side() {
        return side;
    }

    /** Bytes sent in the second, on the layer of the rates. */
    public long layerBytes() {
        return layerBytes;
    }

    /** Rate of the narrowest link if the flow proves it, else 0. */
    public long capacityBitsPerSecond() {
        return capacityBitsPerSecond;
    }

    /** Mean delay of the queue, in ns. */
    public long queueNanos() {
        return queueNanos;
    }

    /** Whose the ends of the flow are, by name: none, one or two. */
    public List<String> tenants() {
        return tenants;
    }

    /** Begin of the first bin, ns since the epoch. */
    long firstBinNanos() {
        return startNanos - DelaySeries.SECOND_NANOS;
    }

    /** Mean delays in µs of the bins of the second before, which came late, and of this one; 0 where none was measured. */
    public int[] delaysMicros() {
        return delaysMicros.clone();
    }

    /** Writes the observation: some 90 bytes, and the names of its tenants. */
    public void writeTo(DataOutput out) throws IOException {
        out.writeLong(flowId);
        out.writeByte(direction.ordinal() | side.ordinal() << 1 | tenants.size() << TENANTS_SHIFT);
        Varint.write(out, startNanos);
        Varint.write(out, layerBytes);
        Varint.write(out, capacityBitsPerSecond);
        Varint.write(out, queueNanos);
        int last = 0;
        for (int i = 0; i < delaysMicros.length; i++) {
            last = delaysMicros[i] > 0 ? i + 1 : last;
        }
        Varint.write(out, last);
        int previous = 0;
        for (int i = 0; i < last; i++) { // neighbours are alike: most differences take two bytes
            Varint.write(out, delaysMicros[i] - (long) previous);
            previous = delaysMicros[i];
        }
        for (String tenant : tenants) {
            out.writeUTF(tenant);
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public static Observation readFrom(DataInput in) throws IOException {
        long flowId = in.readLong();
        int bits = in.readByte();
        Direction direction = (bits & 1) == 0 ? Direction.CLIENT_TO_SERVER : Direction.SERVER_TO_CLIENT;
        BottleneckSide side = (bits & 2) == 0 ? BottleneckSide.BEFORE_TAP : BottleneckSide.AFTER_TAP;
        long start = Varint.read(in);
        long bytes = Varint.read(in);
        long capacity = Varint.read(in);
        long queue = Varint.read(in);
        int last = Varint.readInt(in);
        if (last < 0 || last > DelaySeries.Bins.NUMBER) {
            throw new IOException("an observation of " + last + " bins");
        }
        int[] delays = new int[DelaySeries.Bins.NUMBER];
        int previous = 0;
        for (int i = 0; i < last; i++) {
            previous += Varint.readInt(in);
            delays[i] = previous;
        }
        List<String> tenants = new ArrayList<>();
        for (int left = bits >>> TENANTS_SHIFT; left > 0; left--) {
            tenants.add(in.readUTF());
        }
        return new Observation(flowId, direction, start, side, bytes, capacity, queue, delays, List.copyOf(tenants));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Observation that
                && flowId == that.flowId
                && direction == that.direction
                && startNanos == that.startNanos
                && side == that.side
                && layerBytes == that.layerBytes
                && capacityBitsPerSecond == that.capacityBitsPerSecond
                && queueNanos == that.queueNanos
                && Arrays.equals(delaysMicros, that.delaysMicros);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(31 * flowId + startNanos);
    }

    @Override
    public String toString() {
        return "%016x %s %d %s %d %s"
                .formatted(flowId, direction, startNanos, side, layerBytes, Arrays.toString(delaysMicros));
    }
}
