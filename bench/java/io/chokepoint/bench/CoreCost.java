// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.bench;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.batch.FlowKey;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** What the core costs when the compiler has settled: CPU of its thread, the least of all rounds. Prints JSON. */
public final class CoreCost {
    private static final int ROUNDS = 8;
    private static final long SECOND_NANOS = 1_000_000_000L;
    private static final long SHORT_NANOS = 100_000_000L;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Batches batches;
    private long rows;

    private CoreCost(Batches batches) {
        this.batches = batches;
    }

    /** A batch stream to work on. */
    public static void main(String[] arguments) throws IOException {
        CoreCost cost = new CoreCost(Batches.ofStream(Path.of(arguments[0])));
        long packets = cost.batches.packets();
        long decode = Long.MAX_VALUE;
        long analysis = Long.MAX_VALUE;
        long shortIntervals = Long.MAX_VALUE;
        long rows = 0;
        long moreRows = 0;
        for (int round = 0; round < ROUNDS; round++) {
            decode = Math.min(decode, cost.decode());
            analysis = Math.min(analysis, cost.analyse(SECOND_NANOS));
            rows = cost.rows;
            shortIntervals = Math.min(shortIntervals, cost.analyse(SHORT_NANOS));
            moreRows = cost.rows;
        }
        System.out.printf(
                "{\"core_packets\": %d, \"batch_bytes_per_packet\": %.2f, \"decode_ns_per_packet\": %.1f,"
                        + " \"analysis_ns_per_packet\": %.1f, \"interval_rows\": %d, \"interval_us\": %.2f}%n",
                packets,
                (double) cost.batches.bytes() / packets,
                (double) decode / packets,
                (double) (analysis - decode) / packets,
                moreRows - rows,
                (shortIntervals - analysis) / 1e3 / (moreRows - rows));
    }

    private long decode() throws IOException {
        long start = THREADS.getCurrentThreadCpuTime();
        batches.packets();
        return THREADS.getCurrentThreadCpuTime() - start;
    }

    private long analyse(long intervalNanos) throws IOException {
        AnalysisSettings settings = new AnalysisSettings(intervalNanos, AnalysisSettings.Layer.L2, 1);
        Map<FlowKey, FlowAnalysis> flows = new HashMap<>();
        rows = 0;
        long start = THREADS.getCurrentThreadCpuTime();
        batches.forEachRun((run, batch) -> {
            FlowAnalysis flow = flows.computeIfAbsent(run.key(), key -> new FlowAnalysis(settings, "bench"));
            flow.onRun(run, batch.session(), batch.timestampResolutionNs(), row -> rows++);
            if (flow.isFinished()) {
                flows.remove(run.key());
            }
        });
        return THREADS.getCurrentThreadCpuTime() - start;
    }
}
