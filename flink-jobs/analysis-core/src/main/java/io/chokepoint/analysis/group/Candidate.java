// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.row.BottleneckSide;
import java.util.Comparator;
import java.util.List;

/**
 * A direction of a flow in a window.
 *
 * @param side where most of its seconds saw the queue
 * @param capacityBitsPerSecond the newest that is proven, or 0
 * @param queueNanos mean delay of the queue
 * @param seconds in which it was observed, ns since the epoch
 * @param delaysMicros mean delays by bin of the window, 0 where none was measured
 * @param bins how many bins have a delay
 * @param tenants whose its ends are, by name
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares candidates
record Candidate(
        FlowDirection flow,
        BottleneckSide side,
        long layerBytes,
        long capacityBitsPerSecond,
        long queueNanos,
        List<Long> seconds,
        int[] delaysMicros,
        int bins,
        List<String> tenants) {

    private static final int BINS = (int) (Grouping.WINDOW_NANOS / DelaySeries.BIN_NANOS);

    /** What the observations of one flow and direction in the window sum to. */
    static Candidate of(long windowStart, List<Observation> observations) {
        List<Observation> inOrder = observations.stream()
                .sorted(Comparator.comparingLong(Observation::startNanos))
                .toList();
        long before = inOrder.stream()
                .filter(one -> one.side() == BottleneckSide.BEFORE_TAP)
                .count();
        BottleneckSide side = 2 * before > inOrder.size() ? BottleneckSide.BEFORE_TAP : BottleneckSide.AFTER_TAP;
        long bytes = 0;
        long capacity = 0;
        long queueSum = 0;
        int[] delays = new int[BINS];
        for (Observation observation : inOrder) {
            bytes += observation.layerBytes();
            queueSum += observation.queueNanos();
            capacity = observation.capacityBitsPerSecond() > 0 ? observation.capacityBitsPerSecond() : capacity;
            if (observation.side() == side) {
                add(delays, observation, windowStart);
            }
        }
        int bins = 0;
        for (int delay : delays) {
            bins += delay > 0 ? 1 : 0;
        }
        return new Candidate(
                new FlowDirection(inOrder.get(0).flowId(), inOrder.get(0).direction()),
                side,
                bytes,
                capacity,
                queueSum / inOrder.size(),
                inOrder.stream().map(Observation::startNanos).toList(),
                delays,
                bins,
                inOrder.get(inOrder.size() - 1).tenants());
    }

    private static void add(int[] delays, Observation observation, long windowStart) {
        int[] own = observation.delaysMicros();
        int first = (int) ((observation.firstBinNanos() - windowStart) / DelaySeries.BIN_NANOS);
        for (int i = Math.max(0, -first); i < own.length && first + i < BINS; i++) {
            if (own[i] > 0) { // what came late has a part of its bin only
                int known = delays[first + i];
                delays[first + i] = known == 0 ? own[i] : (int) (((long) known + own[i]) / 2);
            }
        }
    }

    /** Whether there are delays enough to compare it with any other. */
    boolean isTold() {
        return bins >= Concordance.LEAST_BINS;
    }
}
