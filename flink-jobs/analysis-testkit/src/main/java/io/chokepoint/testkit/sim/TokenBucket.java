// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** A policer: what finds no tokens is dropped, nothing waits. */
final class TokenBucket {
    private static final double BITS_PER_BYTE_NANOS = 8e9;

    private final double bytesPerNano;
    private final long burstBytes;
    private double tokens;
    private long filledNs;

    TokenBucket(double bitsPerSecond, long burstBytes, long startNs) {
        bytesPerNano = bitsPerSecond / BITS_PER_BYTE_NANOS;
        this.burstBytes = burstBytes;
        tokens = burstBytes;
        filledNs = startNs;
    }

    /** Whether a frame may pass; if so it takes its tokens. */
    boolean takes(Frame frame, long nowNs) {
        tokens = Math.min((double) burstBytes, tokens + (nowNs - filledNs) * bytesPerNano);
        filledNs = nowNs;
        if (tokens < frame.bytes) {
            return false;
        }
        tokens -= frame.bytes;
        return true;
    }
}
