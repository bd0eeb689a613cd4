// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.source.RejectedRecord;
import io.chokepoint.job.source.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend.PriorityQueueStateType;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FlowAnalysisOperatorTest {
    private static final Duration IDLE = Duration.ofMinutes(40);
    private static final long IDLE_MILLIS = IDLE.toMillis();
    private static final long NOW = 1_800_000_000_000L;
    private static final long MANY = 100_000_000;

    /** Where state can live. */
    enum Backend {
        HEAP,
        ROCKSDB,
        /** Writes timers before anything else of a snapshot. */
        ROCKSDB_WITH_TIMERS_ON_HEAP;

        StateBackend make() {
            if (this == HEAP) {
                return new HashMapStateBackend();
            }
            EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend();
            backend.setPriorityQueueStateType(
                    this == ROCKSDB ? PriorityQueueStateType.ROCKSDB : PriorityQueueStateType.HEAP);
            return backend;
        }
    }

    private KeyedOneInputStreamOperatorTestHarness<FlowAtTap, TapRun, EncodedRow> harness;

    @BeforeEach
    void open() throws Exception {
        harness = harness(Backend.HEAP, MANY);
        harness.open();
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    private static KeyedOneInputStreamOperatorTestHarness<FlowAtTap, TapRun, EncodedRow> harness(
            Backend backend, long liveBytes) throws Exception {
        FlowAnalysisFunction function =
                new FlowAnalysisFunction(AnalysisSettings.DEFAULT, IDLE, "tcp-segments", liveBytes);
        KeyedOneInputStreamOperatorTestHarness<FlowAtTap, TapRun, EncodedRow> harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        new FlowAnalysisOperator(function), TapRun::key, FlowAtTap.type());
        harness.setStateBackend(backend.make());
        harness.setup(
                EncodedRow.type().createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    @Test
    void aFinishedFlowLeavesNothing() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 200);

        feed(runs.subList(0, runs.size() - 1), NOW);
        save();
        assertThat(states()).isEqualTo(1);
        assertThat(harness.numEventTimeTimers()).isEqualTo(1);
        feed(runs.subList(runs.size() - 1, runs.size()), NOW);

        assertThat(rows())
                .containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs))
                .hasSizeGreaterThan(2);
        assertNothingIsLeft();
    }

    @Test
    void aFlowOfOneRunLeavesNothing() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 1);
        TapRun end = runs.get(runs.size() - 1);

        feed(List.of(end), NOW);

        assertThat(rows()).hasSize(1);
        assertNothingIsLeft();
    }

    @Test
    void aFlowWithoutEndMarkIsEndedByTheLogAndLeavesNothing() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 200);
        List<TapRun> withoutEnd = runs.subList(0, runs.size() - 1);
        feed(withoutEnd, NOW);

        harness.processWatermark(NOW + IDLE_MILLIS - 1);
        save();
        assertThat(states()).isEqualTo(1);
        harness.processWatermark(NOW + IDLE_MILLIS);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs));
        assertNothingIsLeft();
    }

    @Test
    void aFlowThatGoesOnKeepsItsOneTimer() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 200);
        feed(runs.subList(0, 1), NOW);
        save();
        feed(runs.subList(1, 2), NOW + IDLE_MILLIS / 2);

        harness.processWatermark(NOW + IDLE_MILLIS);

        assertThat(states()).isEqualTo(1);
        assertThat(harness.numEventTimeTimers()).isEqualTo(1);

        harness.processWatermark(NOW + IDLE_MILLIS + IDLE_MILLIS / 2);

        assertNothingIsLeft();
    }

    @Test
    void anEndedInputLeavesNothing() throws Exception {
        feed(TapRuns.flow(40_000, 20).subList(0, 1), NOW);
        feed(TapRuns.flow(40_001, 200).subList(0, 1), NOW);

        harness.processWatermark(Long.MAX_VALUE);

        assertNothingIsLeft();
    }

    @Test
    void aRepeatedRunIsDroppedAndCounted() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 300);
        List<TapRun> repeated = new ArrayList<>(runs);
        repeated.add(1, runs.get(0));

        feed(repeated, NOW);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs));
        assertThat(fates()).containsExactlyInAnyOrder(fate("contributed", runs), fate("repeated", runs.subList(0, 1)));
        assertNothingIsLeft();
    }

    @Test
    void aHoleIsFlaggedAndCounted() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 300);
        List<TapRun> holed = new ArrayList<>(runs);
        holed.remove(1);

        feed(holed, NOW);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(holed));
        assertThat(TapRuns.qualityOfTheCore(runs)).noneMatch(flags -> isSet(flags, Quality.HOLE));
        assertThat(TapRuns.qualityOfTheCore(holed)).anyMatch(flags -> isSet(flags, Quality.HOLE));
        assertThat(fates())
                .containsExactlyInAnyOrder(
                        fate("contributed", all(runs.subList(0, 1), runs.subList(3, runs.size()))),
                        fate("contributed_after_hole", runs.subList(2, 3)));
    }

    private static List<TapRun> all(List<TapRun> some, List<TapRun> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    private static boolean isSet(long flags, Quality quality) {
        return (flags & 1L << quality.ordinal()) != 0;
    }

    @Test
    void aMalformedRunIsRejectedAndNothingElseIsAffected() throws Exception {
        List<TapRun> good = TapRuns.flow(40_000, 300);
        TapRun bad = cutShort(TapRuns.flow(40_001, 20).get(0));
        List<TapRun> mixed = new ArrayList<>(good);
        mixed.add(1, bad);
        mixed.add(bad);

        feed(mixed, NOW);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(good));
        assertThat(rejected()).hasSize(2).allSatisfy(record -> {
            assertThat(record.reason()).isEqualTo(Rejection.TRUNCATED);
            assertThat(record.value()).isEqualTo(bad.bytes());
            assertThat(record.partition()).isEqualTo(TapRuns.ORIGIN.partition());
            assertThat(record.offset()).isEqualTo(bad.offset());
        });
        assertThat(fates()).containsExactlyInAnyOrder(fate("contributed", good), fate("malformed", List.of(bad, bad)));
        assertNothingIsLeft();
    }

    private static TapRun cutShort(TapRun run) {
        byte[] bytes = Arrays.copyOf(run.bytes(), run.length() - 1);
        return new TapRun(run.key(), run.origin(), 7, 1, run.packets(), bytes, 0, bytes.length);
    }

    @Test
    void whatIsCountedIsToldOnce() throws Exception {
        feed(TapRuns.flow(40_000, 300), NOW);

        assertThat(fates()).hasSize(1);
        assertThat(fates()).hasSize(1);
        harness.prepareSnapshotPreBarrier(2);

        assertThat(sideOutput(FlowAnalysisFunction.LEDGER)).hasSize(1);
    }

    @Test
    void twoTapsAreAnalysedApart() throws Exception {
        List<TapRun> here = TapRuns.flow(40_000, 200);
        List<TapRun> there = TapRuns.atTap("spine1", here);

        for (int i = 0; i < here.size(); i++) {
            feed(List.of(here.get(i), there.get(i)), NOW);
        }

        List<String> expected = new ArrayList<>(TapRuns.rowsOfTheCore(here));
        expected.addAll(TapRuns.rowsOfTheCore(there));
        assertThat(rows()).containsExactlyInAnyOrderElementsOf(expected);
        assertNothingIsLeft();
    }

    @Test
    void aFlowThatEndsBetweenCheckpointsIsNeverStored() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 200);

        feed(runs.subList(0, runs.size() - 1), NOW);

        assertNothingIsLeft();
    }

    private static List<TapRun> withoutEnd(List<TapRun> runs) {
        return runs.subList(0, runs.size() - 1);
    }

    @Test
    void aFlowIsEndedByTheLogWhetherItWasStoredOrNot() throws Exception {
        List<TapRun> stored = TapRuns.flow(40_000, 40);
        List<TapRun> early = TapRuns.flow(40_001, 40);
        List<TapRun> late = TapRuns.flow(40_002, 40);
        feed(withoutEnd(stored), NOW);
        save();
        feed(withoutEnd(early), NOW + 1);
        feed(withoutEnd(late), NOW + 2);

        harness.processWatermark(NOW + IDLE_MILLIS);
        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(stored));
        harness.processWatermark(NOW + 1 + IDLE_MILLIS);
        assertThat(rows()).hasSize(2 * TapRuns.rowsOfTheCore(stored).size());
        harness.processWatermark(NOW + 2 + IDLE_MILLIS);

        assertThat(rows())
                .containsExactlyInAnyOrderElementsOf(Stream.of(stored, early, late)
                        .flatMap(runs -> TapRuns.rowsOfTheCore(runs).stream())
                        .toList());
        assertNothingIsLeft();
    }

    @Test
    void aStoredFlowThatGoesOnUnstoredKeepsWhatItGotMeanwhile() throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 300);
        feed(runs.subList(0, 1), NOW);
        save();
        feed(runs.subList(1, runs.size() - 1), NOW + 1);

        harness.processWatermark(NOW + IDLE_MILLIS);
        feed(runs.subList(runs.size() - 1, runs.size()), NOW + 2);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs));
        assertNothingIsLeft();
    }

    /** With room for one flow only, each run reads its flow and saves another one. */
    @ParameterizedTest
    @CsvSource({
        "HEAP, 1",
        "HEAP, 9000",
        "HEAP, 100000000",
        "ROCKSDB, 1",
        "ROCKSDB, 9000",
        "ROCKSDB, 100000000",
        "ROCKSDB_WITH_TIMERS_ON_HEAP, 9000"
    })
    void rowsAreTheSameWhereverARestartFalls(Backend backend, long liveBytes) throws Exception {
        List<List<TapRun>> flows =
                List.of(TapRuns.flow(41_000, 20), TapRuns.packetByPacket(41_001, 70), TapRuns.elephant());
        List<TapRun> runs = interleaved(flows);
        List<String> expected = new ArrayList<>();
        flows.forEach(flow -> expected.addAll(TapRuns.rowsOfTheCore(flow)));

        List<String> rows = new ArrayList<>();
        List<LedgerEntry> fates = new ArrayList<>();
        OperatorSubtaskState kept = null;
        int restarts = 4;
        for (int part = 0; part <= restarts; part++) {
            restart(backend, liveBytes, kept);
            feed(runs.subList(runs.size() * part / (restarts + 1), runs.size() * (part + 1) / (restarts + 1)), NOW);
            harness.prepareSnapshotPreBarrier(part);
            kept = harness.snapshot(part, NOW);
            rows.addAll(rows());
            fates.addAll(sideOutput(FlowAnalysisFunction.LEDGER));
        }

        assertThat(rows).containsExactlyInAnyOrderElementsOf(expected);
        Amount told = new Amount(0, 0, 0);
        for (LedgerEntry entry : fates) {
            told = told.plus(((LedgerEntry.Fate) entry).amount());
        }
        assertThat(fates)
                .as("every run tells its fate before the checkpoint behind it")
                .hasSize(restarts + 1);
        assertThat(told).as("and once").isEqualTo(((LedgerEntry.Fate) fate("contributed", runs)).amount());
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @EnumSource(Backend.class)
    void aRestoredFlowIsEndedByTheLog(Backend backend) throws Exception {
        List<TapRun> runs = TapRuns.flow(40_000, 40);
        restart(backend, MANY, null);
        feed(withoutEnd(runs), NOW);
        save();
        OperatorSubtaskState kept = harness.snapshot(1, NOW);

        restart(backend, MANY, kept);
        harness.processWatermark(NOW + IDLE_MILLIS);

        assertThat(rows()).containsExactlyElementsOf(TapRuns.rowsOfTheCore(runs));
        assertNothingIsLeft();
    }

    private void restart(Backend backend, long liveBytes, OperatorSubtaskState kept) throws Exception {
        harness.close();
        harness = harness(backend, liveBytes);
        if (kept != null) {
            harness.initializeState(kept);
        }
        harness.open();
    }

    /** Run by run from each flow in turn. */
    private static List<TapRun> interleaved(List<List<TapRun>> flows) {
        int longest = flows.stream().mapToInt(List::size).max().orElseThrow();
        return IntStream.range(0, longest)
                .boxed()
                .flatMap(i -> flows.stream().filter(flow -> i < flow.size()).map(flow -> flow.get(i)))
                .toList();
    }

    private void feed(List<TapRun> runs, long appendedMillis) throws Exception {
        for (TapRun run : runs) {
            harness.processElement(run, appendedMillis);
        }
    }

    /** What the task does before a checkpoint. */
    private void save() throws Exception {
        harness.prepareSnapshotPreBarrier(1);
    }

    private List<String> rows() {
        return harness.extractOutputValues().stream().map(TapRuns::hex).toList();
    }

    private List<LedgerEntry> fates() throws Exception {
        harness.prepareSnapshotPreBarrier(1);
        return sideOutput(FlowAnalysisFunction.LEDGER);
    }

    private List<RejectedRecord> rejected() {
        return sideOutput(FlowAnalysisFunction.REJECTED);
    }

    private <T> List<T> sideOutput(OutputTag<T> tag) {
        var records = harness.getSideOutput(tag);
        return records == null
                ? List.of()
                : records.stream().map(StreamRecord::getValue).toList();
    }

    private static LedgerEntry fate(String name, List<TapRun> runs) {
        long packets = runs.stream().mapToInt(TapRun::packets).sum();
        return new LedgerEntry.Fate(TapRuns.ORIGIN, NOW / 60_000, name, new Amount(0, runs.size(), packets));
    }

    /** As the harness counts them for the heap only. */
    private long states() {
        FlowAnalysisOperator operator = (FlowAnalysisOperator) harness.getOperator();
        return operator.<FlowAtTap>getKeyedStateBackend()
                .getKeys("flow-analysis-v1", VoidNamespace.INSTANCE)
                .count();
    }

    private void assertNothingIsLeft() {
        assertThat(states()).as("states").isZero();
        assertThat(harness.numEventTimeTimers()).as("timers").isZero();
        assertThat(harness.numProcessingTimeTimers()).as("processing timers").isZero();
    }
}
