// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Tells Flink how observations and their key become bytes. */
public final class PathObservations {
    private PathObservations() {}

    /** Of what taps tell. */
    public static TypeInformation<PathObservation> type() {
        return new ValueType<>(PathObservation.class, new Serializer());
    }

    /** Of the key by which the taps of a flow meet. */
    public static TypeInformation<FlowKey> keyType() {
        return new ValueType<>(FlowKey.class, new KeySerializer());
    }

    /** Only crosses the network. */
    public static final class Serializer extends ValueSerializer<PathObservation> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(PathObservation observation, DataOutputView target) throws IOException {
            FlowAtTap.Serializer.writeFlow(observation.key(), target);
            target.writeUTF(observation.tap());
            observation.writeTo(target);
        }

        @Override
        public PathObservation deserialize(DataInputView source) throws IOException {
            FlowKey key = FlowAtTap.Serializer.readFlow(source);
            return PathObservation.readFrom(source, key, source.readUTF());
        }

        @Override
        public TypeSerializerSnapshot<PathObservation> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<PathObservation> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }

    /** The key of savepoints: these bytes never change. */
    public static final class KeySerializer extends ValueSerializer<FlowKey> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(FlowKey key, DataOutputView target) throws IOException {
            FlowAtTap.Serializer.writeFlow(key, target);
        }

        @Override
        public FlowKey deserialize(DataInputView source) throws IOException {
            return FlowAtTap.Serializer.readFlow(source);
        }

        @Override
        public TypeSerializerSnapshot<FlowKey> snapshotConfiguration() {
            return new KeySnapshot();
        }

        /** Remembers the class only. */
        public static final class KeySnapshot extends SimpleTypeSerializerSnapshot<FlowKey> {
            public KeySnapshot() {
                super(KeySerializer::new);
            }
        }
    }
}
