// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class FlowStateTest {
    /** Far above the 256 B that are aimed at: what the analysis writes has to become shorter first. */
    private static final int MOUSE_BYTES = 640;

    private static final int ELEPHANT_BYTES = 6 * 1024;

    private final DataOutputSerializer scratch = new DataOutputSerializer(64);
    private final FlowStateSerializer serializer = new FlowStateSerializer(AnalysisSettings.DEFAULT);

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
        FlowAnalysis analysis = new FlowAnalysis(AnalysisSettings.DEFAULT, TapRuns.TAP);
        int largest = 0;
        for (TapRun run : runs.subList(0, runs.size() - 1)) {
            analysis.onRun(TapRuns.decoded(run), 1, 1, row -> {});
            DataOutputSerializer out = new DataOutputSerializer(64);
            serializer.serialize(FlowState.of(analysis, 0, 0, scratch), out);
            largest = Math.max(largest, out.length());
        }
        return largest;
    }

    @Test
    void theRowsAreThoseOfObjectsThatAreNeverWritten() throws IOException {
        List<TapRun> runs = TapRuns.packetByPacket(40_000, 160);
        List<String> rows = new ArrayList<>();
        FlowAnalysis analysis = new FlowAnalysis(AnalysisSettings.DEFAULT, TapRuns.TAP);
        for (TapRun run : runs) {
            analysis.onRun(TapRuns.decoded(run), 1, 1, TapRuns.encodedInto(rows));
            analysis = FlowState.of(analysis, 0, 0, scratch).analysis(AnalysisSettings.DEFAULT, TapRuns.TAP);
        }

        assertThat(rows).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs)).hasSizeGreaterThan(2);
    }
}
