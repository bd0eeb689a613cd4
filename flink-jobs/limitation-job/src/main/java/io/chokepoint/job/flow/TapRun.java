// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import io.chokepoint.job.books.BatchOrigin;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * One run on its way to where its flow is analysed: still bytes, decoded once, there.
 *
 * <p>The bytes may lie in those of a whole batch, which nobody changes.
 */
public final class TapRun {
    private final FlowAtTap key;
    private final BatchOrigin origin;
    private final long offset;
    private final long timestampResolutionNs;
    private final int packets;
    private final byte[] bytes;
    private final int from;
    private final int length;

    /** Of {@code slice} = {from, length} of the bytes; {@code offset} is the Kafka offset of the batch. */
    public TapRun(
            FlowAtTap key,
            BatchOrigin origin,
            long offset,
            long timestampResolutionNs,
            int packets,
            byte[] bytes,
            int... slice) {
        this.key = key;
        this.origin = origin;
        this.offset = offset;
        this.timestampResolutionNs = timestampResolutionNs;
        this.packets = packets;
        this.bytes = bytes;
        this.from = slice[0];
        this.length = slice[1];
    }

    /** The flow and tap whose analysis it is for. */
    public FlowAtTap key() {
        return key;
    }

    /** Where its batch came from. */
    public BatchOrigin origin() {
        return origin;
    }

    /** Kafka offset of its batch. */
    public long offset() {
        return offset;
    }

    /** Smallest step of the packet times. */
    public long timestampResolutionNs() {
        return timestampResolutionNs;
    }

    /** Packets in the run, as the batch counts them. */
    public int packets() {
        return packets;
    }

    /** Array that holds the run. */
    public byte[] bytes() {
        return bytes;
    }

    /** Where the run starts in {@link #bytes()}. */
    public int from() {
        return from;
    }

    /** How many bytes the run has. */
    public int length() {
        return length;
    }

    /** For Flink. */
    public static TypeInformation<TapRun> type() {
        return new ValueType<>(TapRun.class, new Serializer());
    }

    /** Only crosses the network, never part of a savepoint. */
    public static final class Serializer extends ValueSerializer<TapRun> {
        private static final long serialVersionUID = 1L;

        private final BatchOrigin.Serializer origins = new BatchOrigin.Serializer();

        @Override
        public Serializer duplicate() {
            return new Serializer();
        }

        @Override
        public void serialize(TapRun run, DataOutputView target) throws IOException {
            origins.serialize(run.origin, target);
            FlowAtTap.Serializer.writeFlow(run.key.flow(), target);
            target.writeLong(run.offset);
            target.writeLong(run.timestampResolutionNs);
            target.writeInt(run.packets);
            target.writeInt(run.length);
            target.write(run.bytes, run.from, run.length);
        }

        @Override
        public TapRun deserialize(DataInputView source) throws IOException {
            BatchOrigin origin = origins.deserialize(source);
            FlowAtTap key = new FlowAtTap(FlowAtTap.Serializer.readFlow(source), origin.tap());
            long offset = source.readLong();
            long timestampResolutionNs = source.readLong();
            int packets = source.readInt();
            byte[] bytes = new byte[source.readInt()];
            source.readFully(bytes);
            return new TapRun(key, origin, offset, timestampResolutionNs, packets, bytes, 0, bytes.length);
        }

        @Override
        public TypeSerializerSnapshot<TapRun> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<TapRun> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
