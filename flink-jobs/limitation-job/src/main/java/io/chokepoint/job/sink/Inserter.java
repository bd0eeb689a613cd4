// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;

/** Puts rows into a table. */
interface Inserter extends AutoCloseable {
    /**
     * Inserts the rows from {@code firstRow} up to {@code endRow} of a block. Returns when the table has them.
     *
     * @throws IOException if it may work another time; some of the rows may be in the table nevertheless
     * @throws RowsRefused if it will not
     */
    void insert(Block block, int firstRow, int endRow) throws IOException, RowsRefused, InterruptedException;

    @Override
    void close();
}
