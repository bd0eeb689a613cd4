// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.function.Consumer;

/**
 * A link with a rate and a drop-tail queue in front of it; both are counted in IP bytes + {@link #LAYER_2_BYTES}.
 *
 * <p>Guarantee: first in, first out, and never more than {@code queueBytes} waiting.
 */
final class Link<T> {
    static final int LAYER_2_BYTES = 14;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    private final EventQueue events;
    private final double bitsPerSecond;
    private final long queueBytes;
    private final Consumer<T> out;
    private long busyUntilNs;
    private long waitingBytes;
    private long maxWaitingBytes;

    Link(EventQueue events, double bitsPerSecond, long queueBytes, Consumer<T> out) {
        this.events = events;
        this.bitsPerSecond = bitsPerSecond;
        this.queueBytes = queueBytes;
        this.out = out;
    }

    /** Offers a packet; false if it found no room and is gone. */
    boolean offer(T packet, int ipBytes) {
        int bytes = ipBytes + LAYER_2_BYTES;
        if (waitingBytes + bytes > queueBytes) {
            return false;
        }
        waitingBytes += bytes;
        maxWaitingBytes = Math.max(maxWaitingBytes, waitingBytes);
        busyUntilNs = Math.max(busyUntilNs, events.nowNs()) + transmissionNs(bytes);
        events.after(busyUntilNs - events.nowNs(), () -> {
            waitingBytes -= bytes;
            out.accept(packet);
        });
        return true;
    }

    /** How long a packet that arrives now would wait before its first bit leaves. */
    long queueingNs() {
        return Math.max(0, busyUntilNs - events.nowNs());
    }

    long maxWaitingBytes() {
        return maxWaitingBytes;
    }

    private long transmissionNs(int bytes) {
        return Math.round(bytes * BITS_PER_BYTE / bitsPerSecond * NANOS_PER_SECOND);
    }
}
