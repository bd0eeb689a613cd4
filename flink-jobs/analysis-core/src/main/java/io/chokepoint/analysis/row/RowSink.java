// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import io.chokepoint.analysis.group.Observation;

/** Takes rows as they are written; each is new and the sink's to keep. */
@FunctionalInterface
public interface RowSink {
    /** Called once per row, in the order of the flow's time. */
    void accept(Row row);

    /** Called once per minute row, after the interval rows it is the sum of. Whoever prints all of those has no use for it. */
    default void acceptMinute(MinuteRow row) {}

    /** Called once per second of a direction in which a queue stood; who does not group flows passes it over. */
    default void observe(Observation observation) {}
}
