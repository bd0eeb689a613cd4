// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

/** What tells the segment of the path. Constants are part of the contract and only appended. */
public enum LimitEvidence {
    /** One segment holds most of the delay above the lowest. */
    QUEUE,
    /** One segment lost most of what was lost. */
    LOSS,
    /** No other segment holds a queue, and this one cannot be timed. */
    ELIMINATION
}
