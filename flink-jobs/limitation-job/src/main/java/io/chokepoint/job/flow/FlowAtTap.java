// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** A flow as one tap sees it: the key of the analysis. */
public final class FlowAtTap {
    private final FlowKey flow;
    private final String tap;
    private final int hash;

    public FlowAtTap(FlowKey flow, String tap) {
        this.flow = flow;
        this.tap = tap;
        this.hash = 31 * Long.hashCode(FlowHash.of(flow, 0)) + tap.hashCode();
    }

    /** Domain, addresses and ports. */
    public FlowKey flow() {
        return flow;
    }

    /** Name of the tap. */
    public String tap() {
        return tap;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FlowAtTap that && hash == that.hash && flow.equals(that.flow) && tap.equals(that.tap);
    }

    /** The same on every machine: it decides where the state lives. */
    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return flow + " at " + tap;
    }

    /** For Flink. */
    public static TypeInformation<FlowAtTap> type() {
        return new ValueType<>(FlowAtTap.class, new Serializer());
    }

    /** The key of savepoints: these bytes never change. */
    public static final class Serializer extends ValueSerializer<FlowAtTap> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(FlowAtTap key, DataOutputView target) throws IOException {
            writeFlow(key.flow, target);
            target.writeUTF(key.tap);
        }

        static void writeFlow(FlowKey flow, DataOutputView target) throws IOException {
            target.writeInt(flow.domain());
            target.writeLong(flow.lowAddressUpper());
            target.writeLong(flow.lowAddressLower());
            target.writeShort(flow.lowPort());
            target.writeLong(flow.highAddressUpper());
            target.writeLong(flow.highAddressLower());
            target.writeShort(flow.highPort());
        }

        @Override
        public FlowAtTap deserialize(DataInputView source) throws IOException {
            return new FlowAtTap(readFlow(source), source.readUTF());
        }

        static FlowKey readFlow(DataInputView source) throws IOException {
            return new FlowKey(
                    source.readInt(),
                    source.readLong(),
                    source.readLong(),
                    source.readUnsignedShort(),
                    source.readLong(),
                    source.readLong(),
                    source.readUnsignedShort());
        }

        @Override
        public TypeSerializerSnapshot<FlowAtTap> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<FlowAtTap> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
