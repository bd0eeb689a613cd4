// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.group.BottleneckGroup.Member;
import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.CapacityKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Who shared a queue in a window of 10 s at one tap: a pure function of the observations, in whatever order they came.
 *
 * <p>Whoever stands in one queue is held up by it equally long. So two series of delays that differ by no more than a
 * constant, each flow's own way, are of one queue [RUB02, RFC 8382 §1]. {@link Concordance} says how far they do; average
 * linkage makes groups of pairs, so that one pair that agrees by chance does not join two queues.
 */
public final class Grouping {
    /** Length of a window; windows lie on multiples since the epoch. BBR empties its queue once in 10 s. */
    public static final long WINDOW_NANOS = 10_000_000_000L;
    /** Observations of a second that count: those of the largest takers. */
    public static final int MAX_OF_SECOND = 256;
    /** Observations of a window that are kept before they are thinned out to the largest. */
    public static final int MAX_KEPT = (int) (2 * MAX_OF_SECOND * WINDOW_NANOS / DelaySeries.SECOND_NANOS);
    /** Flows of a window that are compared with each other: the largest. */
    static final int MAX_CANDIDATES = 256;

    private static final double CARRIED = 0.9;
    private static final double BITS_PER_BYTE_TIMES_NANOS_PER_SECOND = 8e9;
    private static final int PERMILLE = 1_000;
    private static final int VERSION_BITS = 48; // ten seconds at 225 Tbit/s

    private Grouping() {}

    /** Begin of the window to which an observation belongs. */
    public static long windowStart(Observation observation) {
        return Math.floorDiv(observation.startNanos(), WINDOW_NANOS) * WINDOW_NANOS;
    }

    /**
     * Version of the rows that these observations make: generation × 2⁴⁸ + their bytes. Who knows more wins: what comes adds
     * bytes, or takes the place of a smaller one. What does not count adds nothing, however often it comes.
     *
     * @param observations those that {@link #largest} leaves
     */
    public static long version(long generation, Collection<Observation> observations) {
        long bytes = observations.stream().mapToLong(Observation::layerBytes).sum();
        return generation << VERSION_BITS | Math.min(bytes, (1L << VERSION_BITS) - 1);
    }

    /**
     * The largest {@link #MAX_OF_SECOND} of each second. Whom it drops it drops whatever was dropped before, so it may be
     * applied to parts as they come.
     */
    public static List<Observation> largest(Collection<Observation> observations) {
        Map<Long, List<Observation>> bySecond = new TreeMap<>();
        for (Observation observation : observations) {
            bySecond.computeIfAbsent(observation.startNanos(), second -> new ArrayList<>())
                    .add(observation);
        }
        List<Observation> kept = new ArrayList<>();
        for (List<Observation> ofSecond : bySecond.values()) {
            ofSecond.sort(Observation.LARGEST_FIRST);
            kept.addAll(ofSecond.subList(0, Math.min(MAX_OF_SECOND, ofSecond.size())));
        }
        return kept;
    }

    /**
     * The groups of a window, in the order of their names.
     *
     * @param observations all of one window and tap
     * @param version of the rows
     * @param told names of groups that were told of this window before: those that are no more are taken back
     */
    public static List<BottleneckGroup> judge(
            String tap, long windowStart, Collection<Observation> observations, long version, Collection<Long> told) {
        Map<Long, BottleneckGroup> groups = new TreeMap<>(Long::compareUnsigned);
        for (long groupId : told) {
            groups.put(groupId, BottleneckGroup.takenBack(tap, windowStart, groupId, version));
        }
        List<Candidate> candidates = candidates(windowStart, largest(observations));
        for (BottleneckSide side : BottleneckSide.values()) {
            List<Candidate> ofSide =
                    candidates.stream().filter(one -> one.side() == side).toList();
            for (Linkage.Cluster cluster : Linkage.clusters(ofSide)) {
                BottleneckGroup group = group(tap, windowStart, version, side, cluster);
                groups.put(group.groupId(), group);
            }
        }
        return List.copyOf(groups.values());
    }

    /** The largest flows of which enough is known, by name. */
    private static List<Candidate> candidates(long windowStart, List<Observation> observations) {
        Map<FlowDirection, List<Observation>> byFlow = new TreeMap<>();
        for (Observation observation : observations) {
            byFlow.computeIfAbsent(
                            new FlowDirection(observation.flowId(), observation.direction()), flow -> new ArrayList<>())
                    .add(observation);
        }
        return byFlow.values().stream()
                .map(ofFlow -> Candidate.of(windowStart, ofFlow))
                .filter(Candidate::isTold)
                .sorted(Comparator.comparingLong(Candidate::layerBytes)
                        .reversed()
                        .thenComparing(Candidate::flow))
                .limit(MAX_CANDIDATES)
                .sorted(Comparator.comparing(Candidate::flow))
                .toList();
    }

    private static BottleneckGroup group(
            String tap, long windowStart, long version, BottleneckSide side, Linkage.Cluster cluster) {
        List<Candidate> flows = cluster.members();
        TreeSet<Long> seconds = new TreeSet<>();
        long bytes = 0;
        double queueNanosBytes = 0;
        for (Candidate flow : flows) {
            seconds.addAll(flow.seconds());
            bytes += flow.layerBytes();
            queueNanosBytes += (double) flow.queueNanos() * flow.layerBytes();
        }
        long observedNanos = seconds.size() * DelaySeries.SECOND_NANOS;
        long carried = Math.round(bytes * BITS_PER_BYTE_TIMES_NANOS_PER_SECOND / observedNanos);
        long proven = capacity(flows, carried);
        return new BottleneckGroup(
                tap,
                windowStart,
                BottleneckGroup.groupId(
                        flows.get(0).flow().flowId(), flows.get(0).flow().direction()),
                version,
                side,
                proven > 0 ? proven : carried,
                proven > 0 ? CapacityKind.PROVEN : CapacityKind.LOWER_BOUND,
                observedNanos,
                Math.round(queueNanosBytes / bytes),
                (int) Math.round(PERMILLE * Math.max(0, cluster.agreement())),
                flows.stream()
                        .sorted(Comparator.comparingLong(Candidate::layerBytes)
                                .reversed()
                                .thenComparing(Candidate::flow))
                        .map(flow -> new Member(
                                flow.flow().flowId(), flow.flow().direction(), flow.layerBytes(), flow.tenants()))
                        .toList());
    }

    /**
     * The median of the capacities that members have proven and that hold what they took together; 0 if there is none. Where
     * packets of others come between one's own in turn, spacing shows a half or a third of the link's rate.
     */
    private static long capacity(List<Candidate> flows, long carriedBitsPerSecond) {
        long[] capacities = flows.stream()
                .mapToLong(Candidate::capacityBitsPerSecond)
                .filter(capacity -> capacity > 0 && capacity >= CARRIED * carriedBitsPerSecond)
                .sorted()
                .toArray();
        return capacities.length == 0 ? 0 : capacities[(capacities.length - 1) / 2];
    }
}
