// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.GroupWindow;
import io.chokepoint.analysis.group.Grouping;
import io.chokepoint.analysis.group.Observation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Groups the flows of one tap, window by window. A window is judged once, when the tap's time has passed its end by 30 s: the
 * probe tells of every flow more often than that, also of a silent one.
 */
final class TapGroups {
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final String tap;
    private final long generation;
    private final Consumer<BottleneckGroup> out;
    private final TreeMap<Long, Window> windows = new TreeMap<>();
    private long judgedUntilNanos = Long.MIN_VALUE;
    private long observations;
    private long repeated;
    private long evicted;
    private long late;

    TapGroups(String tap, long generation, Consumer<BottleneckGroup> out) {
        this.tap = tap;
        this.generation = generation;
        this.out = out;
    }

    /** A second of a flow in which a queue stood. */
    void observe(Observation observation) {
        observations++;
        long start = Grouping.windowStart(observation);
        if (start < judgedUntilNanos) {
            late++;
            return;
        }
        Window window = windows.computeIfAbsent(start, at -> new Window());
        window.observations.add(observation);
        window.books = window.books.withOneMore();
        if (window.books.isFull()) {
            thin(window);
        }
        while (windows.firstKey() + Grouping.WINDOW_NANOS + PATIENCE_NANOS <= observation.startNanos()) {
            judgeFirst();
        }
    }

    /** Judges what is left. */
    void finish() {
        while (!windows.isEmpty()) {
            judgeFirst();
        }
    }

    private void judgeFirst() {
        Map.Entry<Long, Window> first = windows.pollFirstEntry();
        Window window = first.getValue();
        judgedUntilNanos = first.getKey() + Grouping.WINDOW_NANOS;
        thin(window);
        window.books
                .tell(tap, first.getKey(), generation, window.observations)
                .groups()
                .forEach(out);
    }

    private void thin(Window window) {
        GroupWindow.Thinned thinned = window.books.thin(window.observations);
        repeated += thinned.repeated();
        evicted += thinned.evicted();
        window.observations = new ArrayList<>(thinned.kept());
        window.books = thinned.window();
    }

    /** Seconds of flows in which a queue stood: used = all − repeated − evicted − late. */
    Map<String, Long> counters() {
        Map<String, Long> counters = new LinkedHashMap<>();
        counters.put("observations", observations);
        counters.put("observations_repeated", repeated);
        counters.put("observations_evicted", evicted);
        counters.put("observations_late", late);
        return counters;
    }

    private static final class Window {
        private List<Observation> observations = new ArrayList<>();
        private GroupWindow books = GroupWindow.EMPTY;
    }
}
