// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/**
 * How much may be sent during fast recovery: as much as arrives, scaled down to half (RFC 6937, with its slow-start
 * reduction bound). Without it each round of lost retransmissions would be sent as one burst and lost again.
 */
final class ProportionalRateReduction {
    private final double slowStartThreshold;
    private final long flightAtStart;
    private final int mss;
    private long arrivedBytes;
    private long sentBytes;

    ProportionalRateReduction(double slowStartThreshold, long flightAtStart, int mss) {
        this.slowStartThreshold = slowStartThreshold;
        this.flightAtStart = flightAtStart;
        this.mss = mss;
    }

    void countSent(int bytes) {
        sentBytes += bytes;
    }

    /** Bytes that may be sent on this ACK. */
    double allowance(long newlyArrivedBytes, long pipeBytes) {
        arrivedBytes += newlyArrivedBytes;
        if (pipeBytes > slowStartThreshold) {
            return Math.max(0, arrivedBytes * slowStartThreshold / flightAtStart - sentBytes);
        }
        double bound = Math.max(arrivedBytes - sentBytes, newlyArrivedBytes) + mss;
        return Math.max(0, Math.min(slowStartThreshold - pipeBytes, bound));
    }
}
