// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.Tenants;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Says of a flow that several taps saw where it is limited. A function of the set of observations: their order does not
 * matter.
 *
 * <p>Who is the limit follows from the time shares of all taps together, less what a tap could not tell; where the path is
 * the limit, the segment that holds most of the queue, or lost most of what was lost, is named.
 */
public final class PathJudge {
    private static final double LEAST_QUEUE_NANOS = 20_000;
    private static final double HEAVY_LOSS = 0.01; // of the data: a policer's, not that of a full queue
    private static final double NEARLY_ALL = 0.9;
    private static final double QUEUE_SHARE = 32; // of the round trip: below it is jitter
    private static final double ELIMINATED = 0.79; // below what is acted upon
    private static final int SEVERAL = -2;
    private static final int PERMILLE = 1_000;

    private PathJudge() {}

    /**
     * The row of observations of one key, direction and interval; null if fewer than two taps saw the flow.
     *
     * @param tenants whose the ends are: looked up anew for every row, so that no state depends on them
     */
    public static @Nullable PathRow judge(Collection<PathObservation> observations, Tenants tenants) {
        PathObservation named = null;
        Map<String, PathObservation> byTap = Map.of();
        for (PathObservation candidate : byName(observations)) {
            Map<String, PathObservation> ofCandidate = byTap(observations, candidate);
            boolean isLarger = named == null || candidate.get(Observed.DATA_BYTES) > named.get(Observed.DATA_BYTES);
            if (ofCandidate.size() >= 2 && isLarger) {
                named = candidate;
                byTap = ofCandidate;
            }
        }
        if (named == null) {
            return null;
        }
        Path path = Path.of(byTap.values());
        // Also those of another flow on the port: the more is known the higher must the revision of the row be.
        long known = observations.stream()
                .mapToLong(observation -> observation.get(Observed.ROWS))
                .sum();
        return row(path, limit(path, new JointShares(path.taps())), identity(named, tenants), named)
                .set(PathField.OBSERVATIONS, known);
    }

    /** One observation a tap, of one flow: that of the candidate, and those whose handshake a tap has missed. */
    private static Map<String, PathObservation> byTap(
            Collection<PathObservation> observations, PathObservation candidate) {
        Map<String, PathObservation> byTap = new TreeMap<>();
        for (PathObservation observation : observations) {
            if (!observation.isNamed() || observation.flowId() == candidate.flowId()) {
                byTap.merge(observation.tap(), observation, PathObservation::with);
            }
        }
        return byTap;
    }

    /**
     * Who may have the row: each flow with a name that is the same at every tap, as a port may have been used again within the
     * interval; if no tap saw a handshake, the piece with the lowest name.
     */
    private static Collection<PathObservation> byName(Collection<PathObservation> observations) {
        TreeMap<Long, PathObservation> byName = new TreeMap<>(Long::compareUnsigned);
        boolean isAnyNamed = observations.stream().anyMatch(PathObservation::isNamed);
        for (PathObservation observation : observations) {
            if (observation.isNamed() == isAnyNamed) {
                byName.merge(observation.flowId(), observation, PathObservation::with);
            }
        }
        return isAnyNamed ? byName.values() : List.of(byName.firstEntry().getValue());
    }

    /** The verdict. {@code at} is the segment of the path, or -1. */
    private record Limit(
            RootCause cause,
            LimitSegment segment,
            int at,
            @Nullable LimitEvidence evidence,
            double confidence) {
        static Limit inHost(RootCause cause, LimitSegment segment, double confidence) {
            return new Limit(cause, segment, -1, null, confidence);
        }
    }

