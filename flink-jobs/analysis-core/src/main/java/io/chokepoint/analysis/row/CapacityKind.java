// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** What is known of a capacity. Constants are part of the contract and only appended. */
public enum CapacityKind {
    /** A queue was proven behind the samples: this is the rate of the narrowest link. */
    PROVEN,
    /** The path carried this much; it may carry more. */
    LOWER_BOUND
}
