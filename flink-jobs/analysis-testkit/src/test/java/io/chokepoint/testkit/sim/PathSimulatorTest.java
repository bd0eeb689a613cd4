// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.testkit.Packet;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The simulator against what can be worked out on paper. */
class PathSimulatorTest {
    private static final double BITS_PER_BYTE = 8;
    private static final long START_NS = 1_767_225_600_000_000_000L;

    @Test
    void theSameSeedGivesTheSamePackets() {
        assertThat(PathSimulator.run(busy(7)).get(0).after())
                .isEqualTo(PathSimulator.run(busy(7)).get(0).after())
                .isNotEqualTo(PathSimulator.run(busy(8)).get(0).after());
    }

    private static PathScenario busy(long seed) {
        return PathScenario.named("busy")
                .seed(seed)
                .lasting(2_000)
                .crossTraffic(20)
                .loss(0.001)
                .reordering(0.01, 500)
                .jitter(100);
    }

    @Test
    void aBulkFlowFillsTheBottleneck() {
        SimulatedFlow flow = only(PathScenario.named("bulk").bottleneck(50, 200).lasting(10_000));

        // 50 Mbit/s in frames of 1514 bytes carry 1448 of payload each: 47.8 Mbit/s.
        assertThat(goodputMegabits(flow.after(), 5, 10)).isCloseTo(50 * 1448 / 1514.0, within(0.1));
        assertThat(flow.truth().slots().get(8).share(Truth.Wait.CONGESTION_WINDOW))
                .isEqualTo(1);
        assertThat(flow.truth().droppedPackets()).isPositive();
    }

    @Test
    void aWindowAllowsItselfOnceARoundTrip() {
        SimulatedFlow flow = only(PathScenario.named("window")
                .roundTrip(20_000)
                .receiveBuffer(64_000, 0)
                .lasting(5_000));

        // 64,000 B, of which whole segments are sent: 44 x 1448 B in 20 ms and what a segment takes on the way.
        assertThat(goodputMegabits(flow.before(), 1, 5)).isBetween(24.5, 25.5);
        assertThat(flow.truth().slots().get(3).share(Truth.Wait.RECEIVER_WINDOW))
                .isGreaterThan(0.9);
        assertThat(flow.truth().droppedPackets()).isZero();
    }

    @Test
    void aSlowReaderClosesTheWindow() {
        SimulatedFlow flow = only(PathScenario.named("slow reader")
                .receiveBuffer(256_000, 7)
                .readingAt(1_000_000)
                .lasting(10_000));

        assertThat(goodputMegabits(flow.after(), 2, 10)).isCloseTo(8, within(0.3));
        assertThat(flow.truth().slots().get(5).share(Truth.Wait.RECEIVER_WINDOW))
                .isGreaterThan(0.9);
    }

    @Test
    void aSendBufferAllowsItselfOnceARoundTrip() {
        SimulatedFlow flow =
                only(PathScenario.named("send buffer").sendBuffer(65_536).lasting(5_000));

        assertThat(goodputMegabits(flow.before(), 1, 5)).isBetween(15.0, 26.3);
        assertThat(flow.truth().slots().get(3).share(Truth.Wait.SEND_BUFFER)).isGreaterThan(0.9);
    }

    @Test
    void anApplicationSendsWhatItWrites() {
        SimulatedFlow flow = only(PathScenario.named("paced")
                .application(Application.periodic(20_000, 50_000_000))
                .lasting(5_000));

        assertThat(goodputMegabits(flow.after(), 1, 5)).isCloseTo(3.2, within(0.05));
        assertThat(flow.truth().slots().get(3).share(Truth.Wait.APPLICATION)).isGreaterThan(0.9);
    }

    @Test
    void everyByteOfATransferArrivesDespiteLossAndItEndsInOrder() {
        SimulatedFlow flow = only(PathScenario.named("transfer")
                .application(Application.transfer(3_000_000))
                .loss(0.02)
                .reordering(0.02, 500)
                .lasting(60_000));

        Packet last = flow.before().get(flow.before().size() - 1);
        Packet first = flow.before().get(0);
        assertThat(last.flags()).isEqualTo(Packet.ACK);
        assertThat(last.sequenceNumber() - first.sequenceNumber()).isEqualTo(1 + 3_000_000 + 1);
        assertThat(flow.truth().retransmittedBytes()).isPositive();
    }

