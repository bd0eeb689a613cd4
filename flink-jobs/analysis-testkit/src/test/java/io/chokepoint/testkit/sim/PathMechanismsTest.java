// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.testkit.Packet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whole paths with the queues, hosts and others that {@link PathScenario} offers. */
class PathMechanismsTest {
    private static final int CE = 3;
    private static final long MICRO = 1_000;

    private static PathScenario fast(String name) {
        return PathScenario.named(name)
                .bottleneck(1_000, 100)
                .access(10_000)
                .roundTrip(500)
                .hostToTap(20)
                .apart(100)
                .congestionControl(CongestionControl.Kind.CUBIC)
                .books(1_000_000, 1_000_000)
                .lasting(400);
    }

    private static Figures figures(PathScenario scenario) {
        return new Figures(scenario, PathSimulator.simulate(scenario));
    }

    @Test
    void marksReachTheReceiverComeBackAndMakeTheSenderGiveWayWithoutALoss() {
        PathScenario scenario =
                fast("marks").bottleneck(1_000, 2_000).coDel(200, 2_000).ecn();
        SimulatedFlow flow = PathSimulator.run(scenario).get(0);

        List<Packet> data = flow.after().stream().filter(Packet::fromA).toList();
        long marked =
                data.stream().filter(packet -> packet.ip().trafficClass() == CE).count();
        long told = data.stream()
                .filter(packet -> (packet.flags() & Packet.CWR) != 0 && (packet.flags() & Packet.SYN) == 0)
                .count();
        assertThat(flow.before().get(0).flags()).isEqualTo(Packet.SYN | Packet.ECE | Packet.CWR);
        assertThat(marked).isPositive();
        assertThat(told).isBetween(1L, marked);
        assertThat(flow.truth().retransmittedBytes()).isZero();
        assertThat(figures(scenario).linkBusyShare()).isGreaterThan(0.9);
        assertThat(figures(scenario).queueMaxBytes()).isLessThan(2_000 * 1514);
    }

    @Test
    void aPolicedFlowLosesWhatExceedsItsRate() {
        PathScenario scenario = fast("policed").policer(200, 100_000);
        Figures figures = figures(scenario);

        assertThat(figures.linkBusyShare()).isCloseTo(0.2, within(0.02));
        assertThat(figures.total(0).drops).isPositive();
        assertThat(figures.queueStandingShare()).isLessThan(0.05);
    }

    @Test
    void flowsThatAreServedInTurnGetTheSame() {
        PathScenario scenario = fast("in turn").flows(3).fairQueueing();
        Figures figures = figures(scenario);

        for (int flow = 0; flow < 3; flow++) {
            assertThat(figures.shareOfLink(flow)).isCloseTo(1 / 3.0, within(0.02));
        }
    }

    @Test
    void bbrFillsTheLinkAndNeedsNoQueueForIt() {
        PathScenario scenario = fast("model").bottleneck(1_000, 1_000).congestionControl(CongestionControl.Kind.BBR);
        Figures figures = figures(scenario);

        assertThat(figures.linkBusyShare()).isGreaterThan(0.97);
        assertThat(figures.queueMeanBytes()).isLessThan(62_500); // of the bandwidth-delay product
    }

    @Test
    void theNarrowerOfTwoLinksHasTheQueue() {
        PathScenario narrowBefore = fast("narrow before").upstream(800, 60);
        PathScenario narrowBehind = fast("narrow behind").downstream(800, 60);

        assertThat(figures(narrowBefore).linkBusyShare()).isGreaterThan(0.97);
        assertThat(figures(narrowBefore).queueStandingShare()).isGreaterThan(0.9);
        assertThat(figures(narrowBehind).linkBusyShare()).isGreaterThan(0.97);
        SimulatedFlow before = PathSimulator.run(narrowBefore).get(0);
        long arrived = before.before().stream()
                .filter(packet -> packet.payloadBytes() > 0)
                .count();
        long lost = before.truth().droppedPackets();
        assertThat(lost).isPositive();
        assertThat(before.truth().sentSegments() - lost - arrived)
                .isBetween(0L, 60L + 20L); // in queue and on their way
    }

