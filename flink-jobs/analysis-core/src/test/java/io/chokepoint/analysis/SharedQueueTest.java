// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.BottleneckGroup.Member;
import io.chokepoint.analysis.group.Grouping;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
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

    /** Data pass at the begin of every tenth of a second, their ACKs 20 ms later at first, then 60: in the bin after. */
    @Test
    void aDelayBelongsToTheTimeAtWhichItsDataPassed() {
        Tap tap = new Tap().takeAll(PacketScript.parse(Timeline.OPENING + """
                repeat 40 {
                +0.000 A > B .  +1448  ack @
                +0.000 A > B .  +1448  ack @
                +0.020 B > A .  0:0(0) ack @ win 509
                +0.080 A > B .  +1448  ack @
                +0.000 A > B .  +1448  ack @
                +0.060 B > A .  0:0(0) ack @ win 509
                +0.040 A > B .  0:0(0) ack @
                }
                end FIN
                """).runs(RunCutter.PROBE));

        assertThat(tap.observations()).hasSizeGreaterThan(5);
        assertThat(tap.observations().get(3).side()).isEqualTo(BottleneckSide.AFTER_TAP);
        int[] delays = tap.observations().get(3).delaysMicros();
        assertThat(IntStream.range(20, 40).filter(bin -> delays[bin] > 0))
                .as("bins of 50 ms: one in two")
                .hasSize(10)
                .allMatch(bin -> delays[bin] == 20_000 || delays[bin] == 60_000)
                .allMatch(bin -> bin % 2 == 0);
    }

    @Test
    void observationsSayWhoseTheEndsAre() {
        Tenants all = Tenants.parse(List.of("0.0.0.0/0,acme"));
        SimulatedFlow flow = link(1).get(0);
        List<Observation> observations = Tap.with(all)
                .takeAll(RunCutter.PROBE.cutAndEnd(flow.flow(), flow.before(), "CAPTURE_END", 0))
                .observations();

        assertThat(observations).isNotEmpty().allMatch(one -> one.tenants().equals(List.of("acme")));
    }

    @ParameterizedTest(name = "tap before the links: {0}")
    @ValueSource(booleans = {true, false})
    void linksOfOneRateAreToldApart(boolean before) {
        List<Observation> observations = new ArrayList<>();
        List<Set<Long>> expected = new ArrayList<>();
        for (long seed = 1; seed <= 2; seed++) {
            Set<Long> flows = new TreeSet<>();
            for (SimulatedFlow flow : link(seed)) {
                Tap tap = new Tap()
                        .takeAll(RunCutter.PROBE.cutAndEnd(
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
                .containsExactlyInAnyOrderElementsOf(
                        expected.stream().map(TreeSet::new).toList());
        assertThat(groups).allSatisfy(group -> {
            assertThat(group.capacityBitsPerSecond()).isBetween(19_000_000L, 21_000_000L);
        });
    }
}
