// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.row.Tenants;

/**
 * Choices of the operator that change rows.
 *
 * @param intervalNanos length of an interval, > 0; intervals lie on its multiples since the epoch
 * @param layer layer on which all rates of a row are counted
 * @param version analysis generation, raised when history is analysed anew on purpose
 * @param tenants whose addresses are; the only choice that may change while flows live, as it names and does not count
 */
public record AnalysisSettings(long intervalNanos, Layer layer, int version, Tenants tenants) {
    /** Layer on which rates are counted: which bytes of a packet of {@code ip_bytes} count. */
    public enum Layer {
        /** IP packets. */
        IP(0),
        /** Ethernet frames without FCS: what captures and {@code tc} count. */
        L2(14),
        /** What the wire carries: with FCS, preamble and inter-frame gap. */
        WIRE(38);

        private final int bytesBeyondIp;

        Layer(int bytesBeyondIp) {
            this.bytesBeyondIp = bytesBeyondIp;
        }

        /** Bytes per packet on top of the IP packet. */
        public int bytesBeyondIp() {
            return bytesBeyondIp;
        }
    }

    /** One second, L2, generation 1. */
    public static final AnalysisSettings DEFAULT = new AnalysisSettings(1_000_000_000L, Layer.L2, 1);

    /** Without tenants. */
    public AnalysisSettings(long intervalNanos, Layer layer, int version) {
        this(intervalNanos, layer, version, Tenants.NONE);
    }

    public AnalysisSettings {
        if (intervalNanos <= 0) {
            throw new IllegalArgumentException("interval must be > 0 ns, given " + intervalNanos);
        }
    }
}
