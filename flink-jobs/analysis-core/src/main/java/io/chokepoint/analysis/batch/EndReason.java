// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/** Why no further run of a flow follows; the order is that of the wire. */
public enum EndReason {
    /** The flow lives. */
    NONE,
    /** Both sides sent FIN. */
    FIN,
    /** One side sent RST. */
    RST,
    /** Silence for longer than the probe waits. */
    IDLE,
    /** The probe needed the room. */
    EVICTED,
    /** A new SYN, or a SYN-ACK, with other initial sequence numbers took the ports. */
    REPLACED,
    /** The capture ended. */
    CAPTURE_END,
    /** The tap could not keep up, and left the flow out from then on. */
    SHED
}
