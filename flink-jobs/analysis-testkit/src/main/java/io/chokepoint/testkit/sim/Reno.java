// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** Slow start and congestion avoidance of RFC 5681. */
final class Reno implements CongestionControl {
    private final int mss;

    Reno(int mss) {
        this.mss = mss;
    }

    @Override
    public double reduced(double heldBytes) {
        return Math.max(heldBytes / 2, 2.0 * mss);
    }

    @Override
    public double grown(double windowBytes, double slowStartThreshold, long newBytes, long nowNs, double roundTripNs) {
        return windowBytes + (windowBytes < slowStartThreshold ? newBytes : mss * newBytes / windowBytes);
    }
}
