// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Takes rows as they are written; each is new and the sink's to keep. */
@FunctionalInterface
public interface RowSink {
    /** Called once per row, in the order of the flow's time. */
    void accept(Row row);
}
