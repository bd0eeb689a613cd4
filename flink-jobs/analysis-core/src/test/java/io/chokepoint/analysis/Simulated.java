// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Flows of scenarios that are tested again and again, by other tests or with other bugs planted: simulated, cut by the rule of
 * the probe and encoded once, for that takes most of a test's time.
 */
final class Simulated {
    private static final Map<PathScenario, List<SimulatedFlow>> FLOWS = new IdentityHashMap<>();
    private static final Map<List<Packet>, List<byte[]>> RUNS = new IdentityHashMap<>();

    private Simulated() {}

    /** What the taps saw of a scenario, which must not change any more. */
    static synchronized List<SimulatedFlow> flows(PathScenario scenario) {
        return FLOWS.computeIfAbsent(scenario, PathSimulator::run);
    }

    /** Bytes of the runs of one tap's packets of a flow, and of its end mark. */
    static synchronized List<byte[]> runs(Flow flow, List<Packet> packets) {
        return RUNS.computeIfAbsent(
                packets,
                seen -> RunCutter.PROBE.cutAndEnd(flow, seen, "CAPTURE_END", 0).stream()
                        .map(Tap::encode)
                        .toList());
    }

    /** All rows of one tap's packets of a flow. */
    static List<Row> rows(Flow flow, List<Packet> packets) {
        Tap tap = new Tap();
        runs(flow, packets).forEach(tap::take);
        return tap.rows();
    }
}