    private static Limit limit(Path path, JointShares shares) {
        RootCause cause = shares.cause();
        double clarity = shares.clarity();
        return switch (cause) {
            case APPLICATION, SEND_BUFFER -> Limit.inHost(cause, LimitSegment.SENDER, clarity);
            case RECEIVER_WINDOW -> Limit.inHost(cause, LimitSegment.RECEIVER, clarity);
            case UNSHARED_BOTTLENECK, SHARED_BOTTLENECK, BOTTLENECK -> {
                Limit byQueue = byQueue(path, cause, clarity);
                Limit byLoss = largest(path, cause, LimitEvidence.LOSS, clarity);
                boolean isPaced = byQueue.at() == 0 && byLoss.at() > 0 && isLossHeavy(path, byLoss.at());
                yield byQueue.at() < 0 || isPaced ? byLoss : byQueue;
            }
            case TRANSPORT -> {
                Limit byLoss = largest(path, cause, LimitEvidence.LOSS, clarity);
                boolean isLossless = byLoss.at() < 0 && lost(path) == 0;
                yield isLossless ? Limit.inHost(cause, LimitSegment.NONE, clarity) : byLoss;
            }
            case UNKNOWN, MIXED, SHORT_TRANSFER -> Limit.inHost(RootCause.UNKNOWN, LimitSegment.UNKNOWN, 0);
        };
    }

    /** A sender that paces waits before the first tap, too: if it does for what is lost elsewhere, that is the limit. */
    private static boolean isLossHeavy(Path path, int segment) {
        long lost = path.lostBytes(segment);
        return lost > HEAVY_LOSS * path.reference().get(Observed.DATA_BYTES) && lost > NEARLY_ALL * lost(path);
    }

    /** The segment with most of the queue; if none has one that counts, the only one that no tap can time. */
    private static Limit byQueue(Path path, RootCause cause, double clarity) {
        Limit largest = largest(path, cause, LimitEvidence.QUEUE, clarity);
        int untimed = -1;
        for (int i = 0; i < path.segments(); i++) {
            if (path.queueNanos(i) == Path.UNKNOWN) {
                untimed = untimed == -1 ? i : SEVERAL;
            }
        }
        boolean counts = largest.at() >= 0 && path.queueNanos(largest.at()) > path.lowestRttNanos() / QUEUE_SHARE;
        if (counts || untimed < 0 || !path.isOrdered()) {
            return largest;
        }
        return new Limit(cause, segment(path, untimed), untimed, LimitEvidence.ELIMINATION, clarity * ELIMINATED);
    }

    private static long lost(Path path) {
        long lost = 0;
        for (int i = 0; i < path.segments(); i++) {
            lost += path.lostBytes(i);
        }
        return lost;
    }

    /** The segment with most of the evidence, surer the less the others have. */
    private static Limit largest(Path path, RootCause cause, LimitEvidence evidence, double clarity) {
        boolean isQueue = evidence == LimitEvidence.QUEUE;
        IntToDoubleFunction value = isQueue ? path::queueNanos : path::lostBytes;
        double least = isQueue ? LEAST_QUEUE_NANOS : 0;
        int at = -1;
        double most = 0;
        double sum = 0;
        for (int i = 0; i < path.segments(); i++) {
            double held = Math.max(0, value.applyAsDouble(i));
            sum += held;
            if (held > most) {
                most = held;
                at = i;
            }
        }
        if (at < 0 || most <= least || !path.isOrdered()) {
            return new Limit(cause, LimitSegment.UNKNOWN, -1, null, 0);
        }
        return new Limit(cause, segment(path, at), at, evidence, clarity * most / sum);
    }

    private static LimitSegment segment(Path path, int at) {
        if (at == 0) {
            return LimitSegment.BEFORE_FIRST_TAP;
        }
        return at == path.taps().size() ? LimitSegment.AFTER_LAST_TAP : LimitSegment.BETWEEN_TAPS;
    }

    // ---- the row ----

