// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Packet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Runs a {@link PathScenario}.
 *
 * <pre>
 * sender -- access link -- (upstream) -- tap before -- queue | bottleneck -- loss -- delay -- tap after -- (downstream) -- receiver
 *       &lt;--------------------------------- delay, no queue, no loss ---------------------------------
 * </pre>
 */
public final class PathSimulator {
    private static final int CROSS_PACKET_BYTES = 1500;
    private static final double BURST_SPEED = 2; // times the bottleneck's
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    private final PathScenario scenario;
    private final EventQueue events;
    private final Random random;
    private final SimulatedConnection.Path path;
    private final List<SimulatedConnection> connections = new ArrayList<>();

    private PathSimulator(PathScenario scenario) {
        this.scenario = scenario;
        events = new EventQueue(scenario.startNs);
        random = new Random(scenario.seed);
        path = new SimulatedConnection.Path(stage(scenario.upstream), bottleneck(), stage(scenario.downstream));
        for (int i = 0; i < scenario.flows + scenario.hiddenFlows; i++) {
            Application application = i < scenario.flows ? scenario.application : scenario.hiddenApplication;
            connections.add(new SimulatedConnection(scenario, events, random, path, application, i));
        }
    }

    private Link bottleneck() {
        QueueDiscipline queue = switch (scenario.queueing) {
            case DROP_TAIL -> new DropTail(scenario.queueBytes);
            case CODEL -> new CoDel(scenario.queueBytes, scenario.delayTargetNs, scenario.delayIntervalNs);
            case FAIR -> new DeficitRoundRobin(scenario.queueBytes);
        };
        TokenBucket policer = scenario.policer == null
                ? null
                : new TokenBucket(scenario.policer.bitsPerSecond(), scenario.policer.queueBytes(), scenario.startNs);
        return link(scenario.bottleneckBitsPerSecond, queue, policer);
    }

    private @Nullable Link stage(PathScenario.@Nullable Stage stage) {
        return stage == null ? null : link(stage.bitsPerSecond(), new DropTail(stage.queueBytes()), null);
    }

    private Link link(double bitsPerSecond, QueueDiscipline queue, @Nullable TokenBucket policer) {
        return new Link(events, bitsPerSecond, queue, policer, new LinkBooks(scenario.startNs, scenario.binNs));
    }

    /** Everything two taps saw of the flows of a scenario; the same for every run of it. */
    public static List<SimulatedFlow> run(PathScenario scenario) {
        return simulate(scenario).flows();
    }

    /** The same with what the path itself knows. */
    static Simulation simulate(PathScenario scenario) {
        return new PathSimulator(scenario).simulate();
    }

    private Simulation simulate() {
        for (int i = 0; i < connections.size(); i++) {
            events.after(i * scenario.betweenFlowsNs, connections.get(i)::connect);
        }
        if (scenario.crossTrafficBitsPerSecond > 0) {
            planCrossTraffic();
        }
        events.runUntil(scenario.startNs + scenario.durationNs);
        List<SimulatedFlow> all =
                connections.stream().map(SimulatedConnection::seen).toList();
        LinkBooks books = narrowest().books();
        books.advance(events.nowNs());
        return new Simulation(all.subList(0, scenario.flows), all.subList(scenario.flows, all.size()), books);
    }

    private Link narrowest() {
        return Objects.requireNonNull(
                switch (scenario.narrowest()) {
                    case BEFORE_BOTH_TAPS -> path.upstream();
                    case BETWEEN_TAPS -> path.bottleneck();
                    case BEHIND_BOTH_TAPS -> path.downstream();
                });
    }

    /** The packets of one tap in the order in which it saw them. */
    public static List<Packet> inOrder(List<Packet> packets) {
        return packets.stream().sorted(Comparator.comparingLong(Packet::timeNs)).toList();
    }

    private void planCrossTraffic() {
        double frameBits = (CROSS_PACKET_BYTES + Frame.LAYER_2_BYTES) * BITS_PER_BYTE;
        double meanGapNs =
                frameBits / scenario.crossTrafficBitsPerSecond * NANOS_PER_SECOND * scenario.crossTrafficBurst;
        long gapNs = Math.round(-StrictMath.log(1 - random.nextDouble()) * meanGapNs);
        long withinBurstNs = Math.round(frameBits
                / (BURST_SPEED * Math.max(scenario.bottleneckBitsPerSecond, scenario.crossTrafficBitsPerSecond))
                * NANOS_PER_SECOND);
        events.after(gapNs, () -> {
            int packets = scenario.crossTrafficBurst == 1 ? 1 : burstLength();
            for (int i = 0; i < packets; i++) {
                events.after(i * withinBurstNs, this::offerCrossPacket);
            }
            planCrossTraffic();
        });
    }

    /** Geometric. */
    private int burstLength() {
        double stops = 1.0 / scenario.crossTrafficBurst;
        return 1 + (int) (StrictMath.log(1 - random.nextDouble()) / StrictMath.log(1 - stops));
    }

    private void offerCrossPacket() {
        path.bottleneck().offer(new Frame(Frame.CROSS_TRAFFIC, CROSS_PACKET_BYTES, false, frame -> {}, () -> {}));
    }
}
