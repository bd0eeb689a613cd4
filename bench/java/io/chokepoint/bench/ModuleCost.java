// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.bench;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.batch.FlowKey;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Which module of the core the time goes to: Flight Recorder looks at the thread each 10 ms, and the innermost frame that
 * belongs to a module gets the sample. Prints JSON.
 */
public final class ModuleCost {
    private static final int WARM_UP_ROUNDS = 4;
    private static final int ROUNDS = 40;
    private static final Duration PERIOD = Duration.ofMillis(10);
    private static final long INTERVAL_NANOS = 1_000_000_000L;
    private static final String CORE = "io.chokepoint.analysis.";
    private static final String OTHER = "other";
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** By the start of the class name after {@link #CORE}; the first that fits. `wire` helps all, so its caller counts. */
    private static final Map<String, String> MODULES = new LinkedHashMap<>();

    static {
        MODULES.put("batch.", "decoding the batch");
        MODULES.put("capacity.", "capacity");
        MODULES.put("loss.", "loss and retransmission");
        MODULES.put("LossTracker", "loss and retransmission");
        MODULES.put("rtt.", "round trip and queue");
        MODULES.put("PathModel", "round trip and queue");
        MODULES.put("window.", "windows, and what the sender knew");
        MODULES.put("WaitJudge", "waits and their causes");
        MODULES.put("verdict.BulkPeriods", "waits and their causes");
        MODULES.put("verdict.Tally", "waits and their causes");
        MODULES.put("verdict.", "scores, verdict and row");
        MODULES.put("Verdict", "scores, verdict and row");
        MODULES.put("row.", "scores, verdict and row");
        MODULES.put("RowWriter", "scores, verdict and row");
        MODULES.put("wire.", "");
        MODULES.put("", "flow and direction: each packet's way through the modules");
    }

    private ModuleCost() {}

    /** A batch stream to work on. */
    public static void main(String[] arguments) throws IOException {
        Batches batches = Batches.ofStream(Path.of(arguments[0]));
        long packets = batches.packets();
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            analyse(batches);
        }
        long rows = 0;
        Path file = Files.createTempFile("chokepoint-bench-", ".jfr");
        long cpu = THREADS.getCurrentThreadCpuTime();
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").withPeriod(PERIOD);
            recording.start();
            for (int round = 0; round < ROUNDS; round++) {
                rows = analyse(batches);
            }
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            recording.stop();
            recording.dump(file);
        }
        Map<String, Integer> samples = samples(file);
        Files.delete(file);
        System.out.printf(
                "{\"module_rows\": %d, \"module_packets\": %d, \"module_ns_per_packet\": %.1f, \"module_samples\": {%s}}%n",
                rows,
                packets,
                (double) cpu / ROUNDS / packets,
                samples.entrySet().stream()
                        .map(each -> String.format("\"%s\": %d", each.getKey(), each.getValue()))
                        .collect(Collectors.joining(", ")));
    }

    private static long analyse(Batches batches) throws IOException {
        AnalysisSettings settings = new AnalysisSettings(INTERVAL_NANOS, AnalysisSettings.Layer.L2, 1);
        Map<FlowKey, FlowAnalysis> flows = new HashMap<>();
        long[] rows = {0};
        batches.forEachRun((run, batch) -> {
            FlowAnalysis flow = flows.computeIfAbsent(run.key(), key -> new FlowAnalysis(settings, "bench"));
            flow.onRun(run, batch.session(), batch.timestampResolutionNs(), row -> rows[0]++);
            if (flow.isFinished()) {
                flows.remove(run.key());
            }
        });
        return rows[0];
    }

    private static Map<String, Integer> samples(Path file) throws IOException {
        Map<String, Integer> samples = new LinkedHashMap<>();
        MODULES.values().stream().filter(name -> !name.isEmpty()).forEach(name -> samples.put(name, 0));
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (event.getStackTrace() != null
                    && event.getThread("sampledThread").getJavaName().equals("main")) {
                samples.merge(module(event.getStackTrace().getFrames()), 1, Integer::sum);
            }
        }
        return samples;
    }

    private static String module(List<RecordedFrame> innermostFirst) {
        for (RecordedFrame frame : innermostFirst) {
            String type = frame.getMethod().getType().getName();
            if (type.startsWith(CORE)) {
                String name = MODULES.entrySet().stream()
                        .filter(each -> type.startsWith(each.getKey(), CORE.length()))
                        .findFirst()
                        .orElseThrow()
                        .getValue();
                if (!name.isEmpty()) {
                    return name;
                }
            }
        }
        return OTHER;
    }
}
