// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.FlowPath;
import io.chokepoint.job.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/** What is kept of the path of a flow: what its taps have told, and the two instants of its one timer. */
final class PathState {
    private byte @Nullable [] bytes;
    private @Nullable FlowPath path;
    private long touchedMillis;
    private long timerMillis;

    private PathState(byte @Nullable [] bytes, @Nullable FlowPath path, long touchedMillis, long timerMillis) {
        this.bytes = bytes;
        this.path = path;
        this.touchedMillis = touchedMillis;
        this.timerMillis = timerMillis;
    }

    static PathState of(FlowKey key, long timerMillis) {
        return new PathState(null, new FlowPath(key), 0, timerMillis);
    }

    /** What comes from a checkpoint is bytes until it is needed. */
    FlowPath path(FlowKey key) throws IOException {
        if (path == null) {
            path = FlowPath.readFrom(
                    new DataInputDeserializer(bytes == null ? new byte[0] : bytes), key, touchedMillis);
            bytes = null;
        }
        return path;
    }

    private byte[] pathBytes() throws IOException {
        if (path == null) {
            return bytes == null ? new byte[0] : bytes;
        }
        DataOutputSerializer out = new DataOutputSerializer(Serializer.TYPICAL_BYTES);
        path.writeTo(out);
        return out.getCopyOfBuffer();
    }

    long touchedMillis() {
        return touchedMillis;
    }

    void touch(long millis) {
        touchedMillis = millis;
    }

    long timerMillis() {
        return timerMillis;
    }

    void moveTimer(long millis) {
        timerMillis = millis;
    }

    /** A version, the two instants, then, behind its length, what {@link FlowPath#writeTo} writes. */
    public static final class Serializer extends ValueSerializer<PathState> {
        private static final long serialVersionUID = 1L;
        private static final int VERSION = 1;
        private static final int TYPICAL_BYTES = 4096;

        @Override
        public void serialize(PathState state, DataOutputView target) throws IOException {
            byte[] path = state.pathBytes();
            target.writeByte(VERSION);
            target.writeLong(state.touchedMillis);
            target.writeLong(state.timerMillis);
            target.writeInt(path.length);
            target.write(path);
        }

        @Override
        public PathState deserialize(DataInputView source) throws IOException {
            int version = source.readByte();
            if (version != VERSION) {
                throw new IOException("path state has version " + version + ", expected " + VERSION);
            }
            long touchedMillis = source.readLong();
            long timerMillis = source.readLong();
            byte[] path = new byte[source.readInt()];
            source.readFully(path);
            return new PathState(path, null, touchedMillis, timerMillis);
        }

        @Override
        public boolean isImmutableType() {
            return false;
        }

        /** The heap backend copies what it changes while a checkpoint is written. */
        @Override
        public PathState copy(PathState from) {
            try {
                return new PathState(from.pathBytes(), null, from.touchedMillis, from.timerMillis);
            } catch (IOException e) {
                throw new IllegalStateException("writing to memory failed", e);
            }
        }

        @Override
        public PathState copy(PathState from, PathState reuse) {
            return copy(from);
        }

        @Override
        public TypeSerializerSnapshot<PathState> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<PathState> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
