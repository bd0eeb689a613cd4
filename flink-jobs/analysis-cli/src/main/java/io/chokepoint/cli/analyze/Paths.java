// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.PathJudge;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Brings together what several taps tell of a flow. The taps are judged one after the other, so all is kept until the last:
 * the rows are those that the job ends with.
 */
final class Paths {
    private final long intervalNanos;
    private final Map<FlowKey, TreeMap<Long, List<PathObservation>>> flows = new LinkedHashMap<>();

    Paths(long intervalNanos) {
        this.intervalNanos = intervalNanos;
    }

    /** Takes a row of a tap. */
    void row(Row row) {
        PathObservation observation = PathObservation.of(row, intervalNanos);
        if (observation != null) {
            flows.computeIfAbsent(observation.key(), key -> new TreeMap<>())
                    .computeIfAbsent(observation.startNanos(), start -> new ArrayList<>())
                    .add(observation);
        }
    }

    /** Gives the rows, flow by flow in the order of their time. */
    void finish(Consumer<PathRow> out) {
        flows.values().forEach(intervals -> intervals.values().forEach(observations -> judge(observations, out)));
        flows.clear();
    }

    /** Of one flow and interval: each direction has a row of its own. */
    private static void judge(Collection<PathObservation> observations, Consumer<PathRow> out) {
        List<PathObservation> rest = new ArrayList<>(observations);
        while (!rest.isEmpty()) {
            PathObservation first = rest.get(0);
            PathRow row = PathJudge.judge(rest.stream().filter(first::isBesides).toList());
            if (row != null) {
                out.accept(row);
            }
            rest.removeIf(first::isBesides);
        }
    }
}
