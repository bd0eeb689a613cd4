// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.Application;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathScenarios;
import io.chokepoint.testkit.sim.PathScenarios.Labelled;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a row gives as reasons, advice, cost and quality follows from its other columns: over rows of every cause. */
class ReasonsTest {
    private static final double BITS_PER_BYTE_NANOS = 8e9;
    private static final List<PathScenario> SCENARIOS = Stream.concat(
                    PathScenarios.catalogue().stream().map(Labelled::scenario).map(scenario -> scenario.lasting(2_500)),
                    Stream.of(
                            PathScenario.named("small writes").application(Application.periodic(500, 5_000_000)),
                            PathScenario.named("unscaled").roundTrip(40_000).receiveBuffer(65_535, 0),
                            PathScenario.named("clamped").roundTrip(40_000).receiveBuffer(40_000, 2),
                            PathScenario.named("slow reader")
                                    .receiveBuffer(256_000, 7)
                                    .readingAt(1_000_000),
                            PathScenario.named("stopping reader")
                                    .receiveBuffer(100_000, 10)
                                    .readingAt(40_000)
                                    .lasting(4_000),
                            PathScenario.named("deep buffer").bottleneck(20, 60),
                            PathScenario.named("window on a known link")
                                    .bottleneck(20, 60)
                                    .roundTrip(40_000)
                                    .receiveBuffer(60_000, 2),
                            PathScenario.named("lossy")
                                    .bottleneck(20, 60)
                                    .loss(0.01)
                                    .reordering(0.02, 1_500),
                            PathScenario.named("deep and shared").flows(3).bottleneck(10, 200)))
            .toList();
    private static final PathScenario OVERFLOWS =
            PathScenario.named("overflows").bottleneck(20, 60).lasting(5_000);
    private static final PathScenario UPLOAD = PathScenario.named("upload").bottleneck(20, 60);
    private static final PathScenario DOWNLOAD =
            PathScenario.named("download").bottleneck(20, 60).serverSends();
    private static final PathScenario FAST =
            PathScenario.named("fast").bottleneck(100, 100).lasting(2_000);

    private final List<Row> rows = new ArrayList<>();
    private final List<Row> notRestarted = new ArrayList<>();
    private final List<Row> restarted = new ArrayList<>();

    /** One test of many, for the rows are dear. */
    @Test
    void allFollowsFromTheOtherColumns() {
        analyse();
        assertAll(
                this::everyNanosecondHasOneCause,
                this::whatNeedsACapacityFollowsFromIt,
                this::restartsDoNotMatter,
                this::everyCauseIsAmongTheRows,
                this::theEvidenceBearsTheNameOfTheCause,
                this::theEvidenceOfTheApplicationIsItsShareTheWindowLeftAndTheFlight,
                this::theEvidenceOfASendBufferIsItsShareItsBurstsAndTheFlight,
                this::theEvidenceOfAWindowIsItsShareItsSizeAndTheRoundTrip,
                this::theEvidenceOfAFullPathIsItsShareAndTheOwnRate,
                this::theEvidenceOfTransportIsItsShareTheFlightAndTheLosses,
                this::theEvidenceOfAMixtureAreItsTwoLargestShares,
                this::theEvidenceOfAShortTransferAreItsPacketsAndTheLeast,
                this::aBufferIsAdvisedThatHoldsTwiceWhatWasOffered,
                this::aFasterLinkThanTheCapacityIsAdvised,
                this::theAdviceFollowsFromTheSubCause,
                this::aDeepQueueIsToldByItsLength,
                this::whatIsLostIsCountedWhereAKnownCapacityIsNotTheLimit,
                this::aVerdictIsNoSurerThanWhatIsKnownOfItsTime,
                this::scoresFollowFromTheirColumns,
                this::qualityFollowsFromTheColumns);
    }

    private void restartsDoNotMatter() {
        assertThat(restarted).isEqualTo(notRestarted);
    }

    private void analyse() {
        SCENARIOS.stream()
                .flatMap(scenario -> Simulated.flows(scenario).stream())
                .forEach(this::analyse);
        PacketScript.names(Path.of(System.getProperty("chokepoint.root", "../.."), "schemas/golden/scripts"))
                .forEach(name -> rows.addAll(Tap.rowsOf(PacketScript.load(name).runs(RunCutter.PROBE))));
    }

    private void everyNanosecondHasOneCause() {
        List<RowField> shares = Arrays.stream(RowField.values())
                .filter(field -> field.kind() == RowField.Kind.SHARE)
                .toList();
        assertThat(rows).allSatisfy(row -> {
            assertThat(shares).allSatisfy(share -> assertThat(row.get(share)).isNotNegative());
            assertThat(shares.stream().mapToLong(row::get).sum()).isEqualTo(row.intervalNanos());
        });
    }

