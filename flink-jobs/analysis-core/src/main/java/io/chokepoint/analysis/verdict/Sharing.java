// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.row.RootCause;

/**
 * Whether a full path is filled by this flow alone.
 *
 * <p>Two signs, both from one flow at one tap: the dispersion D = 1 − rate ÷ capacity, and the share of time in gaps into
 * which somebody else's packet fits. Outside the grey zone of either the larger share of the waits names the answer; inside
 * both, or without a proven capacity, it cannot be told (per-flow queueing, a shaper, a competitor of a few percent) and
 * both kinds get half of the time.
 */
public final class Sharing {
    private static final double DISPERSION_ALONE = 0.05;
    private static final double DISPERSION_CUT = 0.10;
    private static final double DISPERSION_SHARED = 0.15;
    private static final double INTERLEAVED_ALONE = 0.1;
    private static final double INTERLEAVED_SHARED = 0.3;

    /** Which flow fills the path. */
    public enum Answer {
        ALONE(RootCause.UNSHARED_BOTTLENECK),
        SHARED(RootCause.SHARED_BOTTLENECK),
        UNDECIDED(RootCause.BOTTLENECK);

        private final RootCause rootCause;

        Answer(RootCause rootCause) {
            this.rootCause = rootCause;
        }

        /** The root cause to name if the path is full for most of the time. */
        public RootCause rootCause() {
            return rootCause;
        }
    }

    private final Answer answer;
    private final Shares shares;

    /**
     * @param tally the row's sums
     * @param capacityBitsPerSecond proven capacity, or 0
     * @param dispersion D of the row; ignored without a capacity
     */
    public Sharing(Tally tally, double capacityBitsPerSecond, double dispersion) {
        Shares booked = Shares.of(tally);
        long undecided = tally.get(Sum.QUEUE_UNDECIDED_NS);
        if (capacityBitsPerSecond <= 0) {
            long full = booked.fullPath() + undecided;
            answer = Answer.UNDECIDED;
            shares = booked.withFullPath(full - full / 2, full / 2);
            return;
        }
        boolean undecidedIsAlone = dispersion < DISPERSION_CUT;
        Shares resolved = booked.withFullPath(
                booked.unshared() + (undecidedIsAlone ? undecided : 0),
                booked.shared() + (undecidedIsAlone ? 0 : undecided));
        answer = decide(tally, dispersion, resolved);
        long full = resolved.fullPath();
        shares = answer == Answer.UNDECIDED ? resolved.withFullPath(full - full / 2, full / 2) : resolved;
    }

    private static Answer decide(Tally tally, double dispersion, Shares resolved) {
        long gaps = tally.get(Sum.GAPS_NS);
        double interleaved = gaps == 0 ? DISPERSION_CUT * 2 : (double) tally.get(Sum.INTERLEAVED_NS) / gaps;
        boolean byDispersion = dispersion <= DISPERSION_ALONE || dispersion >= DISPERSION_SHARED;
        boolean byGaps = interleaved <= INTERLEAVED_ALONE || interleaved >= INTERLEAVED_SHARED;
        if (!byDispersion && !byGaps) {
            return Answer.UNDECIDED;
        }
        return resolved.unshared() >= resolved.shared() ? Answer.ALONE : Answer.SHARED;
    }

    /** Who fills the path, if it is full. */
    public Answer answer() {
        return answer;
    }

    /** The shares with all time in queues given to one kind or the other. */
    public Shares shares() {
        return shares;
    }
}
