// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/** Who stamped the packets of a batch; the order is that of the wire. */
public enum TimestampSource {
    UNKNOWN,
    /** A capture file. */
    FILE,
    /** The network card. */
    NIC,
    /** The kernel. */
    KERNEL,
    /** The probe, once per received burst. */
    BURST
}