    @Test
    void queueingDelaysButDoesNotLose() {
        SimulatedFlow flow = only(PathScenario.named("deep buffer")
                .bottleneck(20, 100_000)
                .receiveBuffer(500_000, 9)
                .lasting(5_000));

        assertThat(flow.truth().droppedPackets()).isZero();
        assertThat(flow.before().stream().filter(Packet::fromA).count())
                .isGreaterThan(flow.after().stream().filter(Packet::fromA).count());
        assertThat(goodputMegabits(flow.after(), 1, 5)).isCloseTo(20 * 1448 / 1514.0, within(0.1));
    }

    @Test
    void aLostSynIsSentAgain() {
        SimulatedFlow flow =
                only(PathScenario.named("no room").bottleneck(10, 0).lasting(4_000));

        assertThat(flow.before())
                .extracting(packet -> packet.timeNs() - START_NS)
                .containsExactly(50_592L, 1_000_050_592L, 3_000_050_592L);
        assertThat(flow.after()).isEmpty();
    }

    @Test
    void flowsShareTheBottleneck() {
        List<SimulatedFlow> flows = PathSimulator.run(
                PathScenario.named("four").flows(4).bottleneck(40, 100).lasting(10_000));

        double total = flows.stream()
                .mapToDouble(flow -> goodputMegabits(flow.after(), 2, 10))
                .sum();
        assertThat(total).isCloseTo(40 * 1448 / 1514.0, within(0.5));
        assertThat(flows)
                .allSatisfy(
                        flow -> assertThat(goodputMegabits(flow.after(), 2, 10)).isBetween(4.0, 20.0));
    }

    @Test
    void whatIsOvertakenKeepsItsNumbers() {
        SimulatedFlow flow = only(PathScenario.named("overtaken")
                .receiveBuffer(4_000, 0)
                .reordering(0.05, 500)
                .lasting(1_000));
        int isn = flow.before().get(0).sequenceNumber();
        List<Packet> data = flow.before().stream()
                .filter(packet -> packet.fromA() && packet.payloadBytes() > 0)
                .toList();

        assertThat(flow.truth().retransmittedBytes()).isZero();
        List<Packet> asNumbered = data.stream()
                .sorted(Comparator.comparingInt(packet -> packet.ip().id()))
                .toList();
        assertThat(asNumbered).isNotEqualTo(data);
        assertThat(asNumbered)
                .extracting(packet -> packet.sequenceNumber() - isn)
                .isSorted();
    }

    @Test
    void theServerMaySend() {
        SimulatedFlow flow = only(PathScenario.named("download").serverSends().lasting(1_000));

        assertThat(flow.after().stream()
                        .filter(packet -> !packet.fromA())
                        .mapToLong(Packet::payloadBytes)
                        .sum())
                .isGreaterThan(1_000_000);
        assertThat(flow.before()).extracting(Packet::flags).startsWith(2, 18, 16);
        assertThat(flow.before()).extracting(Packet::fromA).startsWith(true, false, true);
    }

    @Test
    void tapsSeeTheSamePacketsHopsApart() {
        SimulatedFlow flow =
                only(PathScenario.named("taps").receiveBuffer(100_000, 9).lasting(1_000));

        assertThat(flow.before().get(0).ip().timeToLive()).isEqualTo(64);
        assertThat(flow.after().get(0).ip().timeToLive()).isEqualTo(60);
        assertThat(flow.before()).isSortedAccordingTo((p, q) -> Long.compare(p.timeNs(), q.timeNs()));
    }

    private static SimulatedFlow only(PathScenario scenario) {
        List<SimulatedFlow> flows = PathSimulator.run(scenario);
        assertThat(flows).hasSize(1);
        return flows.get(0);
    }

    private static double goodputMegabits(List<Packet> packets, int fromSecond, int toSecond) {
        long bytes = packets.stream()
                .filter(packet -> packet.timeNs() - START_NS >= fromSecond * 1_000_000_000L)
                .filter(packet -> packet.timeNs() - START_NS < toSecond * 1_000_000_000L)
                .mapToLong(Packet::payloadBytes)
                .sum();
        return bytes * BITS_PER_BYTE / (toSecond - fromSecond) / 1e6;
    }
}
