// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.Comparator;
import java.util.PriorityQueue;

/** The clock of a simulation: actions in the order of their time, and of their planning where times are equal. */
final class EventQueue {
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::timeNs).thenComparingLong(Event::order));
    private long nowNs;
    private long planned;

    private record Event(long timeNs, long order, Runnable action) {}

    EventQueue(long startNs) {
        nowNs = startNs;
    }

    long nowNs() {
        return nowNs;
    }

    void after(long delayNs, Runnable action) {
        if (delayNs < 0) {
            throw new IllegalArgumentException("an event in the past: " + delayNs + " ns");
        }
        events.add(new Event(nowNs + delayNs, planned++, action));
    }

    /** Runs everything before an instant. */
    void runUntil(long endNs) {
        for (Event next = events.peek(); next != null && next.timeNs() < endNs; next = events.peek()) {
            events.poll();
            nowNs = next.timeNs();
            next.action().run();
        }
        nowNs = endNs;
    }
}
