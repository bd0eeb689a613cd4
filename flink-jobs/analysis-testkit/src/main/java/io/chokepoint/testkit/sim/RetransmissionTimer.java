// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** Restarts, doubles and fires: RFC 6298. */
final class RetransmissionTimer {
    private static final long MIN_RTO_NS = 200_000_000;
    private static final int MAX_BACKOFF = 6;

    private final EventQueue events;
    private final Runnable onTimeout;
    private double smoothedRttNs;
    private double rttVariationNs;
    private int backoff;
    private boolean running;
    private long generation; // a timer that was restarted must not fire

    RetransmissionTimer(EventQueue events, Runnable onTimeout) {
        this.events = events;
        this.onTimeout = onTimeout;
    }

    void sample(long rttNs) {
        if (smoothedRttNs == 0) {
            smoothedRttNs = rttNs;
            rttVariationNs = rttNs / 2.0;
        } else {
            rttVariationNs += (Math.abs(smoothedRttNs - rttNs) - rttVariationNs) / 4;
            smoothedRttNs += (rttNs - smoothedRttNs) / 8;
        }
        backoff = 0;
    }

    double smoothedRttNs() {
        return smoothedRttNs;
    }

    void ensureRunning() {
        if (!running) {
            restart(true);
        }
    }

    void restart(boolean run) {
        running = run;
        long mine = ++generation;
        if (run) {
            long timeoutNs = Math.max(MIN_RTO_NS, (long) (smoothedRttNs + 4 * rttVariationNs)) << backoff;
            events.after(timeoutNs, () -> fire(mine));
        }
    }

    private void fire(long mine) {
        if (mine == generation) {
            running = false;
            backoff = Math.min(backoff + 1, MAX_BACKOFF);
            onTimeout.run();
        }
    }
}
