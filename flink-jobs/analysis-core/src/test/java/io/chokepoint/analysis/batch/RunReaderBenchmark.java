// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What decoding costs; printed, not asserted. By hand: {@code mvn test -Dtest=RunReaderBenchmark}. */
class RunReaderBenchmark {
    private static final int ROUNDS = 40;
    private static final int REPEATS = 4;

    @Test
    void decodesTheRunsOfABulkFlow() {
        PathScenario scenario =
                PathScenario.named("bulk").loss(0.0005).jitter(50).lasting(5_000);
        SimulatedFlow flow = PathSimulator.run(scenario).get(0);
        List<RunSpec> specs = RunCutter.PROBE.cut(flow.flow(), flow.after());
        List<byte[]> values = new BatchEncoder(BatchHeader.ofTap("leaf1")).encode(specs, 6);

        double bestNs = Double.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            long startNs = System.nanoTime();
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                readAll(values);
            }
            bestNs = Math.min(
                    bestNs,
                    (double) (System.nanoTime() - startNs)
                            / REPEATS
                            / flow.after().size());
        }
        long bytes = values.stream().mapToLong(value -> value.length).sum();
        System.out.printf(
                "%d packets, %.1f B and %.1f ns a packet%n",
                flow.after().size(), (double) bytes / flow.after().size(), bestNs);
    }

    private final SegmentBatchReader reader = new SegmentBatchReader();
    private final RunReader runReader = new RunReader();
    private final Run run = new Run();

    private void readAll(List<byte[]> values) {
        for (byte[] value : values) {
            assertThat(reader.read(value)).isEqualTo(DecodeStatus.OK);
            for (int i = 0; i < reader.runs(); i++) {
                runReader.read(value, reader.runOffset(i), reader.runLength(i), run);
            }
        }
    }
}
