// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.sim.Application;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathScenarios;
import io.chokepoint.testkit.sim.PathScenarios.Labelled;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Flows whose cause is beyond doubt, seen from both sides of the bottleneck. */
class VerdictTest {
    private enum Place {
        BEFORE,
        AFTER;

        List<Packet> packetsOf(SimulatedFlow flow) {
            return this == BEFORE ? flow.before() : flow.after();
        }
    }

    private static final PathScenario ALONE = PathScenario.named("alone").bottleneck(30, 60);
    private static final PathScenario LARGE_WINDOW = PathScenario.named("500 KB where path and queue hold 400 KB")
            .lasting(4_000)
            .receiveBuffer(500_000, 4);
    private static final PathScenario NEARLY_ALL = PathScenario.named("11750 B every 5 ms at 20 Mbit/s")
            .bottleneck(20, 60)
            .application(Application.periodic(11_750, 5_000_000));
    private static final PathScenario BURSTS = PathScenario.named("20 full segments every 50 ms at 10 Mbit/s")
            .bottleneck(10, 100)
            .application(Application.periodic(20 * 1448, 50_000_000));
    private static final PathScenario DOWNLOAD =
            PathScenario.named("download").bottleneck(20, 60).serverSends();
    private static final PathScenario LOSSY =
            PathScenario.named("one in a hundred").bottleneck(20, 100).loss(0.01);
    private static final PathScenario OVERTAKEN = PathScenario.named("overtaken by one")
            .seed(2)
            .bottleneck(20, 100)
            .receiveBuffer(40_000, 2)
            .reordering(0.01, 700);
    private static final List<Labelled> CATALOGUE = PathScenarios.catalogue();