    private void analyse(SimulatedFlow flow) {
        List<Row> before = Simulated.rows(flow.flow(), flow.before());
        notRestarted.addAll(before);
        rows.addAll(before);
        rows.addAll(Simulated.rows(flow.flow(), flow.after()));
        Tap restarting = new Tap();
        Simulated.runs(flow.flow(), flow.before()).forEach(run -> {
            restarting.take(run);
            restarting.restart();
        });
        restarted.addAll(restarting.rows());
    }

    private void everyCauseIsAmongTheRows() {
        assertThat(rows.stream().map(row -> label(row, RowField.ROOT_CAUSE)).collect(Collectors.toSet()))
                .contains(
                        "application",
                        "send_buffer",
                        "receiver_window",
                        "unshared_bottleneck",
                        "shared_bottleneck",
                        "transport",
                        "short_transfer",
                        "mixed");
    }

    // ---- evidence ----

    private void theEvidenceBearsTheNameOfTheCause() {
        assertThat(rows)
                .allSatisfy(row -> assertThat(EvidenceRule.values()[(int) row.get(RowField.EVIDENCE_RULE)].name())
                        .isIn(namesOfEvidence(label(row, RowField.ROOT_CAUSE), isProven(row))));
    }

    /** Of others on a path whose capacity is not proven the own rate says nothing. */
    private static String namesOfEvidence(String cause, boolean isProven) {
        return cause.equals("shared_bottleneck") && !isProven ? "BOTTLENECK" : cause.toUpperCase(Locale.ROOT);
    }

