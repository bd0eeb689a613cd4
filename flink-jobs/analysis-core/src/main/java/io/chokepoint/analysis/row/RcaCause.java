// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Outcome of the published decision tree [BAU21 Fig. 3] on the corrected scores. Constants are only appended. */
public enum RcaCause {
    UNSHARED_BOTTLENECK,
    SHARED_BOTTLENECK,
    RECEIVER_WINDOW,
    TRANSPORT,
    MIXED
}
