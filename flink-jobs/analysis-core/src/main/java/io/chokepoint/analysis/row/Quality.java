// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Why a verdict is unknown or weaker than it could be; bit = ordinal. Constants are only appended. */
public enum Quality {
    /** The handshake was not seen: roles, window scale and RTT are estimates. */
    SYN_MISSED,
    /** Only one direction of the flow was seen. */
    ONE_DIRECTION,
    /** Packets are missing that the tap should have seen. */
    CAPTURE_LOSS,
    /** Runs are missing between probe and analysis. */
    HOLE,
    /** Time stepped back by more than a second. */
    CLOCK_STEP,
    /** Not set yet. The capture breaks off in the middle of a frame. */
    CAPTURE_CUT,
    /** Segments larger than the path can carry: captured inside a host with offloads. */
    OFFLOAD,
    /** Frames were seen twice, as mirror ports do. */
    DUPLICATED,
    /** Packet times too coarse for packet pairs. */
    COARSE_CLOCK,
    /** No queue was proven, so the capacity is unknown. */
    CAPACITY_UNKNOWN,
    /** The window scale is unknown: the window is a lower bound. */
    WINDOW_SCALE_UNKNOWN,
    /** No TCP timestamps: sender and receiver times are shifted by estimates. */
    NO_TIMESTAMPS,
    /** Not set yet. The flow came through a tunnel or changed its VLAN. */
    PATH_CHANGED,
    /** TCP options were malformed, or cut off by a snap length. */
    BAD_OPTIONS,
    /** The tap could not keep up and left the flow out from here on: it may have gone on. */
    SHED
}
