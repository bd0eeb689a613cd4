// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.TapFlow;
import io.chokepoint.job.GoldenFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FlowStateSerializerTest {
    private static final long TOUCHED_MILLIS = 1_800_000_000_123L;
    private static final long TIMER_MILLIS = 1_800_002_400_000L;

    private final FlowStateSerializer serializer = new FlowStateSerializer(AnalysisSettings.DEFAULT);

    @ParameterizedTest
    @ValueSource(ints = {10, 120})
    void aStateReadIsTheStateWritten(int dataPackets) throws IOException {
        FlowState state = stateAfter(dataPackets);

        FlowState read = serializer.deserialize(new DataInputDeserializer(written(state)));

        assertThat(read.touchedMillis()).isEqualTo(TOUCHED_MILLIS);
        assertThat(read.timerMillis()).isEqualTo(TIMER_MILLIS);
        assertThat(written(read)).isEqualTo(written(state));
        DataOutputSerializer copied = new DataOutputSerializer(64);
        serializer.copy(new DataInputDeserializer(written(state)), copied);
        assertThat(copied.getCopyOfBuffer()).isEqualTo(written(state));
    }

    @Test
    void aStateDoesNotFollowTheAnalysisThatWasReadFromIt() throws IOException {
        FlowState state = stateAfter(120);
        byte[] before = written(state);

        new RunFolder(AnalysisSettings.DEFAULT).finish(state.flow(AnalysisSettings.DEFAULT, TapRuns.TAP), row -> {});

        assertThat(written(state)).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource({"flow-young, 5", "flow-mouse, 10", "flow-elephant, 120"})
    void theBytesOfVersion1AreRestored(String name, int dataPackets) throws IOException {
        byte[] golden = GoldenFile.bytes("state/v1/" + name + ".hex", () -> writtenAfter(dataPackets));

        FlowState state = serializer.deserialize(new DataInputDeserializer(golden));

        assertThat(state.touchedMillis()).isEqualTo(TOUCHED_MILLIS);
        assertThat(state.timerMillis()).isEqualTo(TIMER_MILLIS);
        assertThatCode(() -> state.flow(AnalysisSettings.DEFAULT, TapRuns.TAP))
                .as("state of version 1; until the first release -Dchokepoint.write=true writes it anew, later the"
                        + " analysis needs a new version")
                .doesNotThrowAnyException();
        TapFlow flow = state.flow(AnalysisSettings.DEFAULT, TapRuns.TAP);
        assertThat(flow.isMouse()).isEqualTo(dataPackets < 50);
        List<TapRun> runs = TapRuns.packetByPacket(40_000, dataPackets);
        List<String> rows = new ArrayList<>();
        TapRuns.fold(
                new RunFolder(AnalysisSettings.DEFAULT), runs.get(runs.size() - 1), flow, TapRuns.encodedInto(rows));
        assertThat(flow.isFinished()).isTrue();
        List<String> expected = TapRuns.rowsOfTheCore(runs);
        assertThat(rows).isNotEmpty().isEqualTo(expected.subList(expected.size() - rows.size(), expected.size()));
    }

    @Test
    void anUnknownVersionIsRefused() throws IOException {
        byte[] bytes = written(stateAfter(10));
        bytes[0] = 2;

        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(bytes)))
                .isInstanceOf(IOException.class)
                .hasMessage("flow state has version 2, expected 1");
    }

    @ParameterizedTest
    @CsvSource({
        "1000000000, L2,   1, true",
        "500000000,  L2,   1, false",
        "1000000000, WIRE, 1, false",
        "1000000000, L2,   2, false",
    })
    void stateGoesOnOnlyWithTheSettingsItWasCountedWith(
            long intervalNanos, Layer layer, int version, boolean compatible) throws IOException {
        TypeSerializerSnapshot<FlowState> old = carried(serializer.snapshotConfiguration());
        AnalysisSettings settings = new AnalysisSettings(intervalNanos, layer, version);

        TypeSerializerSchemaCompatibility<FlowState> compatibility =
                new FlowStateSerializer(settings).snapshotConfiguration().resolveSchemaCompatibility(old);

        assertThat(compatibility.isCompatibleAsIs()).isEqualTo(compatible);
        assertThat(compatibility.isIncompatible()).isEqualTo(!compatible);
        assertThat(old.restoreSerializer()).isEqualTo(serializer);
    }

    private static TypeSerializerSnapshot<FlowState> carried(TypeSerializerSnapshot<FlowState> snapshot)
            throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
        return TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(out.getCopyOfBuffer()), FlowStateSerializerTest.class.getClassLoader());
    }

    private byte[] writtenAfter(int dataPackets) {
        try {
            return written(stateAfter(dataPackets));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] written(FlowState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(state, out);
        return out.getCopyOfBuffer();
    }

    /** Before the end mark. */
    private static FlowState stateAfter(int dataPackets) throws IOException {
        List<TapRun> runs = TapRuns.packetByPacket(40_000, dataPackets);
        TapFlow flow = TapRuns.folded(runs.subList(0, runs.size() - 1));
        return FlowState.of(flow, TOUCHED_MILLIS, TIMER_MILLIS, new DataOutputSerializer(64));
    }
}
