// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** CUBIC (RFC 9438) with fast convergence, without HyStart. */
final class Cubic implements CongestionControl {
    private static final double C = 0.4; // segments / s^3
    private static final double BETA = 0.7;
    private static final double RENO_ALPHA = 3 * (1 - BETA) / (1 + BETA);
    private static final double MAX_GROWTH = 1.5; // of a round trip
    private static final double NANOS_PER_SECOND = 1e9;

    private final int mss;
    private double maxSegments;
    private double priorSegments;
    private double renoSegments;
    private double plateauSeconds;
    private long epochNs = -1;
    private long lastNs;

    Cubic(int mss) {
        this.mss = mss;
    }

    @Override
    public double reduced(double heldBytes) {
        double held = heldBytes / mss;
        maxSegments = held < maxSegments ? held * (1 + BETA) / 2 : held;
        priorSegments = held;
        epochNs = -1;
        return Math.max(held * BETA, 2) * mss;
    }

    @Override
    public void idled(long nowNs) {
        epochNs += epochNs < 0 ? 0 : nowNs - lastNs;
        lastNs = nowNs;
    }

    @Override
    public double grown(double windowBytes, double slowStartThreshold, long newBytes, long nowNs, double roundTripNs) {
        lastNs = nowNs;
        if (windowBytes < slowStartThreshold) {
            return windowBytes + newBytes;
        }
        double window = windowBytes / mss;
        double acknowledged = newBytes / (double) mss;
        if (epochNs < 0) {
            epochNs = nowNs;
            renoSegments = window;
            maxSegments = Math.max(maxSegments, window);
            plateauSeconds = StrictMath.cbrt((maxSegments - window) / C);
        }
        double seconds = (nowNs - epochNs) / NANOS_PER_SECOND;
        renoSegments += (renoSegments < priorSegments ? RENO_ALPHA : 1) * acknowledged / window;
        if (cubic(seconds) < renoSegments) {
            return renoSegments * mss;
        }
        double target =
                Math.min(Math.max(cubic(seconds + roundTripNs / NANOS_PER_SECOND), window), MAX_GROWTH * window);
        return (window + (target - window) / window * acknowledged) * mss;
    }

    private double cubic(double seconds) {
        double sincePlateau = seconds - plateauSeconds;
        return C * sincePlateau * sincePlateau * sincePlateau + maxSegments;
    }
}