    private static PathRow row(Path path, Limit limit, FlowIdentity identity, PathObservation named) {
        List<PathObservation> taps = path.taps();
        FlowKey key = named.key();
        String from = limit.at() <= 0 ? "" : taps.get(limit.at() - 1).tap();
        String to = limit.at() < 0 || limit.at() == taps.size()
                ? ""
                : taps.get(limit.at()).tap();
        PathRow row =
                new PathRow(identity, taps.stream().map(PathObservation::tap).toList(), from, to);
        row.set(PathField.PATH_ID, FlowHash.next(FlowHash.of(key, 0), named.lowSends() ? 0 : 1))
                .set(PathField.DIRECTION, named.clientSends() ? Direction.CLIENT_TO_SERVER : Direction.SERVER_TO_CLIENT)
                .set(PathField.INTERVAL_START, named.startNanos())
                .set(PathField.INTERVAL_END, named.endNanos())
                .set(PathField.ROOT_CAUSE, limit.cause())
                .set(PathField.LIMIT_SEGMENT, limit.segment())
                .set(PathField.CONFIDENCE, Math.round(PERMILLE * limit.confidence()));
        if (limit.evidence() != null) {
            row.set(PathField.LIMIT_EVIDENCE, limit.evidence());
        }
        writeCounts(row, path);
        writeSegments(row, path);
        return row;
    }

    private static FlowIdentity identity(PathObservation named, Tenants tenants) {
        FlowKey key = named.key();
        boolean lowIsClient = named.lowSends() == named.clientSends();
        String low = tenants.of(key.lowAddressUpper(), key.lowAddressLower());
        String high = tenants.of(key.highAddressUpper(), key.highAddressLower());
        return new FlowIdentity(
                named.flowId(),
                "",
                lowIsClient ? key.lowAddressUpper() : key.highAddressUpper(),
                lowIsClient ? key.lowAddressLower() : key.highAddressLower(),
                lowIsClient ? key.lowPort() : key.highPort(),
                lowIsClient ? key.highAddressUpper() : key.lowAddressUpper(),
                lowIsClient ? key.highAddressLower() : key.lowAddressLower(),
                lowIsClient ? key.highPort() : key.lowPort(),
                Row.NULL,
                Row.NULL,
                lowIsClient ? low : high,
                lowIsClient ? high : low);
    }

    /** What passed is that of one tap, so that it may be summed; the rest is the best that any tap knows. */
    private static void writeCounts(PathRow row, Path path) {
        PathObservation reference = path.reference();
        long version = 0;
        long quality = 0;
        long capacity = 0;
        long goodput = 0;
        for (PathObservation tap : path.taps()) {
            version = Math.max(version, tap.version());
            quality |= tap.get(Observed.QUALITY);
            capacity = Math.max(capacity, tap.get(Observed.CAPACITY));
            goodput = Math.max(goodput, tap.get(Observed.GOODPUT_BYTES));
        }
        long own = reference.get(Observed.GOODPUT_BYTES);
        row.set(PathField.VERSION, version)
                .set(PathField.QUALITY, quality)
                .set(PathField.DATA_PACKETS, reference.get(Observed.DATA_PACKETS))
                .set(PathField.DATA_BYTES, reference.get(Observed.DATA_BYTES))
                .set(PathField.THROUGHPUT_BITS_PER_SECOND, reference.get(Observed.LAYER_BYTES))
                .set(PathField.GOODPUT_BITS_PER_SECOND, own > 0 ? own : goodput);
        if (capacity > 0) {
            row.set(PathField.CAPACITY_BITS_PER_SECOND, capacity);
        }
        if (path.lowestRttNanos() > 0) {
            row.set(PathField.RTT_MIN_SECONDS, path.lowestRttNanos());
        }
    }

    private static void writeSegments(PathRow row, Path path) {
        List<PathObservation> taps = path.taps();
        long[] positions = new long[taps.size()];
        for (int i = 0; i < positions.length; i++) {
            double share = Path.share(taps.get(i));
            positions[i] = share == Path.UNKNOWN ? Row.NULL : Math.round(PERMILLE * share);
        }
        long[] queues = new long[path.isOrdered() ? path.segments() : 0];
        long[] lost = new long[queues.length];
        for (int i = 0; i < queues.length; i++) {
            double queue = path.queueNanos(i);
            queues[i] = queue == Path.UNKNOWN ? Row.NULL : Math.round(queue);
            lost[i] = path.lostBytes(i);
        }
        row.set(PathField.TAP_POSITIONS, positions)
                .set(PathField.SEGMENT_QUEUE_SECONDS, queues)
                .set(PathField.SEGMENT_LOST_BYTES, lost);
    }
}
