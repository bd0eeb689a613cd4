// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

/** What a wait is blamed on. */
public enum Cause {
    UNKNOWN(Sum.UNKNOWN_NS, Sum.UNKNOWN_NS),
    APPLICATION_IDLE(Sum.APPLICATION_NS, Sum.APPLICATION_IDLE_NS),
    APPLICATION_WAITS(Sum.APPLICATION_NS, Sum.APPLICATION_WAITS_NS),
    APPLICATION_SMALL(Sum.APPLICATION_NS, Sum.APPLICATION_SMALL_NS),
    APPLICATION_PACED(Sum.APPLICATION_NS, Sum.APPLICATION_PACED_NS),
    SEND_BUFFER(Sum.SEND_BUFFER_NS, Sum.SEND_BUFFER_NS),
    RECEIVER_WINDOW(Sum.RECEIVER_WINDOW_NS, Sum.RECEIVER_WINDOW_NS),
    UNSHARED_BOTTLENECK(Sum.UNSHARED_NS, Sum.UNSHARED_NS),
    SHARED_BOTTLENECK(Sum.SHARED_NS, Sum.SHARED_NS),
    /** A queue stands, but no capacity is known yet: decided when the row is written. */
    QUEUE_UNDECIDED(Sum.QUEUE_UNDECIDED_NS, Sum.QUEUE_UNDECIDED_NS),
    SLOW_START(Sum.TRANSPORT_NS, Sum.SLOW_START_NS),
    TRANSPORT(Sum.TRANSPORT_NS, Sum.TRANSPORT_NS);

    private final Sum share;
    private final Sum detail;

    Cause(Sum share, Sum detail) {
        this.share = share;
        this.detail = detail;
    }

    /** The time share the cause adds to. */
    public Sum share() {
        return share;
    }

    /** The finer sum it adds to as well; the share itself if there is none. */
    public Sum detail() {
        return detail;
    }

    /** Whether the cause is that a path is full. */
    public boolean isFullPath() {
        return this == UNSHARED_BOTTLENECK || this == SHARED_BOTTLENECK || this == QUEUE_UNDECIDED;
    }
}
