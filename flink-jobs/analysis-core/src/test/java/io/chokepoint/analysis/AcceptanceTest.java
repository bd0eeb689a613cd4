// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.Application;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import io.chokepoint.testkit.sim.Truth;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What an analysis of this kind is known to stumble over, where a simulated path or a family of scripts shows it best; the
 * table in schemas/golden/scripts/README.md names the rest.
 */
class AcceptanceTest {
    private static final double BITS_PER_MEGABIT = 1e6;
    private static final int MSS = 1448;
    private static final Map<Integer, SimulatedFlow> BULK = new HashMap<>();

    @AfterAll
    static void forgetFlows() {
        BULK.clear();
    }

    // ---- capacity ----

    /** A flow alone on its link, whose queue it fills. */
    private static SimulatedFlow bulk(int megabits) {
        return BULK.computeIfAbsent(megabits, rate -> {
            PathScenario scenario = PathScenario.named("bulk").access(40_000);
            return PathSimulator.run(
                            switch (rate) {
                                case 5 ->
                                    scenario.bottleneck(5, 20).roundTrip(40_000).lasting(6_000);
                                case 100 ->
                                    scenario.bottleneck(100, 120)
                                            .roundTrip(20_000)
                                            .lasting(2_000);
                                case 1_000 ->
                                    scenario.bottleneck(1_000, 250)
                                            .roundTrip(4_000)
                                            .lasting(500);
                                default ->
                                    scenario.bottleneck(10_000, 600)
                                            .roundTrip(1_000)
                                            .lasting(80);
                            })
                    .get(0);
        });
    }

    @ParameterizedTest(name = "{0} Mbit/s, tap before the link: {1}")
    @CsvSource({
        "5, true",
        "5, false",
        "100, true",
        "100, false",
        "1000, true",
        "1000, false",
        "10000, true",
        "10000, false"
    })
    void withoutAnyJitterTheCapacityIsExact(int megabits, boolean before) {
        SimulatedFlow flow = bulk(megabits);

        Row row = life(flow, before ? flow.before() : flow.after());

        assertThat(errorPercent(row, megabits)).isCloseTo(0, within(0.5));
    }

    @ParameterizedTest(name = "{0} Mbit/s in steps of {1} ns, tap before the link: {2}")
    @CsvSource({
        "5,     1000,  true,  0.1",
        "5,     1000,  false, 0.1",
        "5,     2000,  true,  0.1",
        "5,     2000,  false, 0.1",
        "5,     50000, true,  0.1",
        "5,     50000, false, 0.1",
        "100,   1000,  true,  0.1",
        "100,   1000,  false, 0.2",
        "100,   2000,  true,  0.1",
        "100,   2000,  false, 1",
        "100,   50000, true,  5",
        "1000,  1000,  true,  1",
        "1000,  1000,  false, 1",
        "1000,  2000,  true,  1",
        "1000,  2000,  false, 1",
        "1000,  50000, true,  0.5",
        "1000,  50000, false, 0.5",
        "10000, 50000, true,  0.5",
        "10000, 50000, false, 0.5",
    })
    void coarseStampsCostLittle(int megabits, long stepNs, boolean before, double percent) {
        SimulatedFlow flow = bulk(megabits);
        List<Packet> seen = (before ? flow.before() : flow.after())
                .stream()
                        .map(packet -> packet.at(-Math.floorDiv(-packet.timeNs(), stepNs) * stepNs))
                        .toList();

        Row row = life(flow, seen);

        assertThat(errorPercent(row, megabits)).isCloseTo(0, within(percent));
    }

    private static double errorPercent(Row row, int megabits) {
        return 100 * (row.get(RowField.CAPACITY_BITS_PER_SECOND) / (megabits * BITS_PER_MEGABIT) - 1);
    }

    // ---- receiver's window ----

