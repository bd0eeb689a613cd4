// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.sink.EncodedRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Taps and partitions whose times have nothing to do with each other: nobody's rows wait for, or change, another's. */
class MixedTimesTest {
    private static final Duration IDLE = Duration.ofMinutes(40);
    private static final long IDLE_MILLIS = IDLE.toMillis();
    private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();
    private static final long WATERMARK_EVERY_MILLIS = 200;
    private static final int LIVE_BYTES = 1_000;
    private static final long NOW = 1_800_000_000_000L;

    private KeyedOneInputStreamOperatorTestHarness<FlowAtTap, TapRun, EncodedRow> harness;

    @BeforeEach
    void open() throws Exception {
        harness = new KeyedOneInputStreamOperatorTestHarness<>(
                new FlowAnalysisOperator(
                        new FlowAnalysisFunction(AnalysisSettings.DEFAULT, IDLE, "tcp-segments", LIVE_BYTES)),
                TapRun::key,
                FlowAtTap.type());
        harness.setup(
                EncodedRow.type().createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        harness.open();
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    /** The last second of 32 bits lies in 2106, that of a probe's stamps at the end of 2261. */
    @Test
    void flowsOfAllCenturiesAreJudgedSideBySide() throws Exception {
        List<List<TapRun>> flows = List.of(
                TapRuns.flowOf("2012-02-23T12:26:40Z", 40_000, 300),
                TapRuns.flowOf("1970-01-01T00:00:00Z", 40_001, 300),
                TapRuns.flowOf("2106-02-07T06:28:14Z", 40_002, 300),
                TapRuns.flowOf("2261-12-31T23:59:58Z", 40_003, 300),
                TapRuns.flow(40_004, 300));
        int longest = flows.stream().mapToInt(List::size).max().orElseThrow();

        long appended = NOW;
        for (int i = 0; i < longest; i++) {
            for (List<TapRun> flow : flows) {
                if (i < flow.size()) {
                    harness.processElement(flow.get(i), appended++);
                }
            }
            harness.processWatermark(appended);
        }

        List<String> expected = new ArrayList<>();
        flows.forEach(flow -> expected.addAll(TapRuns.rowsOfTheCore(flow)));
        assertThat(rows()).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(states()).isZero();
    }

    /** One tap is dead after its first run, one sends all its runs in one instant, one lags an hour behind. */
    @Test
    void deadBurstingAndLaggingTapsLeaveTheOthersAlone() throws Exception {
        List<TapRun> live = TapRuns.flow(40_000, 300);
        List<TapRun> dead = TapRuns.atTap("dead", live);
        List<TapRun> bursting = TapRuns.atTap("bursting", live);
        List<TapRun> lagging = TapRuns.atTap("lagging", live);

        harness.processElement(dead.get(0), NOW);
        for (int i = 0; i < live.size(); i++) {
            harness.processElement(live.get(i), NOW + i * 1000L);
            harness.processWatermark(NOW + i * 1000L);
        }
        // Nobody waits for the dead tap, or for a watermark beyond its own runs.
        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(live));
        for (TapRun run : bursting) {
            harness.processElement(run, NOW + HOUR_MILLIS - 1);
        }
        for (TapRun run : lagging) {
            harness.processElement(run, NOW + HOUR_MILLIS);
        }
        harness.processWatermark(NOW + HOUR_MILLIS);

        List<String> expected = Stream.of(live, bursting, lagging)
                .flatMap(runs -> TapRuns.rowsOfTheCore(runs).stream())
                .collect(Collectors.toCollection(ArrayList::new));
        expected.addAll(TapRuns.rowsOfTheCoreGivenUp(dead.subList(0, 1)));
        assertThat(rows()).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(states()).isZero();
    }

    /** Slower than the others, as after an outage of its broker, but within the patience of the log. */
    @Test
    void aPartitionThatCatchesUpSlowlyLosesNothing() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 2_000);

        harness.processElement(runs.get(0), NOW);
        harness.processWatermark(NOW + IDLE_MILLIS - 1);
        for (int i = 1; i < runs.size(); i++) {
            harness.processElement(runs.get(i), NOW + i);
            harness.processWatermark(NOW + IDLE_MILLIS - 1 + i * (IDLE_MILLIS - 1));
        }

        assertThat(runs).hasSizeGreaterThan(10);
        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs));
        assertThat(states()).isZero();
    }

    /**
     * A partition was away for hours while the others went on: its flows were ended. What comes of them then is marked and
     * counted, and is one flow, not one after each watermark.
     */
    @Test
    void aPartitionThatWasAwayForTooLongComesBackInOnePiece() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 2_000);
        List<TapRun> before = runs.subList(0, 4);
        List<TapRun> after = runs.subList(4, runs.size());
        for (TapRun run : before) {
            harness.processElement(run, NOW);
        }
        harness.processWatermark(NOW + 3 * HOUR_MILLIS);
        assertThat(rows()).isEqualTo(TapRuns.rowsOfTheCoreGivenUp(before));
        assertThat(states()).isZero();

        long watermark = NOW + 3 * HOUR_MILLIS;
        for (TapRun run : after) {
            harness.processElement(run, NOW + 1);
            harness.processWatermark(watermark += WATERMARK_EVERY_MILLIS);
        }

        List<String> expected = new ArrayList<>(TapRuns.rowsOfTheCoreGivenUp(before));
        expected.addAll(TapRuns.rowsOfTheCore(after));
        assertThat(rows()).containsExactlyElementsOf(expected);
        assertThat(states()).isZero();
        assertThat(runsByFate()).isEqualTo(Map.of("contributed", runs.size() - 1L, "contributed_after_hole", 1L));
        assertThat(TapRuns.qualityOfTheCore(after).get(0) & 1L << Quality.HOLE.ordinal())
                .as("the first row after the outage is marked")
                .isNotZero();
    }

    private List<String> rows() {
        return harness.extractOutputValues().stream().map(TapRuns::hex).toList();
    }

    private Map<String, Long> runsByFate() throws Exception {
        harness.prepareSnapshotPreBarrier(1);
        Map<String, Long> runs = new TreeMap<>();
        harness.getSideOutput(FlowAnalysisFunction.LEDGER).forEach(record -> {
            LedgerEntry.Fate fate = (LedgerEntry.Fate) record.getValue();
            runs.merge(fate.fate(), fate.amount().runs(), Long::sum);
        });
        return runs;
    }

    private long states() {
        FlowAnalysisOperator operator = (FlowAnalysisOperator) harness.getOperator();
        return operator.<FlowAtTap>getKeyedStateBackend()
                .getKeys("flow-analysis-v1", VoidNamespace.INSTANCE)
                .count();
    }
}
