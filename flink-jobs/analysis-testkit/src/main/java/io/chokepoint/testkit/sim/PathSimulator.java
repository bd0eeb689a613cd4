// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Packet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Runs a {@link PathScenario}.
 *
 * <pre>
 * sender -- access link -- tap before -- queue | bottleneck -- loss -- delay -- tap after -- receiver
 *       &lt;----------------------- delay, no queue, no loss -----------------------
 * </pre>
 */
public final class PathSimulator {
    private static final long BETWEEN_FLOWS_NS = 100_000_000;
    private static final int CROSS_PACKET_BYTES = 1500;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    private final PathScenario scenario;
    private final EventQueue events;
    private final Random random;
    private final Link<Runnable> bottleneck;
    private final List<SimulatedConnection> connections = new ArrayList<>();

    private PathSimulator(PathScenario scenario) {
        this.scenario = scenario;
        events = new EventQueue(scenario.startNs);
        random = new Random(scenario.seed);
        bottleneck = new Link<>(events, scenario.bottleneckBitsPerSecond, scenario.queueBytes, Runnable::run);
    }

    /** Everything two taps saw of the flows of a scenario; the same for every run of it. */
    public static List<SimulatedFlow> run(PathScenario scenario) {
        PathSimulator simulator = new PathSimulator(scenario);
        for (int i = 0; i < scenario.flows; i++) {
            SimulatedConnection connection =
                    new SimulatedConnection(scenario, simulator.events, simulator.random, simulator.bottleneck, i);
            simulator.connections.add(connection);
            simulator.events.after(i * BETWEEN_FLOWS_NS, connection::connect);
        }
        if (scenario.crossTrafficBitsPerSecond > 0) {
            simulator.planCrossPacket();
        }
        long endNs = scenario.startNs + scenario.durationNs;
        simulator.events.runUntil(endNs);
        return simulator.connections.stream().map(SimulatedConnection::seen).toList();
    }

    /** The packets of one tap in the order in which it saw them. */
    public static List<Packet> inOrder(List<Packet> packets) {
        return packets.stream().sorted(Comparator.comparingLong(Packet::timeNs)).toList();
    }

    private void planCrossPacket() {
        double meanGapNs = (CROSS_PACKET_BYTES + Link.LAYER_2_BYTES)
                * BITS_PER_BYTE
                / scenario.crossTrafficBitsPerSecond
                * NANOS_PER_SECOND;
        long gapNs = Math.round(-Math.log(1 - random.nextDouble()) * meanGapNs);
        events.after(gapNs, () -> {
            bottleneck.offer(() -> {}, CROSS_PACKET_BYTES);
            planCrossPacket();
        });
    }
}
