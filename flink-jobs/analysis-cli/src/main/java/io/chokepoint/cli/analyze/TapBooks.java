// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.batch.DecodeStatus;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The books of one tap: what the probe counted, and what became of each batch, run and packet that came out of it.
 *
 * <p>Every fate is counted where it happens, so the equations of {@link #isBalanced()} can fail.
 */
final class TapBooks {
    private final Map<String, Long> probe = new LinkedHashMap<>();
    private final Map<RunFate, Long> runs = new EnumMap<>(RunFate.class);
    private final Map<RunFate, Long> packets = new EnumMap<>(RunFate.class);
    private final Map<DecodeStatus, Long> rejectedBatches = new EnumMap<>(DecodeStatus.class);
    private final Map<DecodeStatus, Long> rejectedRuns = new EnumMap<>(DecodeStatus.class);
    private final Map<String, Long> groups = new LinkedHashMap<>();
    private long batchesConsumed;
    private long packetsConsumed;
    private long packetsRejected;
    private long rows;

    void probeCounter(String name, long value) {
        probe.put(name, value);
    }

    long probeCounter(String name) {
        return probe.getOrDefault(name, 0L);
    }

    void batchConsumed(long packetsOfBatch) {
        batchesConsumed++;
        packetsConsumed += packetsOfBatch;
    }

    void batchRejected(DecodeStatus reason) {
        rejectedBatches.merge(reason, 1L, Long::sum);
    }

    /** Of its packets {@code repeated} had been judged before. */
    void runJudged(RunFate fate, int packetsOfRun, int repeated) {
        runs.merge(fate, 1L, Long::sum);
        packets.merge(fate, (long) packetsOfRun - repeated, Long::sum);
        packets.merge(RunFate.REPEATED, (long) repeated, Long::sum);
    }

    void runRejected(DecodeStatus reason, int packetsOfRun) {
        rejectedRuns.merge(reason, 1L, Long::sum);
        packetsRejected += packetsOfRun;
    }

    void rowWritten() {
        rows++;
    }

    /** What became of the observations that groups are made of. */
    void groups(Map<String, Long> counters) {
        groups.putAll(counters);
    }

    long packetsConsumed() {
        return packetsConsumed;
    }

    /** Whether each hop accounts for all that the hop before it handed over. */
    boolean isBalanced() {
        return probeCounter("frames_received") == framesNotEncoded() + probeCounter("packets_encoded")
                && probeCounter("packets_encoded") == probeCounter("packets_delivered") + packetsUndelivered()
                && probeCounter("packets_delivered") == packetsConsumed
                && packetsConsumed == sum(packets) + packetsRejected
                && rejectedBatches.isEmpty();
    }

    private long framesNotEncoded() {
        return sumOf("frames_") - probeCounter("frames_received");
    }

    private long packetsUndelivered() {
        return sumOf("packets_undelivered_");
    }

    private long sumOf(String prefix) {
        return probe.entrySet().stream()
                .filter(counter -> counter.getKey().startsWith(prefix))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private static long sum(Map<?, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The books as members of a JSON object. */
    Map<String, Object> asMap(String tap) {
        Map<String, Object> books = new LinkedHashMap<>();
        books.put("tap", tap);
        books.put("balanced", isBalanced());
        books.put("probe", probe);
        books.put("batches_consumed", batchesConsumed);
        putAll(books, "batches_rejected_", DecodeStatus.values(), rejectedBatches, false);
        putAll(books, "runs_", RunFate.values(), runs, true);
        putAll(books, "runs_rejected_", DecodeStatus.values(), rejectedRuns, false);
        books.put("packets_consumed", packetsConsumed);
        putAll(books, "packets_", RunFate.values(), packets, true);
        books.put("packets_rejected", packetsRejected);
        books.put("rows", rows);
        books.putAll(groups);
        return books;
    }

    private static <E extends Enum<E>> void putAll(
            Map<String, Object> books, String prefix, E[] fates, Map<E, Long> counts, boolean zeros) {
        for (E fate : fates) {
            long count = counts.getOrDefault(fate, 0L);
            if (zeros || count > 0) {
                books.put(prefix + fate.name().toLowerCase(Locale.ROOT), count);
            }
        }
    }
}
