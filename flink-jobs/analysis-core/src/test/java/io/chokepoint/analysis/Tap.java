// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.RunSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The analysis of one flow at one tap: runs go in by their bytes, rows and fates are kept. Beside it the same flow is kept as
 * drivers keep it, and has to tell the same at the same time.
 */
final class Tap {
    private static final BatchEncoder ENCODER = new BatchEncoder(BatchHeader.ofTap("leaf1"));
    private static final long FIRST_SESSION = 1;

    private final RunReader reader = new RunReader();
    private final Run reused = new Run(); // the analysis may keep nothing of it
    private final RunFolder folder;
    private final List<RunFate> fates = new ArrayList<>();
    private final Told told = new Told();
    private final Told toldByKept = new Told();
    private final AnalysisSettings settings;
    private final String name;
    private long session = FIRST_SESSION;
    private long resolutionNanos = 1;
    private long repeatedPackets;
    private FlowAnalysis analysis;
    private TapFlow kept;

    /** What came out. */
    private static final class Told implements RowSink {
        private final List<Row> rows = new ArrayList<>();
        private final List<MinuteRow> minutes = new ArrayList<>();
        private final List<Observation> observations = new ArrayList<>();

        @Override
        public void accept(Row row) {
            rows.add(row);
        }

        @Override
        public void acceptMinute(MinuteRow row) {
            minutes.add(row);
        }

        @Override
        public void observe(Observation observation) {
            observations.add(observation);
        }

        private int number() {
            return rows.size() + minutes.size() + observations.size();
        }
    }

    private Tap(AnalysisSettings settings, String name) {
        this.settings = settings;
        this.name = name;
        this.analysis = new FlowAnalysis(settings, name);
        this.kept = new TapFlow(name);
        this.folder = new RunFolder(settings);
    }

    Tap(String name) {
        this(AnalysisSettings.DEFAULT, name);
    }

    Tap() {
        this("leaf1");
    }

    /** With intervals of another length. */
    static Tap withIntervalsOf(long nanos) {
        return new Tap(new AnalysisSettings(nanos, AnalysisSettings.DEFAULT.layer(), 1), "leaf1");
    }

    /** Whose addresses are is told. */
    static Tap with(Tenants tenants) {
        AnalysisSettings settings = AnalysisSettings.DEFAULT;
        return new Tap(
                new AnalysisSettings(settings.intervalNanos(), settings.layer(), settings.version(), tenants), "leaf1");
    }

    /** Rows of runs in their order. */
    static List<Row> rowsOf(List<RunSpec> runs) {
        return new Tap().takeAll(runs).rows();
    }

    /** Rows of all flows in batches: what a driver does. */
    static List<Row> rowsOfBatches(List<byte[]> values) {
        SegmentBatchReader batch = new SegmentBatchReader();
        Map<FlowKey, Tap> taps = new LinkedHashMap<>();
        for (byte[] value : values) {
            assertThat(batch.read(value)).isEqualTo(DecodeStatus.OK);
            for (int i = 0; i < batch.runs(); i++) {
                Run run = new Run();
                int from = batch.runOffset(i);
                int length = batch.runLength(i);
                assertThat(new RunReader().readHeader(value, from, length, run)).isEqualTo(DecodeStatus.OK);
                taps.computeIfAbsent(run.key(), key -> new Tap()).take(value, from, length);
            }
        }
        return taps.values().stream().flatMap(tap -> tap.told.rows.stream()).toList();
    }

    /** Stamps go in larger steps than a nanosecond. */
    Tap resolving(long nanos) {
        resolutionNanos = nanos;
        return this;
    }

    /** What comes from now on is of a probe that was started anew. */
    Tap nextSession() {
        session++;
        return this;
    }

    Tap takeAll(List<RunSpec> runs) {
        runs.forEach(this::take);
        return this;
    }

    /** The bytes in which a run reaches the analysis. */
    static byte[] encode(RunSpec spec) {
        return ENCODER.run(spec);
    }

    void take(RunSpec spec) {
        take(encode(spec));
    }

    /** Takes a run by its bytes. */
    void take(byte[] bytes) {
        take(bytes, 0, bytes.length);
    }

    private void take(byte[] bytes, int from, int length) {
        assertThat(reader.read(bytes, from, length, reused)).isEqualTo(DecodeStatus.OK);
        RunFate fate = analysis.onRun(reused, session, resolutionNanos, told);
        fates.add(fate);
        repeatedPackets += analysis.repeatedPackets();

        assertThat(folder.read(bytes, from, length)).isEqualTo(DecodeStatus.OK);
        assertThat(folder.fold(kept, session, resolutionNanos, toldByKept)).isEqualTo(fate);
        assertThat(kept.repeatedPackets()).isEqualTo(analysis.repeatedPackets());
        assertThat(toldByKept.number())
                .as("rows, minutes and observations so far")
                .isEqualTo(told.number());
        assertThat(kept.isFinished()).isEqualTo(analysis.isFinished());
        assertThat(kept.isMouse()).isEqualTo(analysis.isMouse());
    }

    private void assertThatBothToldTheSame() {
        assertThat(toldByKept.rows).isEqualTo(told.rows);
        assertThat(toldByKept.minutes).isEqualTo(told.minutes);
        assertThat(toldByKept.observations).isEqualTo(told.observations);
    }

    /** Goes on with a copy of the analysis, made of its state. */
    void restart() {
        analysis = Restored.from(analysis::writeTo, in -> FlowAnalysis.readFrom(in, settings, name));
        kept = Restored.from(kept::writeTo, in -> TapFlow.readFrom(in, settings, name));
    }

    /** The flow is given up without an end mark. */
    Tap finish() {
        analysis.finish(told);
        folder.finish(kept, toldByKept);
        return this;
    }

    /** All rows in the order in which they came. */
    List<Row> rows() {
        assertThatBothToldTheSame();
        return List.copyOf(told.rows);
    }

    /** All minute rows in the order in which they came. */
    List<MinuteRow> minutes() {
        assertThatBothToldTheSame();
        return List.copyOf(told.minutes);
    }

    /** What groups are made of, in the order in which it came. */
    List<Observation> observations() {
        assertThatBothToldTheSame();
        return List.copyOf(told.observations);
    }

    /** What became of each run. */
    List<RunFate> fates() {
        return List.copyOf(fates);
    }

    /** Packets that had been folded in before they came again. */
    long repeatedPackets() {
        return repeatedPackets;
    }
}
