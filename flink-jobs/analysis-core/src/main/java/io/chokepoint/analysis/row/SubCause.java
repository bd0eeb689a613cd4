// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** What refines a root cause. Constants are part of the contract and only appended. */
public enum SubCause {
    /** Application: silent with everything acknowledged. */
    IDLE,
    /** Application: segments below the maximum size that end a burst. */
    SMALL_WRITES,
    /** Application: sends by its own clock, below what the path would carry. */
    PACED,
    /** Application: resumes only after the peer has sent data. */
    WAITING_FOR_PEER,
    /** Receiver window: closed to zero. */
    ZERO_WINDOW,
    /** Receiver window: at its 64 KiB limit because window scaling was not agreed. */
    WINDOW_UNSCALED,
    /** Receiver window: constant, so set by a buffer size. */
    WINDOW_CLAMPED,
    /** Receiver window: shrinks and grows, so the application reads too slowly. */
    SLOW_READER,
    /** Bottleneck: full with a standing queue of more than one lowest round trip. */
    DEEP_BUFFER,
    /** Bottleneck: loss without a queue at a constant rate. */
    POLICED,
    /** Bottleneck: whether this flow fills it alone is undecided. */
    SHARING_UNDECIDED,
    /** Transport: the window still grows exponentially. */
    SLOW_START,
    /** Transport: the window grows linearly after a loss. */
    CONGESTION_AVOIDANCE,
    /** Transport: losses without a queue keep the window small. */
    RANDOM_LOSS,
    /** Transport: reordering that the sender takes for loss. */
    REORDERING
}
