// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.TapFlow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class FlowStateTest {
    private static final int YOUNG_MOUSE_BYTES = 340;
    /** The most that bytes of runs take, and more than those of its analysis do. */
    private static final int MOUSE_BYTES = 700;

    private static final int ELEPHANT_BYTES = 6 * 1024;

    private final DataOutputSerializer scratch = new DataOutputSerializer(64);
    private final FlowStateSerializer serializer = new FlowStateSerializer(AnalysisSettings.DEFAULT);

    @Test
    void sizesStayWithinTheirBounds() throws IOException {
        int youngMouse = largestOf(TapRuns.flow(40_000, 5));
        int typicalMouse = largestOf(TapRuns.packetByPacket(40_000, 10));
        int largestMouse = largestOf(TapRuns.packetByPacket(40_000, 49));
        int largestElephant = largestOf(TapRuns.elephant());

        System.out.printf(
                "state: mouse of 5 data packets in a probe's runs %d B, of 10, each a run, %d B, of 49 %d B, elephant %d B%n",
                youngMouse, typicalMouse, largestMouse, largestElephant);
        assertThat(youngMouse).as("young mouse").isLessThanOrEqualTo(YOUNG_MOUSE_BYTES);
        assertThat(typicalMouse).as("typical mouse").isLessThanOrEqualTo(MOUSE_BYTES);
        assertThat(largestMouse).as("largest mouse").isLessThanOrEqualTo(MOUSE_BYTES);
        assertThat(largestElephant).as("elephant").isLessThanOrEqualTo(ELEPHANT_BYTES);
    }

    /** Without the end mark: the state goes with it. */
    private int largestOf(List<TapRun> runs) throws IOException {
        RunFolder folder = new RunFolder(AnalysisSettings.DEFAULT);
        TapFlow flow = new TapFlow(TapRuns.TAP);
        int largest = 0;
        for (TapRun run : runs.subList(0, runs.size() - 1)) {
            TapRuns.fold(folder, run, flow, row -> {});
            DataOutputSerializer out = new DataOutputSerializer(64);
            serializer.serialize(FlowState.of(flow, 0, 0, scratch), out);
            largest = Math.max(largest, out.length());
        }
        return largest;
    }

    @Test
    void theRowsAreThoseOfObjectsThatAreNeverWritten() throws IOException {
        List<TapRun> runs = TapRuns.packetByPacket(40_000, 160);
        List<String> rows = new ArrayList<>();
        RunFolder folder = new RunFolder(AnalysisSettings.DEFAULT);
        TapFlow flow = new TapFlow(TapRuns.TAP);
        for (TapRun run : runs) {
            TapRuns.fold(folder, run, flow, TapRuns.encodedInto(rows));
            flow = FlowState.of(flow, 0, 0, scratch).flow(AnalysisSettings.DEFAULT, TapRuns.TAP);
        }

        assertThat(rows).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs)).hasSizeGreaterThan(2);
    }
}
