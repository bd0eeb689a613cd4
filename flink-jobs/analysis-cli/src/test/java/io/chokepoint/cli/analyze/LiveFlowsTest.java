// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LiveFlowsTest {
    private static final String TAP = "tap";
    private static final int FLOWS = 12;
    /** Every third flow grows beyond the 50 data packets of a mouse. */
    private static final int[] DATA_PACKETS = {3, 40, 140};

    private final BatchEncoder encoder = new BatchEncoder(BatchHeader.ofTap(TAP));

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 11})
    void rowsDoNotDependOnHowManyMiceAreObjects(int miceAsObjects) throws IOException {
        List<byte[]> runs = interleaved();

        assertThat(rows(runs, miceAsObjects)).isNotEmpty().isEqualTo(rows(runs, 1000));
    }

    @Test
    void portsThatAreUsedAgainAreAFlowOfTheirOwn() throws IOException {
        List<byte[]> runs = new ArrayList<>(runs(0, 3));
        runs.addAll(runs(0, 3));
        runs.addAll(runs(1, 3));
        runs.addAll(runs(0, 3));

        assertThat(rows(runs, 1)).hasSize(4).isEqualTo(rows(runs, 1000));
    }

    /** One packet a run, one run of each flow in turn. */
    private List<byte[]> interleaved() {
        List<List<byte[]>> flows = new ArrayList<>();
        for (int i = 0; i < FLOWS; i++) {
            flows.add(runs(i, DATA_PACKETS[i % DATA_PACKETS.length]));
        }
        int longest = flows.stream().mapToInt(List::size).max().orElseThrow();
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < longest; i++) {
            for (List<byte[]> flow : flows) {
                if (i < flow.size()) {
                    all.add(flow.get(i));
                }
            }
        }
        return all;
    }

    private List<byte[]> runs(int flow, int dataPackets) {
        List<RunSpec> runs =
                PacketScript.parse("""
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
                        """.formatted(40_000 + flow, dataPackets)).runs(new RunCutter(1, true, false));
        return runs.stream().map(encoder::run).toList();
    }

    private static List<Row> rows(List<byte[]> runs, int miceAsObjects) throws IOException {
        LiveFlows flows = new LiveFlows(AnalysisSettings.DEFAULT, TAP, miceAsObjects);
        List<Row> rows = new ArrayList<>();
        RunFolder folder = new RunFolder(AnalysisSettings.DEFAULT);
        for (byte[] bytes : runs) {
            assertThat(folder.read(bytes, 0, bytes.length)).isEqualTo(DecodeStatus.OK);
            flows.fold(folder, 1, 1, rows::add);
        }
        flows.finish(folder, rows::add);
        return rows;
    }
}
