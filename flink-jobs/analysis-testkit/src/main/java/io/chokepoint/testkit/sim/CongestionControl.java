// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** Decides how much may be in flight, and how fast it may leave. */
interface CongestionControl {
    /** The algorithms that a sender can run. */
    enum Kind {
        RENO,
        CUBIC,
        BBR
    }

    /** A new one for a flow of this segment size. */
    static CongestionControl of(Kind kind, int mss) {
        return switch (kind) {
            case RENO -> new Reno(mss);
            case CUBIC -> new Cubic(mss);
            case BBR -> new Bbr(mss);
        };
    }

    /** The slow-start threshold after a loss or a mark, given what the path was thought to hold. */
    double reduced(double heldBytes);

    /** The window after an ACK outside of recovery. */
    double grown(double windowBytes, double slowStartThreshold, long newBytes, long nowNs, double roundTripNs);

    /** The window was not full since the last ACK: time that must not count as probing. */
    default void idled(long nowNs) {}

    /** What an ACK tells of the path, before {@link #grown}. */
    default void onDelivery(DeliverySample sample, long pipeBytes, long nowNs) {}

    /** Whether losses leave its window alone. */
    default boolean ignoresLoss() {
        return false;
    }

    /** Whether the pace is what a receive window of so many bytes made of it. */
    default boolean isHeldBy(double receiveWindowBytes) {
        return false;
    }

    /** Bytes a nanosecond at which segments may leave; infinite if ACKs alone pace them. */
    default double pacingBytesPerNano() {
        return Double.POSITIVE_INFINITY;
    }
}
