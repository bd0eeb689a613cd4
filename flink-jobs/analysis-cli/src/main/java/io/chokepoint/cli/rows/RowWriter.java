// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import java.util.Map;

/** Writes rows, then the books, in one format. A failing output throws {@link java.io.UncheckedIOException}. */
public interface RowWriter {
    /** Takes the next row. */
    void row(Row row);

    /** Takes who shared a bottleneck in a window. */
    void group(BottleneckGroup group);

    /** Takes the next row of a path, behind all rows of taps. */
    void path(PathRow row);

    /** Takes the books of the whole run, after the last row; nothing follows. */
    void end(Map<String, ?> ledger);
}
