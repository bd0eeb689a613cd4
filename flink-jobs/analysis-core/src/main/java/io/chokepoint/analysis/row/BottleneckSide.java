// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Where queueing and loss happen, seen along the data. Constants are only appended. */
public enum BottleneckSide {
    BEFORE_TAP,
    AFTER_TAP
}
