// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.job.sink.RowEncoder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class FlowStateTest {
    private static final int HANDSHAKE_PACKETS = 3;
    /** Far above the 256 B that are aimed at: what the analysis writes has to become shorter first. */
    private static final int MOUSE_BYTES = 640;

    private static final int ELEPHANT_BYTES = 6 * 1024;

    private final DataOutputSerializer scratch = new DataOutputSerializer(64);
    private final FlowStateSerializer serializer = new FlowStateSerializer(AnalysisSettings.DEFAULT);
    private FlowState state = FlowState.empty(0);

    @Test
    void aMouseIsBytesUntilItsFiftiethDataPacket() throws IOException {
        List<TapRun> runs = TapRuns.packetByPacket(40_000, 60);

        List<Boolean> isBytes = new ArrayList<>();
        for (TapRun run : runs.subList(0, runs.size() - 1)) {
            fold(run, new ArrayList<>());
            isBytes.add(state.isBytes());
        }

        int fiftieth = HANDSHAKE_PACKETS + 2 * 49;
        assertThat(isBytes.subList(0, fiftieth)).containsOnly(true);
        assertThat(isBytes.subList(fiftieth, isBytes.size())).containsOnly(false);
    }

    @Test
    void theRowsAreThoseOfObjectsThatAreNeverWritten() throws IOException {
        List<TapRun> runs = TapRuns.packetByPacket(40_000, 160);

        List<String> rows = new ArrayList<>();
        for (TapRun run : runs) {
            fold(run, rows);
        }

        assertThat(rows).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs)).hasSizeGreaterThan(2);
    }

    @Test
    void bothTiersHaveTheSameBytes() throws IOException {
        List<TapRun> runs = TapRuns.elephant();
        for (TapRun run : runs.subList(0, runs.size() / 2)) {
            fold(run, new ArrayList<>());
        }
        assertThat(state.isBytes()).isFalse();

        byte[] ofTheObject = state.analysisBytes(scratch);
        byte[] ofTheBytes = serializer.copy(state).analysisBytes(scratch);

        assertThat(serializer.copy(state).isBytes()).isTrue();
        assertThat(ofTheBytes).isEqualTo(ofTheObject);
    }

    @Test
    void sizesStayWithinTheirBounds() throws IOException {
        int typicalMouse = largestOf(TapRuns.packetByPacket(40_000, 10));
        int largestMouse = largestOf(TapRuns.packetByPacket(40_000, 49));
        int largestElephant = largestOf(TapRuns.elephant());

        System.out.printf(
                "state: mouse of 10 data packets %d B, of 49 %d B, elephant %d B%n",
                typicalMouse, largestMouse, largestElephant);
        assertThat(typicalMouse).as("typical mouse").isLessThanOrEqualTo(MOUSE_BYTES);
        assertThat(largestMouse).as("largest mouse").isLessThanOrEqualTo(MOUSE_BYTES);
        assertThat(largestElephant).as("elephant").isLessThanOrEqualTo(ELEPHANT_BYTES);
    }

    /** Without the end mark: the state goes with it. */
    private int largestOf(List<TapRun> runs) throws IOException {
        state = FlowState.empty(0);
        scratch.clear();
        int largest = 0;
        for (TapRun run : runs.subList(0, runs.size() - 1)) {
            fold(run, new ArrayList<>());
            largest = Math.max(largest, serializedBytes());
        }
        return largest;
    }

    private int serializedBytes() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(state, out);
        return out.length();
    }

    /** What the function does with a run. */
    private void fold(TapRun run, List<String> rows) throws IOException {
        RowEncoder encoder = new RowEncoder();
        FlowAnalysis analysis = scratch.length() == 0
                ? new FlowAnalysis(AnalysisSettings.DEFAULT, TapRuns.TAP)
                : state.analysis(AnalysisSettings.DEFAULT, TapRuns.TAP);
        analysis.onRun(TapRuns.decoded(run), 1, 1, row -> rows.add(TapRuns.hex(encoder.encode(row))));
        state.keep(analysis, scratch);
    }
}
