// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * The taps of one flow, direction and interval in the order in which the data pass them, and what each of the segments
 * between them adds to delay and loss. Segment 0 lies between the sender and the first tap, segment {@code i} before tap
 * {@code i}, the last one between the last tap and the receiver.
 *
 * <p>No two clocks are compared: each tap times both sides of itself by its own clock, tap → sender → tap and
 * tap → receiver → tap. Along the path the sender's side grows and the receiver's shrinks, so a segment owns the difference
 * of its two taps.
 */
final class Path {
    /** A delay that is not known. */
    static final double UNKNOWN = -1;

    private final List<PathObservation> taps;
    private final boolean ordered;

    private Path(List<PathObservation> taps, boolean ordered) {
        this.taps = taps;
        this.ordered = ordered;
    }

    /** Of one observation a tap, in the order of their names, which decides between equal ones. */
    static Path of(Collection<PathObservation> observations) {
        List<PathObservation> taps = new ArrayList<>(observations);
        if (taps.stream().allMatch(Path::isTimed)) {
            taps.sort(Comparator.comparingDouble(Path::position));
            return new Path(taps, true);
        }
        // A tap that sees one direction only has no place in time. What one lost before, and the other behind itself,
        // has.
        taps.sort(Comparator.comparingDouble(Path::lostBefore));
        boolean isTold = taps.size() == 1;
        for (int i = 1; i < taps.size(); i++) {
            isTold = lostBefore(taps.get(i)) - lostBefore(taps.get(i - 1)) > 0.5;
        }
        return new Path(taps, isTold);
    }

    private static boolean isTimed(PathObservation tap) {
        return tap.get(Observed.SENDER_SIDE_MIN) > 0 && tap.get(Observed.RECEIVER_SIDE_MIN) > 0;
    }

    /** Lowest delay of the sender's side less that of the receiver's: grows along the path, whatever both share. */
    private static double position(PathObservation tap) {
        return tap.get(Observed.SENDER_SIDE_MIN) - tap.get(Observed.RECEIVER_SIDE_MIN);
    }

    /** Share of the loss that lies before the tap; 0 if nothing was lost. */
    private static double lostBefore(PathObservation tap) {
        long before = tap.get(Observed.LOST_BEFORE_BYTES);
        return before == 0 ? 0 : (double) before / (before + tap.get(Observed.LOST_AFTER_BYTES));
    }

    /** The taps along the data. */
    List<PathObservation> taps() {
        return taps;
    }

    /** Whether the order is that of the path: else segments mean nothing. */
    boolean isOrdered() {
        return ordered;
    }

    int segments() {
        return taps.size() + 1;
    }

    /** Share of the lowest round trip between sender and tap, 0..1; {@link #UNKNOWN} without both sides. */
    static double share(PathObservation tap) {
        if (!isTimed(tap)) {
            return UNKNOWN;
        }
        double sender = tap.get(Observed.SENDER_SIDE_MIN) - 1;
        double sum = sender + tap.get(Observed.RECEIVER_SIDE_MIN) - 1;
        return sum <= 0 ? UNKNOWN : sender / sum;
    }

    /** Mean delay of a segment above its lowest, there and back, in ns; {@link #UNKNOWN} if no tap timed it. */
    double queueNanos(int segment) {
        if (segment == 0) {
            return senderQueue(taps.get(0));
        }
        PathObservation before = taps.get(segment - 1);
        if (segment == taps.size()) {
            return receiverQueue(before);
        }
        PathObservation behind = taps.get(segment);
        double bySender = difference(senderQueue(behind), senderQueue(before));
        double byReceiver = difference(receiverQueue(before), receiverQueue(behind));
        if (bySender == UNKNOWN || byReceiver == UNKNOWN) {
            return Math.max(bySender, byReceiver);
        }
        return (bySender + byReceiver) / 2;
    }

    private static double difference(double larger, double smaller) {
        return larger == UNKNOWN || smaller == UNKNOWN ? UNKNOWN : Math.max(0, larger - smaller);
    }

    private static double senderQueue(PathObservation tap) {
        return queue(
                tap.get(Observed.SENDER_SIDE_SUM_NS),
                tap.get(Observed.SENDER_SIDE_SAMPLES),
                tap.get(Observed.SENDER_SIDE_MIN));
    }

    private static double receiverQueue(PathObservation tap) {
        return queue(
                tap.get(Observed.RECEIVER_SIDE_SUM_NS),
                tap.get(Observed.RECEIVER_SIDE_SAMPLES),
                tap.get(Observed.RECEIVER_SIDE_MIN));
    }

    private static double queue(long sumNanos, long samples, long lowestPlusOne) {
        return samples == 0 || lowestPlusOne == 0
                ? UNKNOWN
                : Math.max(0, (double) sumNanos / samples - (lowestPlusOne - 1));
    }

    /** Payload that a segment lost and the sender repaired, in bytes. */
    long lostBytes(int segment) {
        if (segment == 0) {
            return taps.get(0).get(Observed.LOST_BEFORE_BYTES);
        }
        PathObservation before = taps.get(segment - 1);
        if (segment == taps.size()) {
            return before.get(Observed.LOST_AFTER_BYTES);
        }
        PathObservation behind = taps.get(segment);
        long filled = behind.get(Observed.LOST_BEFORE_BYTES) - before.get(Observed.LOST_BEFORE_BYTES);
        long repeated = before.get(Observed.LOST_AFTER_BYTES) - behind.get(Observed.LOST_AFTER_BYTES);
        return Math.max(0, Math.max(filled, repeated));
    }

    /** Lowest round trip that a tap with both sides knows, in ns; 0 if there is none. */
    long lowestRttNanos() {
        return taps.stream()
                .filter(Path::isTimed)
                .mapToLong(tap -> tap.get(Observed.SENDER_SIDE_MIN) + tap.get(Observed.RECEIVER_SIDE_MIN) - 2)
                .min()
                .orElse(0);
    }

    /** The tap whose counts are the flow's: the first that missed nothing, since behind it losses are missing. */
    PathObservation reference() {
        for (PathObservation tap : taps) {
            if (tap.get(Observed.CAPTURE_LOSS_BYTES) == 0) {
                return tap;
            }
        }
        return taps.get(0);
    }
}
