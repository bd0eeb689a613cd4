// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.TapFlow;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.RowEncoder;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.sim.PathScenarios;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Runs as the splitter hands them on, and what the core alone makes of them. */
final class TapRuns {
    static final String TAP = "leaf1";
    static final BatchOrigin ORIGIN = new BatchOrigin(TAP, 1, 0, 0);

    private static final BatchEncoder ENCODER = new BatchEncoder(BatchHeader.ofTap(TAP));

    private TapRuns() {}

    /** A handshake, then one data packet and its ACK every 10 ms; ports tell flows apart; one packet a run. */
    static List<TapRun> packetByPacket(int clientPort, int dataPackets) {
        return of(script(clientPort, dataPackets).runs(new RunCutter(1, true, false)));
    }

    /** As {@link #packetByPacket}, in the runs of a probe. */
    static List<TapRun> flow(int clientPort, int dataPackets) {
        return of(script(clientPort, dataPackets).runs(RunCutter.PROBE));
    }

    /** As {@link #flow}, of another time. */
    static List<TapRun> flowOf(String start, int clientPort, int dataPackets) {
        return of(script(start, clientPort, dataPackets).runs(RunCutter.PROBE));
    }

    private static PacketScript script(int clientPort, int dataPackets) {
        return script("2026-01-01T00:00:00Z", clientPort, dataPackets);
    }

    private static PacketScript script(String start, int clientPort, int dataPackets) {
        return PacketScript.parse("""
                start %s
                flow A 10.0.0.1:%d B 10.0.0.2:443
                timestamps
                mss 1448
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
                +0.001 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
                +0.000 A > B .  0:0(0) ack 1  win 502
                repeat %d {
                +0.009 A > B P. +1448  ack @
                +0.001 B > A .  0:0(0) ack @  win 509
                }
                end FIN
                """.formatted(start, clientPort, dataPackets));
    }

    /** A flow with losses that fills 20 Mbit/s for some seconds: some thousand packets. */
    static List<TapRun> elephant() {
        PathScenarios.Labelled alone = PathScenarios.catalogue().stream()
                .filter(labelled -> labelled.rootCause().equals("unshared_bottleneck"))
                .findFirst()
                .orElseThrow();
        SimulatedFlow flow = PathSimulator.run(alone.scenario()).get(0);
        return of(RunCutter.PROBE.cutAndEnd(flow.flow(), PathSimulator.inOrder(flow.after()), "FIN", 0));
    }

    static List<TapRun> of(List<RunSpec> specs) {
        RunReader reader = new RunReader();
        Run run = new Run();
        List<TapRun> runs = new ArrayList<>();
        for (RunSpec spec : specs) {
            byte[] bytes = ENCODER.run(spec);
            assertThat(reader.readHeader(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);
            FlowAtTap key = new FlowAtTap(run.key(), TAP);
            runs.add(new TapRun(key, ORIGIN, 7, 1, spec.packets().size(), bytes, 0, bytes.length));
        }
        return runs;
    }

    /** Another tap's copy of runs. */
    static List<TapRun> atTap(String tap, List<TapRun> runs) {
        BatchOrigin origin = new BatchOrigin(tap, 1, 0, 0);
        return runs.stream()
                .map(run -> new TapRun(
                        new FlowAtTap(run.key().flow(), tap),
                        origin,
                        7,
                        1,
                        run.packets(),
                        run.bytes(),
                        0,
                        run.length()))
                .toList();
    }

    static Run decoded(TapRun run) {
        Run decoded = new Run();
        assertThat(new RunReader().read(run.bytes(), run.from(), run.length(), decoded))
                .isEqualTo(DecodeStatus.OK);
        return decoded;
    }

    /** The rows of the core, which keeps its objects all the time. */
    static List<String> rowsOfTheCore(List<TapRun> runs) {
        List<String> rows = new ArrayList<>();
        analyse(runs, encodedInto(rows));
        return rows;
    }

    /** The same of a flow whose end never comes. */
    static List<String> rowsOfTheCoreGivenUp(List<TapRun> runs) {
        List<String> rows = new ArrayList<>();
        RowSink sink = encodedInto(rows);
        analyse(runs, sink).finish(sink);
        return rows;
    }

    /** Takes the bytes of interval, flow and minute rows as text. */
    static RowSink encodedInto(List<String> rows) {
        RowEncoder encoder = new RowEncoder();
        return new RowSink() {
            @Override
            public void accept(Row row) {
                rows.add(hex(encoder.encode(row)));
            }

            @Override
            public void acceptMinute(MinuteRow row) {
                rows.add(hex(encoder.encode(row)));
            }
        };
    }

    /** What the core's rows say of their quality. */
    static List<Long> qualityOfTheCore(List<TapRun> runs) {
        List<Long> flags = new ArrayList<>();
        analyse(runs, row -> flags.add(row.get(RowField.QUALITY)));
        return flags;
    }

    private static FlowAnalysis analyse(List<TapRun> runs, RowSink sink) {
        FlowAnalysis analysis =
                new FlowAnalysis(AnalysisSettings.DEFAULT, runs.get(0).key().tap());
        runs.forEach(run -> analysis.onRun(decoded(run), 1, 1, sink));
        return analysis;
    }

    /** A flow into which runs were folded as the job does it. */
    static TapFlow folded(List<TapRun> runs) {
        TapFlow flow = new TapFlow(TAP);
        RunFolder folder = new RunFolder(AnalysisSettings.DEFAULT);
        for (TapRun run : runs) {
            fold(folder, run, flow, row -> {});
        }
        return flow;
    }

    static void fold(RunFolder folder, TapRun run, TapFlow flow, RowSink out) {
        assertThat(folder.read(run.bytes(), run.from(), run.length())).isEqualTo(DecodeStatus.OK);
        folder.fold(flow, 1, 1, out);
    }

    /** The bytes of a row as text. */
    static String hex(EncodedRow row) {
        return HexFormat.of().formatHex(row.bytes());
    }
}
