// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.bench;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How large the state of a flow gets: its bytes after every run of the given batch streams and of a simulated bulk
 * flow, and its heap as the growth by 10,000 flows. Prints JSON.
 */
public final class StateSize {
    private static final int HEAP_FLOWS = 10_000;
    private static final int HEAP_PACKETS = 4_000;
    private static final int MOUSE_PACKETS = 12;
    private static final int RUNS_PER_BATCH = 6;

    private long largestMouse;
    private long largestElephant;

    private StateSize() {}

    /** Batch streams of any captures. */
    public static void main(String[] arguments) throws IOException {
        StateSize samples = new StateSize();
        for (String path : arguments) {
            samples.follow(Batches.ofStream(Path.of(path)));
        }
        SimulatedFlow lossy = PathSimulator.run(
                        PathScenario.named("ten minutes, 2 % loss").loss(0.02).lasting(600_000))
                .get(0);
        StateSize simulated = new StateSize();
        simulated.follow(encoded(lossy.flow(), lossy.before()));
        simulated.follow(encoded(lossy.flow(), lossy.after()));
        SimulatedFlow bulk =
                PathSimulator.run(PathScenario.named("bulk").lasting(5_000)).get(0);
        System.out.printf(
                "{\"samples_mouse_bytes\": %d, \"samples_elephant_bytes\": %d, \"lossy_elephant_bytes\": %d,"
                        + " \"lossy_packets\": %d, \"heap_mouse_bytes\": %d, \"heap_elephant_bytes\": %d,"
                        + " \"heap_lossy_elephant_bytes\": %d}%n",
                samples.largestMouse,
                samples.largestElephant,
                simulated.largestElephant,
                lossy.before().size(),
                heapOf(head(bulk, MOUSE_PACKETS)),
                heapOf(head(bulk, HEAP_PACKETS)),
                heapOf(head(lossy, HEAP_PACKETS)));
    }

    private static Batches encoded(Flow flow, List<Packet> packets) {
        return new Batches(new BatchEncoder(BatchHeader.ofTap("bench"))
                .encode(RunCutter.PROBE.cut(flow, PathSimulator.inOrder(packets)), RUNS_PER_BATCH));
    }

    private static Batches head(SimulatedFlow flow, int packets) {
        List<Packet> before = PathSimulator.inOrder(flow.before());
        return encoded(flow.flow(), before.subList(0, Math.min(packets, before.size())));
    }

    private void follow(Batches batches) throws IOException {
        Map<FlowKey, FlowAnalysis> flows = new HashMap<>();
        batches.forEachRun((run, batch) -> {
            FlowAnalysis flow =
                    flows.computeIfAbsent(run.key(), key -> new FlowAnalysis(AnalysisSettings.DEFAULT, "bench"));
            flow.onRun(run, batch.session(), batch.timestampResolutionNs(), row -> {});
            if (flow.isFinished()) {
                flows.remove(run.key());
            } else if (flow.isMouse()) {
                largestMouse = Math.max(largestMouse, bytesOf(flow));
            } else {
                largestElephant = Math.max(largestElephant, bytesOf(flow));
            }
        });
    }

    private static long bytesOf(FlowAnalysis flow) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        flow.writeTo(new DataOutputStream(bytes));
        return bytes.size();
    }

    private static long heapOf(Batches batches) throws IOException {
        List<FlowAnalysis> flows = new ArrayList<>(HEAP_FLOWS);
        long before = usedHeap();
        for (int i = 0; i < HEAP_FLOWS; i++) {
            FlowAnalysis flow = new FlowAnalysis(AnalysisSettings.DEFAULT, "bench");
            batches.forEachRun(
                    (run, batch) -> flow.onRun(run, batch.session(), batch.timestampResolutionNs(), row -> {}));
            flows.add(flow);
        }
        long growth = usedHeap() - before;
        return growth / flows.size();
    }

    private static long usedHeap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
