// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.path.LimitSegment;
import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Direction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Below the taps: for each flow and direction that several of them saw one line that says where its limit lies. */
final class PathTable {
    private static final String INDENT = "    ";

    private static final class Flow {
        private final PathRow newest;
        private final Map<String, Integer> places = new LinkedHashMap<>();
        private int intervals;

        Flow(PathRow newest) {
            this.newest = newest;
        }
    }

    private final Map<Long, Flow> flows = new LinkedHashMap<>();

    void row(PathRow row) {
        Flow flow = flows.computeIfAbsent(row.get(PathField.PATH_ID), id -> new Flow(row));
        flow.places.merge(place(row), 1, Integer::sum);
        flow.intervals++;
    }

    /** The lines; none if no flow was seen twice. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (Flow flow : flows.values()) {
            lines.add(ends(flow.newest) + "  via " + String.join(", ", flow.newest.taps()));
            flow.places.entrySet().stream()
                    .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
                    .map(place ->
                            INDENT + place.getKey() + ": " + place.getValue() + " of " + flow.intervals + " intervals")
                    .forEach(lines::add);
        }
        return lines;
    }

    private static String ends(PathRow row) {
        String client = PathValues.of(row, PathField.CLIENT_IP) + ":" + PathValues.of(row, PathField.CLIENT_PORT);
        String server = PathValues.of(row, PathField.SERVER_IP) + ":" + PathValues.of(row, PathField.SERVER_PORT);
        boolean toServer = row.get(PathField.DIRECTION) == Direction.CLIENT_TO_SERVER.ordinal();
        return client + (toServer ? "  ->  " : "  <-  ") + server;
    }

    private static String place(PathRow row) {
        LimitSegment segment = LimitSegment.values()[(int) row.get(PathField.LIMIT_SEGMENT)];
        String cause = " (" + PathValues.of(row, PathField.ROOT_CAUSE)
                + (row.isNull(PathField.LIMIT_EVIDENCE)
                        ? ")"
                        : ", by " + PathValues.of(row, PathField.LIMIT_EVIDENCE) + ")");
        String from = row.text(PathField.LIMIT_FROM);
        String to = row.text(PathField.LIMIT_TO);
        return switch (segment) {
            case UNKNOWN -> "the taps do not tell where it is limited";
            case SENDER -> "limited by the sender" + cause;
            case BEFORE_FIRST_TAP -> "limited before " + to + cause;
            case BETWEEN_TAPS -> "limited between " + from + " and " + to + cause;
            case AFTER_LAST_TAP -> "limited behind " + from + cause;
            case RECEIVER -> "limited by the receiver" + cause;
            case NONE -> "not limited by the path yet" + cause;
        };
    }
}
