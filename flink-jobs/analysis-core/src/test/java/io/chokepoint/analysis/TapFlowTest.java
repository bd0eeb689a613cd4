// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.RunFate.CONTRIBUTED;
import static io.chokepoint.analysis.RunFate.CONTRIBUTED_AFTER_HOLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The first runs of a flow. {@link Tap} compares every flow of every other test with what its analysis tells as well. */
class TapFlowTest {
    private static final PacketScript YOUNG = PacketScript.parse(Timeline.OPENING + """
            repeat 3 {
            +0.010 A > B P. +1448  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            """);
    private static final List<RunSpec> RUNS = RunCutter.PROBE.cutAndEnd(YOUNG.flow(), YOUNG.packets(), "FIN", 0);

    private final RunFolder folder = new RunFolder(AnalysisSettings.DEFAULT);
    private final TapFlow flow = new TapFlow("leaf1");
    private final List<Row> rows = new ArrayList<>();

    private RunFate fold(RunSpec run) {
        byte[] bytes = Tap.encode(run);
        assertThat(folder.read(bytes, 0, bytes.length)).isEqualTo(DecodeStatus.OK);
        return folder.fold(flow, 1, 1, rows::add);
    }

    @Test
    void aYoungFlowIsKeptAsItsRunsUntilItEnds() {
        assertThat(fold(RUNS.get(0))).isEqualTo(CONTRIBUTED);
        assertThat(flow.isKeptAsRuns()).isTrue();
        assertThat(flow.heapBytes()).isLessThan(500);
        assertThat(rows).isEmpty();

        fold(RUNS.get(1));

        assertThat(flow.isFinished()).isTrue();
        assertThat(rows).isEqualTo(Tap.rowsOf(RUNS)).hasSize(1);
    }

    @Test
    void aFlowThatIsGivenUpEndsWithWhatIsKnown() {
        fold(RUNS.get(0));

        folder.finish(flow, rows::add);
        folder.finish(flow, rows::add);

        assertThat(rows)
                .isEqualTo(new Tap().takeAll(RUNS.subList(0, 1)).finish().rows());
    }

    @Test
    void aFlowWithoutARunEndsWithNothing() {
        folder.finish(flow, rows::add);

        assertThat(rows).isEmpty();
    }

    /** Fifty packets that take few bytes: the row of their second is due with the next packet. */
    @Test
    void theRowOfAFlowThatJustGrewIsNotLate() {
        PacketScript script = PacketScript.parse("""
                flow A 10.0.0.1:40000 B 10.0.0.2:443
                mss 1448
                repeat 50 {
                +0.000 A > B . +1448  ack 1
                }
                +1.500 A > B . +1448  ack 1
                """);
        List<RunSpec> runs = RunCutter.PROBE.cut(script.flow(), script.packets());
        Tap tap = new Tap().takeAll(runs);

        assertThat(Tap.encode(runs.get(0)).length).isLessThan(640);
        assertThat(tap.rows().get(0).get(RowField.DATA_PACKETS)).isEqualTo(50);
    }

    /** Its first run, and as many packets of the old flow: only the start tells that ports were used again. */
    @Test
    void aFlowWithAnotherStartIsAnotherFlow() {
        RunSpec first = RUNS.get(0);
        long later = first.flowStartNs() + 60_000_000_000L;
        RunSpec ofAnother = new RunSpec(first.flow(), later, first.packets().size(), later + 1, "NONE", List.of());

        Tap tap = new Tap().takeAll(List.of(first, ofAnother));

        assertThat(tap.fates()).containsExactly(CONTRIBUTED, CONTRIBUTED_AFTER_HOLE);
        assertThat(tap.rows()).hasSize(1);
    }

    @Test
    void aFlowOfAnotherSessionIsAnotherFlow() {
        List<RunSpec> runs = new RunCutter(4, true, true).cut(YOUNG.flow(), YOUNG.packets());

        Tap tap = new Tap().takeAll(runs.subList(0, 1)).nextSession().takeAll(runs.subList(1, 2));

        assertThat(tap.fates()).containsExactly(CONTRIBUTED, CONTRIBUTED_AFTER_HOLE);
        assertThat(tap.rows()).hasSize(1);
    }

    /** Its end comes with its last packets, as of most flows. */
    @Test
    void aFlowOfOneRunEndsWithIt() {
        RunSpec run = RUNS.get(0);

        fold(new RunSpec(run.flow(), run.flowStartNs(), 0, run.observedUntilNs(), "FIN", run.packets()));

        assertThat(flow.isFinished()).isTrue();
        assertThat(rows).isEqualTo(Tap.rowsOf(RUNS));
    }

    /** Restored from its state after any of its runs, each of which brings one packet. */
    @Test
    void aRestartWhileItIsKeptAsRunsChangesNothing() {
        List<RunSpec> runs = new RunCutter(1, true, true).cutAndEnd(YOUNG.flow(), YOUNG.packets(), "RST", 0);
        for (int restart = 0; restart < runs.size(); restart++) {
            Tap tap = new Tap().takeAll(runs.subList(0, restart));
            tap.restart();
            tap.takeAll(runs.subList(restart, runs.size()));

            assertThat(tap.rows()).as("after %d runs", restart).isEqualTo(Tap.rowsOf(runs));
        }
    }
}