    /** 45 segments fit the unscaled window; the tap stands at the sender, in the middle, at the receiver. */
    @ParameterizedTest(name = "{0} segments in flight, tap {1} ms from the sender")
    @CsvSource({
        "45, 0", "45, 20", "45, 40",
        "42, 0", "42, 20", "42, 40",
        "36, 0", "36, 20", "36, 40",
    })
    void onlyAFullWindowLimitsWhereverTheTapStands(int segments, int millis) {
        boolean isFull = segments == 45;
        Timeline.check("""
                timestamps
                mss 1448
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460,sackOK>
                +0.0%02d B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK>
                +0.0%02d A > B .  0:0(0) ack 1
                repeat 50 {
                +0.0%02d A > B .  +%d ack @
                +0.0%02d B > A .  0:0(0) ack @
                }
                expect A > B share_receiver_window %s, receiver_window_score %s, receiver_window_max_bytes 65160
                """.formatted(
                        40 - millis,
                        millis,
                        millis,
                        segments * MSS,
                        40 - millis,
                        isFull ? "0.95..1" : "0",
                        isFull ? "0.97..1" : "0"));
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aWindowBelowWhatThePathHoldsIsTheLimit(boolean before) {
        Row row = life(
                PathScenario.named("256 KB over 100 Mbit/s and 40 ms")
                        .bottleneck(100, 100)
                        .roundTrip(40_000)
                        .receiveBuffer(256 << 10, 3)
                        .lasting(5_000),
                before);

        assertThat(label(row, RowField.ROOT_CAUSE)).isEqualTo("receiver_window");
        assertThat(row.get(RowField.RECEIVER_WINDOW_SCORE)).isGreaterThan(9_000);
    }

    @Test
    void aWindowBeyondWhatThePathHoldsIsNone() {
        Row row = life(
                PathScenario.named("4 MB over 1 Gbit/s and 20 ms")
                        .access(10_000)
                        .bottleneck(1_000, 2_000)
                        .roundTrip(20_000)
                        .receiveBuffer(4 << 20, 7)
                        .lasting(1_500),
                true);

        assertThat(label(row, RowField.ROOT_CAUSE)).isEqualTo("unshared_bottleneck");
    }

    // ---- application ----

    static Stream<PathScenario> bursts() {
        UnaryOperator<PathScenario> path =
                scenario -> scenario.bottleneck(10, 100).roundTrip(40_000);
        return Stream.of(
                path.apply(PathScenario.named("20 kB every 100 ms")
                        .application(Application.periodic(20_000, 100_000_000))),
                path.apply(PathScenario.named("14 full segments every 100 ms")
                        .application(Application.periodic(14 * MSS, 100_000_000))),
                path.apply(PathScenario.named("13 full segments every 200 ms")
                        .application(Application.periodic(13 * MSS, 200_000_000))));
    }

    /**
     * The time in which a burst drains belongs to the application too: it had nothing more to send. Behind the link a part of
     * it cannot be told from a congestion window.
     */
    @ParameterizedTest
    @MethodSource("bursts")
    void burstsOfTheApplicationAreItsTime(PathScenario scenario) {
        double truth = PathSimulator.run(scenario).get(0).truth().share(Truth.Wait.APPLICATION);

        assertThat(share(life(scenario, true), RowField.SHARE_APPLICATION)).isCloseTo(truth, within(0.05));
        assertThat(share(life(scenario, false), RowField.SHARE_APPLICATION)).isCloseTo(truth, within(0.2));
    }

    // ---- loss ----

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void overtakenPacketsAreNotSentAgain(boolean before) {
        Row row = life(
                PathScenario.named("one in a hundred is overtaken")
                        .seed(2)
                        .bottleneck(20, 100)
                        .receiveBuffer(40_000, 2)
                        .reordering(0.01, 700),
                before);

        assertThat(row.get(RowField.REORDERED_PACKETS)).isGreaterThan(50);
        assertThat(row.get(RowField.RETRANSMISSION_SCORE)).isZero();
    }

    // ---- directions ----

    static Stream<UnaryOperator<PathScenario>> causes() {
        return Stream.of(
                path -> path.bottleneck(20, 60),
                path -> path.bottleneck(20, 60).loss(0.01),
                path -> path.bottleneck(10, 100)
                        .roundTrip(40_000)
                        .application(Application.periodic(20_000, 100_000_000)),
                path -> path.roundTrip(40_000).receiveBuffer(65_535, 0),
                path -> path.sendBuffer(65_536));
    }

    @ParameterizedTest
    @MethodSource("causes")
    void aDownloadHasTheScoresOfTheUpload(UnaryOperator<PathScenario> cause) {
        for (boolean before : new boolean[] {true, false}) {
            Row up = life(cause.apply(PathScenario.named("upload")), before);
            Row down = life(cause.apply(PathScenario.named("download")).serverSends(), before);

            for (RowField field :
                    List.of(RowField.DISPERSION_SCORE, RowField.RETRANSMISSION_SCORE, RowField.RECEIVER_WINDOW_SCORE)) {
                assertThat((double) down.get(field)).as(field.seenName()).isCloseTo(up.get(field), within(100.0));
            }
            assertThat(label(down, RowField.ROOT_CAUSE)).isEqualTo(label(up, RowField.ROOT_CAUSE));
            assertThat(label(down, RowField.DIRECTION)).isNotEqualTo(label(up, RowField.DIRECTION));
        }
    }

    @Test
    void acknowledgmentsAreNoRetransmissions() {
        SimulatedFlow flow = PathSimulator.run(
                        PathScenario.named("lossy").bottleneck(20, 60).loss(0.01))
                .get(0);
        List<Row> rows = Tap.rowsOf(RunCutter.PROBE.cutAndEnd(flow.flow(), flow.after(), "CAPTURE_END", 0));

        assertThat(rows)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(label(row, RowField.DIRECTION)).isEqualTo("client_to_server"));
        Timeline.check(PacketScript.load("padded-acks")); // there the ACKs' direction has sent a request
    }

    // ---- rows ----

    private static Row life(PathScenario scenario, boolean before) {
        SimulatedFlow flow = PathSimulator.run(scenario).get(0);
        return life(flow, before ? flow.before() : flow.after());
    }

    private static Row life(SimulatedFlow flow, List<Packet> packets) {
        List<Row> lives = Tap.rowsOf(RunCutter.PROBE.cutAndEnd(flow.flow(), packets, "CAPTURE_END", 0)).stream()
                .filter(row -> row.table() == Row.Table.FLOWS)
                .toList();
        assertThat(lives).hasSize(1);
        return lives.get(0);
    }

    private static double share(Row row, RowField field) {
        return (double) row.get(field) / row.intervalNanos();
    }

    private static String label(Row row, RowField field) {
        return row.isNull(field) ? "none" : field.labels().get((int) row.get(field));
    }
}
