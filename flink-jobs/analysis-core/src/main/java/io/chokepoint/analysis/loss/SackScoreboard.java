// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** What the receiver holds above the cumulative acknowledgment (RFC 2018), as disjoint ascending ranges. */
public final class SackScoreboard {
    private static final int CAPACITY = 24;

    private static final int SMALL = 2;

    // Grown up to CAPACITY as the flow needs it.
    private long[] left = {};
    private long[] right = {};
    private int size;
    private long bytes;

    /** Adds a block; returns how many of its bytes were not known before. */
    public long add(long blockLeft, long blockRight) {
        long before = bytes;
        long newLeft = blockLeft;
        long newRight = blockRight;
        int kept = 0;
        int insertAt = 0;
        for (int i = 0; i < size; i++) {
            if (right[i] < newLeft || left[i] > newRight) {
                left[kept] = left[i];
                right[kept] = right[i];
                insertAt = right[kept] < newLeft ? kept + 1 : insertAt;
                kept++;
            } else {
                newLeft = Math.min(newLeft, left[i]);
                newRight = Math.max(newRight, right[i]);
                bytes -= right[i] - left[i];
            }
        }
        size = kept;
        insert(insertAt, newLeft, newRight);
        return bytes - before;
    }

    /** Whether a range holds the byte before {@code end}. */
    public boolean holds(long end) {
        for (int i = 0; i < size; i++) {
            if (left[i] < end && end <= right[i]) {
                return true;
            }
        }
        return false;
    }

    private void reserve(int ranges) {
        if (ranges > left.length) {
            int capacity = Math.min(CAPACITY, Math.max(SMALL, Math.max(ranges, 2 * left.length)));
            left = Arrays.copyOf(left, capacity);
            right = Arrays.copyOf(right, capacity);
        }
    }

    private void insert(int at, long newLeft, long newRight) {
        if (size == CAPACITY) {
            // Merge the two lowest ranges: the bytes between them count as received a little early.
            bytes += left[1] - right[0];
            left[1] = left[0];
            System.arraycopy(left, 1, left, 0, size - 1);
            System.arraycopy(right, 1, right, 0, size - 1);
            size--;
            if (at == 1) {
                return; // the block lies between the two and is held now
            }
            insert(Math.max(0, at - 1), newLeft, newRight);
            return;
        }
        reserve(size + 1);
        System.arraycopy(left, at, left, at + 1, size - at);
        System.arraycopy(right, at, right, at + 1, size - at);
        left[at] = newLeft;
        right[at] = newRight;
        size++;
        bytes += newRight - newLeft;
    }

    /** The cumulative acknowledgment reached {@code ack}: returns how many bytes below it had been held before. */
    public long removeBelow(long ack) {
        long before = bytes;
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (right[i] <= ack) {
                bytes -= right[i] - left[i];
                continue;
            }
            long from = Math.max(left[i], ack);
            bytes -= from - left[i];
            left[kept] = from;
            right[kept] = right[i];
            kept++;
        }
        size = kept;
        return before - bytes;
    }

    /** Whether the block lies inside what is held. */
    public boolean contains(long blockLeft, long blockRight) {
        for (int i = 0; i < size; i++) {
            if (left[i] <= blockLeft && blockRight <= right[i]) {
                return true;
            }
        }
        return false;
    }

    /** Bytes held above the cumulative acknowledgment. */
    public long bytes() {
        return bytes;
    }

    /** Forgets everything. */
    public void clear() {
        size = 0;
        bytes = 0;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, size);
        long at = 0;
        for (int i = 0; i < size; i++) {
            Varint.write(out, left[i] - at);
            Varint.write(out, right[i] - left[i]);
            at = right[i];
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        size = Varint.readInt(in);
        reserve(size);
        bytes = 0;
        long at = 0;
        for (int i = 0; i < size; i++) {
            left[i] = at + Varint.read(in);
            right[i] = left[i] + Varint.read(in);
            bytes += right[i] - left[i];
            at = right[i];
        }
    }
}
