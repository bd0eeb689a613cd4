// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Rows of one table that are inserted together. */
final class Block {
    private final Table table;
    private final List<String> columns;
    private final long openedNanos;
    private byte[] bytes = new byte[1 << 16];
    private int[] ends = new int[256];
    private int[] days = new int[256];
    private int rows;
    private boolean isAwaited;

    /** {@code openedNanos}: when its first row came, by a clock that only goes forward. */
    Block(Table table, long openedNanos) {
        this(table, table.columns(), openedNanos);
    }

    /** The same, of rows that another version of the job may have encoded: {@code columns} are in the order of their bytes. */
    Block(Table table, List<String> columns, long openedNanos) {
        this.table = table;
        this.columns = columns;
        this.openedNanos = openedNanos;
    }

    void add(byte[] row, int day) {
        int length = byteCount();
        if (length + row.length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + row.length));
        }
        if (rows == ends.length) {
            ends = Arrays.copyOf(ends, 2 * rows);
            days = Arrays.copyOf(days, 2 * rows);
        }
        System.arraycopy(row, 0, bytes, length, row.length);
        ends[rows] = length + row.length;
        days[rows] = day;
        rows++;
    }

    /** From now on it has a row that is awaited. */
    void setAwaited() {
        isAwaited = true;
    }

    boolean isAwaited() {
        return isAwaited;
    }

    Table table() {
        return table;
    }

    List<String> columns() {
        return columns;
    }

    long openedNanos() {
        return openedNanos;
    }

    int rows() {
        return rows;
    }

    /** Bytes of all rows. */
    int byteCount() {
        return startOf(rows);
    }

    byte[] bytes() {
        return bytes;
    }

    /** Where a row starts in {@link #bytes()}; that of the row after the last is the end. */
    int startOf(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    int dayOf(int row) {
        return days[row];
    }

    byte[] copyOfRow(int row) {
        return Arrays.copyOfRange(bytes, startOf(row), startOf(row + 1));
    }

    /** The same rows in blocks of at most so many days each; this block itself if it has no more. */
    List<Block> splitByDay(int maxDays) {
        if (IntStream.of(days).limit(rows).distinct().count() <= maxDays) {
            return List.of(this);
        }
        int[] order = IntStream.range(0, rows)
                .boxed()
                .sorted(Comparator.comparingInt(row -> days[row]))
                .mapToInt(Integer::intValue)
                .toArray();
        List<Block> blocks = new ArrayList<>();
        Block open = new Block(table, columns, openedNanos);
        int daysInOpen = 0;
        for (int i = 0; i < order.length; i++) {
            boolean isNewDay = i == 0 || days[order[i]] != days[order[i - 1]];
            if (isNewDay && daysInOpen == maxDays) {
                blocks.add(open);
                open = new Block(table, columns, openedNanos);
                daysInOpen = 0;
            }
            daysInOpen += isNewDay ? 1 : 0;
            open.add(copyOfRow(order[i]), days[order[i]]);
        }
        blocks.add(open);
        return blocks;
    }
}
