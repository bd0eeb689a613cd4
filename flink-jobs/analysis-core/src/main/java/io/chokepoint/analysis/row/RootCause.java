// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** What limits the throughput. Constants are part of the contract and only appended. */
public enum RootCause {
    /** The tap, the capture or the flow does not allow a verdict; the quality says why. */
    UNKNOWN,
    /** The sending application has nothing to send. */
    APPLICATION,
    /** The sender's socket buffer is too small to cover the round trip. */
    SEND_BUFFER,
    /** The receiver's advertised window. */
    RECEIVER_WINDOW,
    /** The path is full, and this flow fills it alone. */
    UNSHARED_BOTTLENECK,
    /** The path is full, and this flow shares it. */
    SHARED_BOTTLENECK,
    /** The path is full; who fills it cannot be decided from here. */
    BOTTLENECK,
    /** Congestion control has not filled the path: slow start, congestion avoidance, random loss. */
    TRANSPORT,
    /** No cause holds most of the time. */
    MIXED,
    /** Fewer data packets than a verdict needs; the shares stand. */
    SHORT_TRANSFER
}