    static Stream<Arguments> catalogueAtBothTaps() {
        return CATALOGUE.stream()
                .flatMap(labelled -> Arrays.stream(Place.values()).map(place -> Arguments.of(labelled, place)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("catalogueAtBothTaps")
    void theCauseIsNamedAtBothTaps(Labelled labelled, Place place) {
        assertThat(lives(labelled.scenario(), place))
                .isNotEmpty()
                .allSatisfy(row -> assertThat(label(row, RowField.ROOT_CAUSE)).isEqualTo(labelled.rootCause()));
    }

    private static final List<Arguments> SUB_CAUSES = List.of(
            Arguments.of(
                    "idle",
                    PathScenario.named("20 KB every 50 ms").application(Application.periodic(20_000, 50_000_000))),
            Arguments.of(
                    "small_writes",
                    PathScenario.named("100 B every 12 ms").application(Application.periodic(100, 12_000_000))),
            Arguments.of(
                    "small_writes",
                    PathScenario.named("500 B every 5 ms").application(Application.periodic(500, 5_000_000))),
            Arguments.of(
                    "paced",
                    PathScenario.named("5000 B every 5 ms, round trip 40 ms")
                            .roundTrip(40_000)
                            .application(Application.periodic(5_000, 5_000_000))),
            Arguments.of(
                    "window_unscaled",
                    PathScenario.named("64 KiB over 40 ms").roundTrip(40_000).receiveBuffer(65_535, 0)),
            Arguments.of(
                    "window_clamped",
                    PathScenario.named("40 kB over 40 ms").roundTrip(40_000).receiveBuffer(40_000, 2)),
            Arguments.of(
                    "slow_reader",
                    PathScenario.named("reads 1 MB/s").receiveBuffer(256_000, 7).readingAt(1_000_000)),
            Arguments.of(
                    "deep_buffer",
                    PathScenario.named("60 packets of queue at 20 Mbit/s, 20 ms")
                            .bottleneck(20, 60)),
            Arguments.of(
                    "slow_start",
                    PathScenario.named("2 MB over a long fat path")
                            .bottleneck(1_000, 10_000)
                            .roundTrip(100_000)
                            .application(Application.transfer(2_000_000))));

    static Stream<Arguments> subCausesAtBothTaps() {
        return SUB_CAUSES.stream()
                .flatMap(arguments -> Arrays.stream(Place.values())
                        .map(place -> Arguments.of(arguments.get()[0], arguments.get()[1], place)));
    }

    @ParameterizedTest(name = "{0}: {1} {2}")
    @MethodSource("subCausesAtBothTaps")
    void theSubCauseIsNamedAtBothTaps(String subCause, PathScenario scenario, Place place) {
        assertThat(lives(scenario, place))
                .hasSize(1)
                .allSatisfy(row -> assertThat(label(row, RowField.SUB_CAUSE)).isEqualTo(subCause));
    }

    @ParameterizedTest
    @EnumSource
    void theCapacityAndItsSideAreKnown(Place place) {
        Row row = lives(ALONE, place).get(0);

        assertThat(label(row, RowField.CAPACITY_KIND)).isEqualTo("proven");
        assertThat((double) row.get(RowField.CAPACITY_BITS_PER_SECOND)).isCloseTo(30e6, within(0.01 * 30e6));
        assertThat(label(row, RowField.BOTTLENECK_SIDE)).isEqualTo(place == Place.BEFORE ? "after_tap" : "before_tap");
    }

    @ParameterizedTest
    @EnumSource
    void aWindowBeyondWhatThePathHoldsIsNoLimit(Place place) {
        assertThat(lives(LARGE_WINDOW, place))
                .extracting(row -> label(row, RowField.ROOT_CAUSE))
                .containsExactly("unshared_bottleneck");
    }

    /** From 0.97 of the capacity on; behind the link the rate is less certain, and either cause is right. */
    @Test
    void anApplicationThatWantsTheWholeLinkFindsItUsedUp() {
        assertThat(lives(NEARLY_ALL, Place.BEFORE))
                .allSatisfy(row -> assertThat(label(row, RowField.ROOT_CAUSE)).isEqualTo("unshared_bottleneck"));
    }

    /** Behind the link the segments of a burst come one packet time apart: half of the time here. */
    @ParameterizedTest
    @EnumSource
    void whatABurstTakesToPassTheLinkBelongsToTheWaitAfterIt(Place place) {
        assertThat(lives(BURSTS, place))
                .allSatisfy(row -> assertThat((double) row.get(RowField.SHARE_APPLICATION) / row.intervalNanos())
                        .isGreaterThan(0.9));
    }

    @ParameterizedTest
    @EnumSource
    void aDownloadIsJudgedAsAnUpload(Place place) {
        assertThat(lives(DOWNLOAD, place))
                .extracting(row -> label(row, RowField.DIRECTION), row -> label(row, RowField.ROOT_CAUSE))
                .containsExactly(tuple("server_to_client", "unshared_bottleneck"));
    }

    @ParameterizedTest
    @EnumSource
    void lossesAreThoseOfTheNetwork(Place place) {
        SimulatedFlow flow = Simulated.flows(LOSSY).get(0);

        Row row = lives(LOSSY, place).get(0);

        double lost = flow.truth().retransmittedBytes();
        assertThat((double) retransmittedBytes(row)).isCloseTo(lost, within(0.01 * lost));
        assertThat(row.get(RowField.CAPTURE_LOSS_BYTES)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void reorderingIsNoLoss(Place place) {
        Row row = lives(OVERTAKEN, place).get(0);

        assertThat(Simulated.flows(OVERTAKEN).get(0).truth().retransmittedBytes())
                .isZero();
        assertThat(row.get(RowField.REORDERED_PACKETS)).isPositive();
        assertThat(retransmittedBytes(row)).isZero();
        assertThat(row.get(RowField.LOSS_EVENTS)).isZero();
    }

    private static long retransmittedBytes(Row row) {
        return row.get(RowField.RETRANSMITTED_FAST_BYTES)
                + row.get(RowField.RETRANSMITTED_TIMEOUT_BYTES)
                + row.get(RowField.RETRANSMITTED_TAIL_PROBE_BYTES)
                + row.get(RowField.RETRANSMITTED_SPURIOUS_BYTES)
                + row.get(RowField.RETRANSMITTED_OTHER_BYTES);
    }

    /** Of every flow of a scenario the row of its life, in the direction of the data. */
    private static List<Row> lives(PathScenario scenario, Place place) {
        return Simulated.flows(scenario).stream()
                .flatMap(flow -> Simulated.rows(flow.flow(), place.packetsOf(flow)).stream())
                .filter(row -> row.table() == Row.Table.FLOWS)
                .toList();
    }

    private static String label(Row row, RowField field) {
        return row.isNull(field) ? "none" : field.labels().get((int) row.get(field));
    }
}
