// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

/** Where a flow is limited, along its data. Constants are part of the contract and only appended. */
public enum LimitSegment {
    /** The taps do not tell. */
    UNKNOWN,
    /** In the sending host: its application or its socket buffer. */
    SENDER,
    BEFORE_FIRST_TAP,
    BETWEEN_TAPS,
    AFTER_LAST_TAP,
    /** In the receiving host: its window. */
    RECEIVER,
    /** Nowhere: congestion control has not filled the path, and nothing was lost. */
    NONE
}