    @Test
    void hiddenFlowsTakeTheirShareUnseen() {
        PathScenario scenario = fast("hidden").hiddenFlows(1, Application.BULK);
        Simulation simulation = PathSimulator.simulate(scenario);
        Figures figures = new Figures(scenario, simulation);

        assertThat(simulation.flows()).hasSize(1);
        assertThat(simulation.hiddenFlows()).hasSize(1);
        assertThat(figures.shareOfLink(0) + figures.shareOfLink(1)).isCloseTo(1, within(1e-9));
        assertThat(figures.shareOfLink(0)).isBetween(0.2, 0.8);
    }

    @Test
    void aServerAnswersEachRequestAndWaitsForTheNext() {
        PathScenario scenario =
                fast("requests").serverSends().application(Application.answering(100_000, 500 * MICRO, 2_000 * MICRO));
        SimulatedFlow flow = PathSimulator.run(scenario).get(0);

        long requests = flow.after().stream()
                .filter(packet -> packet.fromA() && packet.payloadBytes() == Application.REQUEST_BYTES)
                .count();
        long answered = flow.after().stream()
                .filter(packet -> !packet.fromA())
                .mapToLong(Packet::payloadBytes)
                .sum();
        // A round trip, 0.5 ms to think, some round trips of slow start or 0.8 ms at the link's rate, 2 ms of pause.
        assertThat(requests).isBetween(80L, 120L);
        assertThat(answered).isBetween((requests - 1) * 100_000, requests * 100_000);
        assertThat(flow.truth().share(Truth.Wait.APPLICATION)).isGreaterThan(0.6);
        assertThat(flow.truth().droppedPackets()).isZero();
    }

    @Test
    void offloadingHostsSendLargeBurstsAndGetFewAcks() {
        PathScenario scenario = fast("offload")
                .bottleneck(10_000, 300)
                .access(40_000)
                .offloadAtTaps()
                .lasting(20);
        SimulatedFlow flow = PathSimulator.run(scenario).get(0);

        long data = flow.after().stream().filter(Packet::fromA).count();
        long acks = flow.after().stream().filter(packet -> !packet.fromA()).count();
        assertThat(data).isGreaterThan(10 * acks);
        List<TapRecord> before = new TapCapture(scenario, TapCapture.Joining.BEFORE_SENDING)
                .records(List.of(flow.flow()), List.of(flow.before()), TimestampQuality.EXACT);
        assertThat(before)
                .extracting(line -> line.packet().payloadBytes())
                .contains(45 * 1448)
                .allMatch(bytes -> bytes <= 45 * 1448);
        assertThat(before.stream()
                        .mapToLong(line -> line.packet().payloadBytes())
                        .sum())
                .isEqualTo(
                        flow.before().stream().mapToLong(Packet::payloadBytes).sum());
    }

    @Test
    void theBooksOfTheLinkAddUp() {
        PathScenario scenario = fast("books").flows(2).crossTraffic(300, 10);
        Simulation simulation = PathSimulator.simulate(scenario);

        for (LinkBooks.Bin bin : simulation.bottleneck().bins()) {
            long bytes = bin.flows.values().stream()
                    .mapToLong(counts -> counts.bytes)
                    .sum();
            assertThat(bin.busyNs).isBetween(0L, 1_000_000L);
            assertThat(bytes * 8.0).isCloseTo(bin.busyNs, within(2 * 1514 * 8.0)); // of 1 Gbit/s: a bit a nanosecond
            assertThat(bin.maxBytes).isBetween(bin.minBytes, 100 * 1514L);
        }
        SimulatedFlow flow = simulation.flows().get(0);
        assertThat(new Figures(scenario, simulation).total(0).drops)
                .isEqualTo(flow.truth().droppedPackets());
    }
}
