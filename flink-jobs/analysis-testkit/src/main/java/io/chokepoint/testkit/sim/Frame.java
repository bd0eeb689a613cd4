// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.function.Consumer;

/** A packet on a link: whose it is, what it takes, and what becomes of it. */
final class Frame {
    static final int LAYER_2_BYTES = 14;

    /** Whose packets are of no simulated connection. */
    static final int CROSS_TRAFFIC = -1;

    final int flow;
    final int bytes;
    final boolean ecnCapable;
    private final Consumer<Frame> onDelivered;
    private final Runnable onDropped;
    private boolean congestionExperienced;
    private long enqueuedNs;

    /**
     * A packet of so many IP bytes.
     *
     * @param onDelivered is told when the last bit has left the link
     */
    Frame(int flow, int ipBytes, boolean ecnCapable, Consumer<Frame> onDelivered, Runnable onDropped) {
        this.flow = flow;
        this.bytes = ipBytes + LAYER_2_BYTES;
        this.ecnCapable = ecnCapable;
        this.onDelivered = onDelivered;
        this.onDropped = onDropped;
    }

    void enqueued(long nowNs) {
        enqueuedNs = nowNs;
    }

    long enqueuedNs() {
        return enqueuedNs;
    }

    void markCongestion() {
        congestionExperienced = true;
    }

    /** Whether a queue marked it instead of dropping it (RFC 3168). */
    boolean isMarked() {
        return congestionExperienced;
    }

    void delivered() {
        onDelivered.accept(this);
    }

    void dropped() {
        onDropped.run();
    }
}
