// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.BottleneckGroup.Member;
import io.chokepoint.analysis.group.Grouping;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From packets to groups: two links of one rate behind one tap, three flows in each. */
class SharedQueueTest {
    private static final long WINDOW = 1_767_225_600_000_000_000L; // the simulator's zero

    private static List<SimulatedFlow> link(long seed) {
        return PathSimulator.run(PathScenario.named("three in a queue")
                .seed(seed)
                .flows(3)
                .apart(70_000 * seed)
                .bottleneck(20, 60)
                .roundTrip(30_000)
                .lasting(9_500));
    }

    @ParameterizedTest(name = "tap before the links: {0}")
    @ValueSource(booleans = {true, false})
    void linksOfOneRateAreToldApart(boolean before) {
        List<Observation> observations = new ArrayList<>();
        List<Set<Long>> expected = new ArrayList<>();
        for (long seed = 1; seed <= 2; seed++) {
            Set<Long> flows = new TreeSet<>();
            for (SimulatedFlow flow : link(seed)) {
                Tap tap = new Tap().takeAll(RunCutter.PROBE.cutAndEnd(
                        flow.flow(), before ? flow.before() : flow.after(), "CAPTURE_END", 0));
                observations.addAll(tap.observations());
                flows.add(tap.rows().get(0).identity().flowId());
            }
            expected.add(flows);
        }

        List<BottleneckGroup> groups = Grouping.judge("leaf1", WINDOW, observations, 1, List.of());

        assertThat(groups)
                .extracting(group -> new TreeSet<>(
                        group.members().stream().map(Member::flowId).toList()))
                .containsExactlyInAnyOrderElementsOf(expected.stream().map(TreeSet::new).toList());
        assertThat(groups).allSatisfy(group -> {
            assertThat(group.capacityBitsPerSecond()).isBetween(19_000_000L, 21_000_000L);
        });
    }
}
