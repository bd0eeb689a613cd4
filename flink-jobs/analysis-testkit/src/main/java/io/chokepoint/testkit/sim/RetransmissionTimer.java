// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/** Restarts, doubles and fires: RFC 6298. */
final class RetransmissionTimer {
    private static final int MAX_BACKOFF = 6;

    private final EventQueue events;
    private final long minTimeoutNs;
    private final Runnable onTimeout;
    private double smoothedRttNs;
    private double rttVariationNs;
    private long lowestRttNs = Long.MAX_VALUE;
    private int backoff;
    private boolean running;
    private long dueNs;
    private long wakesNs = Long.MAX_VALUE; // one event is enough, if it looks again when it comes too early

    RetransmissionTimer(EventQueue events, long minTimeoutNs, Runnable onTimeout) {
        this.events = events;
        this.minTimeoutNs = minTimeoutNs;
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
        lowestRttNs = Math.min(lowestRttNs, rttNs);
        backoff = 0;
    }

    double smoothedRttNs() {
        return smoothedRttNs;
    }

    long lowestRttNs() {
        return lowestRttNs;
    }

    void ensureRunning() {
        if (!running) {
            restart(true);
        }
    }

    void restart(boolean run) {
        running = run;
        if (run) {
            dueNs = events.nowNs() + (Math.max(minTimeoutNs, (long) (smoothedRttNs + 4 * rttVariationNs)) << backoff);
            wakeUp();
        }
    }

    private void wakeUp() {
        if (dueNs < wakesNs) {
            wakesNs = dueNs;
            events.after(dueNs - events.nowNs(), this::look);
        }
    }

    private void look() {
        if (events.nowNs() < wakesNs) {
            return;
        }
        wakesNs = Long.MAX_VALUE;
        if (running && events.nowNs() >= dueNs) {
            running = false;
            backoff = Math.min(backoff + 1, MAX_BACKOFF);
            onTimeout.run();
        } else if (running) {
            wakeUp();
        }
    }
}