    private void theEvidenceOfTheApplicationIsItsShareTheWindowLeftAndTheFlight() {
        of("application", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(percent(row, RowField.SHARE_APPLICATION));
            long room = row.get(RowField.RECEIVER_WINDOW_MEAN_BYTES) - row.get(RowField.OUTSTANDING_MEAN_BYTES);
            assertThat(row.get(RowField.EVIDENCE_B)).isEqualTo(Math.max(0, room) / 1_000);
            assertThat(row.get(RowField.EVIDENCE_C)).isEqualTo(row.get(RowField.OUTSTANDING_MAX_BYTES) / 1_000);
        });
    }

    private void theEvidenceOfASendBufferIsItsShareItsBurstsAndTheFlight() {
        of("send_buffer", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(percent(row, RowField.SHARE_SEND_BUFFER));
            assertThat(row.get(RowField.EVIDENCE_B)).isBetween(4L, row.get(RowField.OUTSTANDING_MAX_BYTES) / 1_448);
            assertThat(row.get(RowField.EVIDENCE_C)).isEqualTo(row.get(RowField.OUTSTANDING_MAX_BYTES) / 1_000);
        });
    }

    private void theEvidenceOfAWindowIsItsShareItsSizeAndTheRoundTrip() {
        of("receiver_window", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(percent(row, RowField.SHARE_RECEIVER_WINDOW));
            assertThat(row.get(RowField.EVIDENCE_B)).isEqualTo(row.get(RowField.RECEIVER_WINDOW_MEAN_BYTES) / 1_000);
            assertThat(row.get(RowField.EVIDENCE_C)).isEqualTo(row.get(RowField.RTT_MIN_SECONDS) / 1_000);
        });
    }

    private void theEvidenceOfAFullPathIsItsShareAndTheOwnRate() {
        of("unshared_bottleneck", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(fullPercent(row));
            assertThat(row.get(RowField.EVIDENCE_B)).isCloseTo(ratePercent(row), within(1L));
            assertThat(row.get(RowField.EVIDENCE_C)).isGreaterThan(20);
        });
        of("shared_bottleneck", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(fullPercent(row));
            assertThat(row.get(RowField.EVIDENCE_B)).isPositive();
            if (isProven(row)) {
                assertThat(row.get(RowField.EVIDENCE_C)).isCloseTo(ratePercent(row), within(1L));
            } else {
                assertThat(row.get(RowField.EVIDENCE_RULE)).isEqualTo(EvidenceRule.BOTTLENECK.ordinal());
            }
        });
    }

    private void theEvidenceOfTransportIsItsShareTheFlightAndTheLosses() {
        of("transport", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(percent(row, RowField.SHARE_TRANSPORT));
            assertThat(row.get(RowField.EVIDENCE_B)).isEqualTo(row.get(RowField.OUTSTANDING_MAX_BYTES) / 1_000);
            assertThat(row.get(RowField.EVIDENCE_C)).isEqualTo(row.get(RowField.LOSS_EVENTS));
        });
    }

    private void theEvidenceOfAMixtureAreItsTwoLargestShares() {
        of("mixed", row -> {
            List<Long> shares = Stream.of(
                            percent(row, RowField.SHARE_APPLICATION),
                            percent(row, RowField.SHARE_SEND_BUFFER),
                            percent(row, RowField.SHARE_RECEIVER_WINDOW),
                            fullPercent(row),
                            percent(row, RowField.SHARE_TRANSPORT))
                    .sorted()
                    .toList();
            assertThat(row.get(RowField.EVIDENCE_A)).isEqualTo(shares.get(4));
            assertThat(row.get(RowField.EVIDENCE_B)).isEqualTo(shares.get(3));
        });
    }

    private void theEvidenceOfAShortTransferAreItsPacketsAndTheLeast() {
        of("short_transfer", row -> {
            assertThat(row.get(RowField.EVIDENCE_A)).isLessThan(130);
            assertThat(row.get(RowField.EVIDENCE_B)).isEqualTo(130);
            assertThat(row.get(RowField.CONFIDENCE)).isZero();
            assertThat(label(row, RowField.ADVICE_RULE)).isEqualTo("0");
        });
    }

    // ---- advice and cost ----

    private void aBufferIsAdvisedThatHoldsTwiceWhatWasOffered() {
        of("receiver_window", row -> {
            boolean isSlow = !label(row, RowField.SUB_CAUSE).startsWith("window_");
            long least = 2 * row.get(RowField.RECEIVER_WINDOW_MAX_BYTES) / 1_000;
            long product = Math.round(row.get(RowField.CAPACITY_BITS_PER_SECOND)
                    * (double) row.get(RowField.RTT_MIN_SECONDS)
                    / BITS_PER_BYTE_NANOS
                    / 1_000);
            assertThat(row.get(RowField.ADVICE_A))
                    .isBetween(isSlow ? 0 : least, isSlow ? 0 : Math.max(least, 4 * product + 2));
        });
        of(
                "send_buffer",
                row -> assertThat(row.get(RowField.ADVICE_A))
                        .isGreaterThanOrEqualTo(2 * row.get(RowField.RECEIVER_WINDOW_MAX_BYTES) / 1_000));
    }

    private void aFasterLinkThanTheCapacityIsAdvised() {
        of(
                "unshared_bottleneck",
                row -> assertThat((double) row.get(RowField.ADVICE_A))
                        .isCloseTo(row.get(RowField.CAPACITY_BITS_PER_SECOND) / 1e3, within(1.0)));
    }

    private void theAdviceFollowsFromTheSubCause() {
        Map<String, AdviceRule> advice = Map.ofEntries(
                entry("idle", AdviceRule.APPLICATION_IDLE),
                entry("paced", AdviceRule.APPLICATION_IDLE),
                entry("small_writes", AdviceRule.APPLICATION_SMALL_WRITES),
                entry("waiting_for_peer", AdviceRule.APPLICATION_WAITS),
                entry("window_unscaled", AdviceRule.RECEIVER_WINDOW_SCALING),
                entry("window_clamped", AdviceRule.RECEIVER_WINDOW),
                entry("slow_reader", AdviceRule.SLOW_READER),
                entry("zero_window", AdviceRule.SLOW_READER),
                entry("deep_buffer", AdviceRule.SHARED_DEEP_BUFFER),
                entry("sharing_undecided", AdviceRule.BOTTLENECK),
                entry("slow_start", AdviceRule.TRANSPORT_SLOW_START),
                entry("random_loss", AdviceRule.TRANSPORT_LOSS),
                entry("reordering", AdviceRule.TRANSPORT_REORDERING),
                entry("congestion_avoidance", AdviceRule.TRANSPORT_GROWTH));
        Set<String> silent = Set.of("short_transfer", "unshared_bottleneck");
        assertThat(rows)
                .filteredOn(row -> !row.isNull(RowField.SUB_CAUSE) && !silent.contains(label(row, RowField.ROOT_CAUSE)))
                .isNotEmpty()
                .allSatisfy(row -> assertThat(AdviceRule.values()[(int) row.get(RowField.ADVICE_RULE)])
                        .isEqualTo(advice.get(label(row, RowField.SUB_CAUSE))));
        of(
                "unshared_bottleneck",
                row -> assertThat(AdviceRule.values()[(int) row.get(RowField.ADVICE_RULE)])
                        .isEqualTo(AdviceRule.UNSHARED_BOTTLENECK));
    }

    private void aDeepQueueIsToldByItsLength() {
        of(
                "shared_bottleneck",
                row -> assertThat(row.get(RowField.ADVICE_A))
                        .isEqualTo(
                                label(row, RowField.SUB_CAUSE).equals("deep_buffer")
                                        ? row.get(RowField.EVIDENCE_B) / 1_000
                                        : 0));
    }

    private void whatIsLostIsCountedWhereAKnownCapacityIsNotTheLimit() {
        List<String> gain = List.of("application", "send_buffer", "receiver_window", "transport", "shared_bottleneck");
        assertThat(rows)
                .anySatisfy(row -> assertThat(row.get(RowField.LOST_BYTES)).isPositive());
        assertThat(rows).allSatisfy(row -> {
            boolean counts = gain.contains(label(row, RowField.ROOT_CAUSE))
                    && isProven(row)
                    && row.get(RowField.THROUGHPUT_BITS_PER_SECOND) > 0;
            assertThat(row.isNull(RowField.ATTAINABLE_BITS_PER_SECOND)).isEqualTo(!counts);
            assertThat(row.isNull(RowField.LOST_BYTES)).isEqualTo(!counts);
            if (counts) {
                long capacity = row.get(RowField.CAPACITY_BITS_PER_SECOND);
                assertThat(row.get(RowField.ATTAINABLE_BITS_PER_SECOND)).isEqualTo(capacity);
                double payload = (double) row.get(RowField.DATA_BYTES) / row.get(RowField.THROUGHPUT_BITS_PER_SECOND);
                double attainable = capacity * (double) row.intervalNanos() / BITS_PER_BYTE_NANOS * payload;
                assertThat((double) row.get(RowField.LOST_BYTES))
                        .isCloseTo(
                                Math.max(0, attainable - row.get(RowField.GOODPUT_BITS_PER_SECOND)),
                                within(2 + attainable * 1e-6));
            }
        });
    }

    // ---- confidence, scores, quality ----

    private void aVerdictIsNoSurerThanWhatIsKnownOfItsTime() {
        assertThat(rows).allSatisfy(row -> {
            String cause = label(row, RowField.ROOT_CAUSE);
            long known = 1_000 - Math.round(1e3 * share(row, RowField.SHARE_UNKNOWN));
            assertThat(row.get(RowField.CONFIDENCE)).isBetween(0L, cause.equals("unknown") ? 1_000 : known + 1);
            if (cause.equals("mixed")) {
                assertThat(row.get(RowField.CONFIDENCE)).isLessThanOrEqualTo(500);
            }
        });
    }

    private void scoresFollowFromTheirColumns() {
        assertThat(rows).allSatisfy(row -> {
            long resent = row.get(RowField.RETRANSMITTED_FAST_BYTES)
                    + row.get(RowField.RETRANSMITTED_TIMEOUT_BYTES)
                    + row.get(RowField.RETRANSMITTED_TAIL_PROBE_BYTES)
                    + row.get(RowField.RETRANSMITTED_SPURIOUS_BYTES)
                    + row.get(RowField.RETRANSMITTED_OTHER_BYTES);
            long data = row.get(RowField.DATA_BYTES);
            assertThat(row.get(RowField.RETRANSMISSION_SCORE))
                    .isEqualTo(data == 0 ? 0 : Math.round(1e4 * resent / data));
            assertThat(row.isNull(RowField.DISPERSION_SCORE)).isEqualTo(!isProven(row));
            assertThat(row.isNull(RowField.CAPACITY_CONFIDENCE)).isEqualTo(!isProven(row));
            boolean isBulk =
                    !List.of("short_transfer", "application", "unknown").contains(label(row, RowField.ROOT_CAUSE));
            assertThat(row.isNull(RowField.RCA_CAUSE)).isEqualTo(!isProven(row) || !isBulk);
            if (!row.isNull(RowField.RTT_P50_SECONDS)) {
                assertThat(row.get(RowField.RTT_P99_SECONDS)).isGreaterThanOrEqualTo(row.get(RowField.RTT_P50_SECONDS));
                assertThat((double) row.get(RowField.RTT_P50_SECONDS))
                        .isGreaterThan(0.9 * row.get(RowField.RTT_MIN_SECONDS));
            }
        });
    }

    private void whatNeedsACapacityFollowsFromIt() {
        assertThat(rows).filteredOn(ReasonsTest::isProven).isNotEmpty().allSatisfy(row -> {
            double rttSeconds = row.get(RowField.RTT_MIN_SECONDS) / 1e9;
            double segment = row.get(RowField.MSS_BYTES) * 8.0 / row.get(RowField.CAPACITY_BITS_PER_SECOND);
            double window = row.get(RowField.RECEIVER_WINDOW_MEAN_BYTES);
            double gaps = window / row.get(RowField.MSS_BYTES) - 1;
            assertThat(row.get(RowField.CAPACITY_CONFIDENCE)).isBetween(1L, 1_000L);
            if (window > 0) {
                double burstiness = 1e4 * (1 - gaps * segment / rttSeconds);
                assertThat((double) row.get(RowField.BURSTINESS_SCORE))
                        .isCloseTo(burstiness, within(2 + Math.abs(burstiness) * 1e-3));
            }
            if (label(row, RowField.ROOT_CAUSE).equals("unshared_bottleneck")) {
                assertThat(row.get(RowField.DISPERSION_SCORE)).isBetween(-1_000L, 2_500L);
            }
        });
    }

    /** Sixty packets of 1514 bytes fit the queue that overflows. */
    @Test
    void theQueueAtALossIsThatOfTheLink() {
        SimulatedFlow flow = Simulated.flows(OVERFLOWS).get(0);

        Row before = life(Simulated.rows(flow.flow(), flow.before()));

        assertThat(before.get(RowField.LOSS_EVENTS)).isPositive();
        assertThat(before.get(RowField.QUEUE_BYTES_AT_LOSS)).isBetween(60 * 1_514L / 2, 60 * 1_514L * 5 / 4);
    }

    @Test
    void thePlaceOfTheTapIsToldFromTheClient() {
        SimulatedFlow up = Simulated.flows(UPLOAD).get(0);
        SimulatedFlow down = Simulated.flows(DOWNLOAD).get(0);

        for (Row row : Simulated.rows(up.flow(), up.before())) {
            assertThat(row.get(RowField.PATH_POSITION)).isLessThan(50);
            assertThat(label(row, RowField.BOTTLENECK_SIDE)).isEqualTo("after_tap");
        }
        for (Row row : Simulated.rows(down.flow(), down.before())) {
            assertThat(row.get(RowField.PATH_POSITION)).isGreaterThan(950);
        }
    }

    private void qualityFollowsFromTheColumns() {
        assertThat(rows).allSatisfy(row -> {
            assertThat(has(row, Quality.CAPACITY_UNKNOWN)).isEqualTo(!isProven(row));
            assertThat(has(row, Quality.DUPLICATED)).isEqualTo(row.get(RowField.DUPLICATE_PACKETS) > 0);
            assertThat(has(row, Quality.CAPTURE_LOSS)).isEqualTo(row.get(RowField.CAPTURE_LOSS_BYTES) > 0);
        });
    }

    @Test
    void aClockCoarserThanThePacketsIsTold() {
        SimulatedFlow flow = Simulated.flows(FAST).get(0);
        Tap coarseTap = new Tap().resolving(1_000_000);
        Simulated.runs(flow.flow(), flow.before()).forEach(coarseTap::take);

        Row fine = life(Simulated.rows(flow.flow(), flow.before()));
        Row coarse = life(coarseTap.rows());

        assertThat(has(fine, Quality.COARSE_CLOCK)).isFalse();
        assertThat(has(coarse, Quality.COARSE_CLOCK)).isTrue();
    }

    private static Row life(List<Row> rows) {
        return rows.get(rows.size() - 1);
    }

    private void of(String cause, Consumer<Row> judge) {
        assertThat(rows.stream().filter(row -> label(row, RowField.ROOT_CAUSE).equals(cause)))
                .isNotEmpty()
                .allSatisfy(judge);
    }

    private static boolean isProven(Row row) {
        return row.get(RowField.CAPACITY_KIND) == CapacityKind.PROVEN.ordinal();
    }

    private static boolean has(Row row, Quality quality) {
        return (row.get(RowField.QUALITY) & 1L << quality.ordinal()) != 0;
    }

    private static long ratePercent(Row row) {
        return Math.round(100 * (1 - row.get(RowField.DISPERSION_SCORE) / 1e4));
    }

    private static long fullPercent(Row row) {
        return Math.round(
                100 * (share(row, RowField.SHARE_UNSHARED_BOTTLENECK) + share(row, RowField.SHARE_SHARED_BOTTLENECK)));
    }

    private static long percent(Row row, RowField field) {
        return Math.round(100 * share(row, field));
    }

    private static double share(Row row, RowField field) {
        return row.intervalNanos() == 0 ? 0 : (double) row.get(field) / row.intervalNanos();
    }

    private static String label(Row row, RowField field) {
        return row.isNull(field)
                ? "none"
                : field.labels().isEmpty()
                        ? Long.toString(row.get(field))
                        : field.labels().get((int) row.get(field));
    }
}
