// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.FlowAnalysis;

/** What is kept of a flow at a tap: its analysis, and the two instants of its one timer. */
final class FlowState {
    private final String tap;
    private final FlowAnalysis analysis;
    /** When the broker appended the last batch with a run of the flow, ms since the epoch. */
    private long touchedMillis;
    /** When the timer fires; it is moved ahead only then, so that it costs per timeout and not per run. */
    private long timerMillis;

    FlowState(String tap, FlowAnalysis analysis, long touchedMillis, long timerMillis) {
        this.tap = tap;
        this.analysis = analysis;
        this.touchedMillis = touchedMillis;
        this.timerMillis = timerMillis;
    }

    String tap() {
        return tap;
    }

    FlowAnalysis analysis() {
        return analysis;
    }

    long touchedMillis() {
        return touchedMillis;
    }

    void touch(long millis) {
        touchedMillis = millis;
    }

    long timerMillis() {
        return timerMillis;
    }

    void moveTimer(long millis) {
        timerMillis = millis;
    }
}
