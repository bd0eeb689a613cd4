// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Congestion control of the sender. Constants are part of the contract and only appended. */
public enum CongestionControl {
    RENO,
    CUBIC,
    BBR,
    OTHER
}
