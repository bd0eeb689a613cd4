// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.TapFlow;
import java.io.IOException;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a flow's state, the same for heap and RocksDB: a version, the two instants, then, behind
 * its length, what {@link TapFlow#writeTo} writes, which has a version of its own.
 */
public final class FlowStateSerializer extends TypeSerializer<FlowState> {
    private static final long serialVersionUID = 1L;
    private static final int VERSION = 1;

    private final long intervalNanos;
    private final Layer layer;
    private final int analysisVersion;

    public FlowStateSerializer(AnalysisSettings settings) {
        this.intervalNanos = settings.intervalNanos();
        this.layer = settings.layer();
        this.analysisVersion = settings.version();
    }

    private AnalysisSettings settings() {
        return new AnalysisSettings(intervalNanos, layer, analysisVersion);
    }

    @Override
    public void serialize(FlowState state, DataOutputView target) throws IOException {
        byte[] flow = state.flowBytes();
        target.writeByte(VERSION);
        target.writeLong(state.touchedMillis());
        target.writeLong(state.timerMillis());
        target.writeInt(flow.length);
        target.write(flow);
    }

    @Override
    public FlowState deserialize(DataInputView source) throws IOException {
        int version = source.readByte();
        if (version != VERSION) {
            throw new IOException("flow state has version " + version + ", expected " + VERSION);
        }
        long touchedMillis = source.readLong();
        long timerMillis = source.readLong();
        byte[] flow = new byte[source.readInt()];
        source.readFully(flow);
        return FlowState.ofBytes(flow, touchedMillis, timerMillis);
    }

    @Override
    public FlowState deserialize(FlowState reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public FlowState copy(FlowState from) {
        return from;
    }

    @Override
    public FlowState copy(FlowState from, FlowState reuse) {
        return from;
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public FlowStateSerializer duplicate() {
        return this;
    }

    @Override
    public FlowState createInstance() {
        return FlowState.ofBytes(new byte[0], 0, 0);
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FlowStateSerializer that && settings().equals(that.settings());
    }

    @Override
    public int hashCode() {
        return settings().hashCode();
    }

    @Override
    public TypeSerializerSnapshot<FlowState> snapshotConfiguration() {
        return new Snapshot(settings());
    }

    /** Remembers the settings of the analysis: intervals half counted with others cannot go on. */
    public static final class Snapshot implements TypeSerializerSnapshot<FlowState> {
        private static final int SNAPSHOT_VERSION = 1;

        private @Nullable AnalysisSettings settings;

        /** For Flink, which reads the settings then. */
        public Snapshot() {}

        Snapshot(AnalysisSettings settings) {
            this.settings = settings;
        }

        @Override
        public int getCurrentVersion() {
            return SNAPSHOT_VERSION;
        }

        @Override
        public void writeSnapshot(DataOutputView out) throws IOException {
            AnalysisSettings written = Objects.requireNonNull(settings, "settings");
            out.writeLong(written.intervalNanos());
            out.writeUTF(written.layer().name());
            out.writeInt(written.version());
        }

        @Override
        public void readSnapshot(int readVersion, DataInputView in, ClassLoader classLoader) throws IOException {
            settings = new AnalysisSettings(in.readLong(), Layer.valueOf(in.readUTF()), in.readInt());
        }

        @Override
        public TypeSerializer<FlowState> restoreSerializer() {
            return new FlowStateSerializer(Objects.requireNonNull(settings, "settings"));
        }

        @Override
        public TypeSerializerSchemaCompatibility<FlowState> resolveSchemaCompatibility(
                TypeSerializerSnapshot<FlowState> old) {
            return old instanceof Snapshot that && Objects.equals(settings, that.settings)
                    ? TypeSerializerSchemaCompatibility.compatibleAsIs()
                    : TypeSerializerSchemaCompatibility.incompatible();
        }
    }
}
