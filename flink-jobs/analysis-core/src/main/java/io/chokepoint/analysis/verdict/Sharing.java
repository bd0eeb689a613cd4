// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.row.RootCause;

/**
 * Whether a full path is filled by this flow alone.
 *
 * <p>While a queue stands its link never rests: what it does not deliver of this flow is somebody else's. So D = 1 − rate ÷
 * capacity of the time in which the path was full, repairs left out, tells outside its grey zone [BAU20 §III-E, where the
 * rate is that of all time]; inside it the share of time in gaps into which somebody else's packet fits does. The capacity
 * of a link that keeps its rate is at least what was delivered once, so D of that lower bound still proves others, but never
 * solitude. If nothing tells (per-flow queueing, a shaper, a competitor of a few percent) both kinds get half of the time.
 */
public final class Sharing {
    private static final int STEADY_SHARE = 8; // of the time in which the path was full
    private static final double DISPERSION_ALONE = 0.06;
    private static final double DISPERSION_SHARED = 0.12;
    private static final double INTERLEAVED_ALONE = 0.1;
    private static final double INTERLEAVED_SHARED = 0.15;
    private static final double INTERLEAVED_UNSEEN = 0.12; // says nothing

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
     * @param bitsPerSecond capacity, or the rate that hardly any wait in a queue exceeded; 0 if neither is known
     * @param proven whether it is the capacity
     */
    public Sharing(Tally tally, double bitsPerSecond, boolean proven) {
        Shares booked = Shares.of(tally);
        long undecided = tally.get(Sum.QUEUE_UNDECIDED_NS);
        long full = booked.fullPath() + undecided;
        answer = full == 0 || bitsPerSecond <= 0 ? Answer.UNDECIDED : decide(tally, full, bitsPerSecond, proven);
        shares = switch (answer) {
            case ALONE ->
                booked.unshared() + undecided >= booked.shared()
                        ? booked.withFullPath(booked.unshared() + undecided, booked.shared())
                        : booked.withFullPath(full, 0);
            case SHARED ->
                booked.shared() + undecided >= booked.unshared()
                        ? booked.withFullPath(booked.unshared(), booked.shared() + undecided)
                        : booked.withFullPath(0, full);
            case UNDECIDED -> booked.withFullPath(full - full / 2, full / 2);
        };
    }

    private static Answer decide(Tally tally, long fullNanos, double bitsPerSecond, boolean proven) {
        long steady = tally.get(Sum.STEADY_FULL_NS);
        boolean isSteady = steady > 0 && steady >= fullNanos / STEADY_SHARE;
        double dispersion = Scores.dispersion(
                tally.get(isSteady ? Sum.STEADY_FULL_BYTES : Sum.FULL_BYTES),
                isSteady ? steady : fullNanos,
                bitsPerSecond);
        if (!proven) {
            return dispersion >= DISPERSION_SHARED ? Answer.SHARED : Answer.UNDECIDED;
        }
        long gaps = tally.get(Sum.GAPS_NS);
        double interleaved = gaps == 0 ? INTERLEAVED_UNSEEN : (double) tally.get(Sum.INTERLEAVED_NS) / gaps;
        if (dispersion >= DISPERSION_SHARED) {
            // A slower link since, not others, if nothing fits between packets that fill the time.
            boolean isUnbroken = gaps >= fullNanos / 2 && interleaved <= INTERLEAVED_ALONE;
            return isUnbroken ? Answer.UNDECIDED : Answer.SHARED;
        }
        if (dispersion <= DISPERSION_ALONE || interleaved <= INTERLEAVED_ALONE) {
            return Answer.ALONE;
        }
        return interleaved >= INTERLEAVED_SHARED ? Answer.SHARED : Answer.UNDECIDED;
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
