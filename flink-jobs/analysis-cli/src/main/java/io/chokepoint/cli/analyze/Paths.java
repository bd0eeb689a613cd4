// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.FlowPath;
import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Brings together what several taps tell of a flow. The taps are judged one after the other, so nothing is forgotten until the
 * last: the rows are those that the job ends with, which keeps them until its readers have passed.
 */
final class Paths {
    private final AnalysisSettings settings;
    private final Map<FlowKey, Flow> flows = new LinkedHashMap<>();
    private final long[] fates = new long[FlowPath.Fate.values().length];

    /** The newest row of each interval and path. */
    private static final class Flow {
        private final FlowPath path;
        private final TreeMap<Long, Map<Long, PathRow>> rows = new TreeMap<>();

        Flow(FlowKey key) {
            path = new FlowPath(key);
        }

        void row(PathRow row) {
            rows.computeIfAbsent(row.get(PathField.INTERVAL_START), start -> new LinkedHashMap<>())
                    .merge(
                            row.get(PathField.PATH_ID),
                            row,
                            (one, next) -> next.revision() >= one.revision() ? next : one);
        }
    }

    Paths(AnalysisSettings settings) {
        this.settings = settings;
    }

    /** Takes a row of a tap. */
    void row(Row row) {
        PathObservation observation = PathObservation.of(row, settings.intervalNanos());
        if (observation != null) {
            Flow flow = flows.computeIfAbsent(observation.key(), Flow::new);
            fates[flow.path.add(observation, 0, settings.tenants(), flow::row).ordinal()]++;
        }
    }

    /** Gives the rows, flow by flow in the order of their time. */
    void finish(Consumer<PathRow> out) {
        flows.values()
                .forEach(
                        flow -> flow.rows.values().forEach(rows -> rows.values().forEach(out)));
        flows.clear();
    }

    /** What became of the observations of all taps. */
    Map<String, Long> counters() {
        Map<String, Long> counters = new LinkedHashMap<>();
        for (FlowPath.Fate fate : FlowPath.Fate.values()) {
            if (fate != FlowPath.Fate.LATE && fate != FlowPath.Fate.FORGOTTEN) {
                counters.put("observations_" + fate.name().toLowerCase(Locale.ROOT), fates[fate.ordinal()]);
            }
        }
        return counters;
    }
}
