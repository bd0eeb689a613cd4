// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * Cuts the packets of a flow into runs, as a probe does.
 *
 * @param maxPackets a run never has more, 1..256
 * @param atWholeSeconds whether a run ends where a whole second of capture time begins
 * @param quietMarks whether silence is marked 1, 2, 4, 8 … s after the last packet
 */
public record RunCutter(int maxPackets, boolean atWholeSeconds, boolean quietMarks) {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** The rule of the probe. */
    public static final RunCutter PROBE = new RunCutter(256, true, true);

    /** Runs without an end: the flow lives. */
    public List<RunSpec> cut(Flow flow, List<Packet> packets) {
        List<RunSpec> runs = new ArrayList<>();
        if (packets.isEmpty()) {
            return runs;
        }
        long flowStartNs = packets.get(0).timeNs();
        int from = 0;
        for (int to = 1; to <= packets.size(); to++) {
            if (to == packets.size() || isCutBefore(packets, from, to)) {
                long observedUntilNs = packets.get(to - 1).timeNs();
                List<Packet> run = List.copyOf(packets.subList(from, to));
                runs.add(new RunSpec(flow, flowStartNs, from, observedUntilNs, "NONE", run));
                if (quietMarks && to < packets.size()) {
                    long untilNs = packets.get(to).timeNs();
                    markSilence(runs, new RunSpec(flow, flowStartNs, to, observedUntilNs, "NONE", List.of()), untilNs);
                }
                from = to;
            }
        }
        return runs;
    }

    /** Runs, and a bare end mark {@code afterNs} behind the last packet. */
    public List<RunSpec> cutAndEnd(Flow flow, List<Packet> packets, String endReason, long afterNs) {
        List<RunSpec> runs = cut(flow, packets);
        if (runs.isEmpty()) {
            return runs;
        }
        long lastNs = packets.get(packets.size() - 1).timeNs();
        long flowStartNs = packets.get(0).timeNs();
        if (quietMarks) {
            RunSpec silent = new RunSpec(flow, flowStartNs, packets.size(), lastNs, "NONE", List.of());
            markSilence(runs, silent, lastNs + afterNs);
        }
        runs.add(new RunSpec(flow, flowStartNs, packets.size(), lastNs + afterNs, endReason, List.of()));
        return runs;
    }

    private boolean isCutBefore(List<Packet> packets, int from, int to) {
        long second = Math.floorDiv(packets.get(from).timeNs(), NANOS_PER_SECOND);
        long nextSecond = Math.floorDiv(packets.get(to).timeNs(), NANOS_PER_SECOND);
        long gapNs = packets.get(to).timeNs() - packets.get(to - 1).timeNs();
        return to - from == maxPackets
                || (atWholeSeconds && second != nextSecond)
                || (quietMarks && gapNs >= NANOS_PER_SECOND);
    }

    private static void markSilence(List<RunSpec> runs, RunSpec silent, long untilNs) {
        long lastNs = silent.observedUntilNs();
        for (long quietNs = NANOS_PER_SECOND; quietNs <= untilNs - lastNs && quietNs > 0; quietNs <<= 1) {
            runs.add(new RunSpec(
                    silent.flow(), silent.flowStartNs(), silent.packetsBefore(), lastNs + quietNs, "NONE", List.of()));
        }
    }
}
