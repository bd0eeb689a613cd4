// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Rate at which bytes arrived over a sliding time, from a ring of cumulative counts. */
public final class DeliveryRate {
    private static final int CAPACITY = 64;
    private static final int SMALL = 8;
    /** Points kept per window, so that the ring spans two windows. */
    private static final int POINTS_PER_WINDOW = 24;

    private static final double BITS_PER_BYTE_NANOS = 8e9;

    private static final long[] EMPTY = {};

    // Empty or powers of two, grown up to CAPACITY as the flow lives on.
    private long[] timeNanos = EMPTY;
    private long[] cumulativeBytes = EMPTY;
    private int next;
    private int size;
    private long totalBytes;
    private int lastBack; // where the last search ended: the next one ends near. Not part of the state.

    /** Counts bytes that arrived at {@code now}; the rate will be asked over about {@code windowNanos}. */
    public void add(long now, long bytes, long windowNanos) {
        totalBytes += bytes;
        int newest = (next - 1) & mask();
        boolean dense = size > 1 && now - timeNanos[(next - 2) & mask()] < windowNanos / POINTS_PER_WINDOW;
        if (dense) {
            timeNanos[newest] = now;
            cumulativeBytes[newest] = totalBytes;
            return;
        }
        if (size == timeNanos.length && size < CAPACITY) {
            resize(Math.max(SMALL, 2 * size));
        }
        timeNanos[next] = now;
        cumulativeBytes[next] = totalBytes;
        next = (next + 1) & mask();
        size = Math.min(size + 1, timeNanos.length);
    }

    /** Counts bytes whose rate nobody will ask for. */
    public void skip(long bytes) {
        totalBytes += bytes;
    }

    private int mask() {
        return timeNanos.length - 1;
    }

    private void resize(int capacity) {
        long[] newTime = new long[capacity];
        long[] newBytes = new long[capacity];
        for (int i = 0; i < size; i++) {
            int at = (next - size + i) & mask();
            newTime[i] = timeNanos[at];
            newBytes[i] = cumulativeBytes[at];
        }
        timeNanos = newTime;
        cumulativeBytes = newBytes;
        next = size & mask();
    }

    /** All bytes counted so far. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Bits per second between {@code now} and at least {@code windowNanos} before; 0 if that is not known. */
    public double bitsPerSecond(long now, long windowNanos) {
        int back = Math.min(lastBack, size); // the entry searched for is the back-th newest
        while (back > 1 && now - timeNanos[at(back - 1)] >= windowNanos) {
            back--;
        }
        while (back <= size && (back == 0 || now - timeNanos[at(back)] < windowNanos)) {
            back++;
        }
        lastBack = back;
        if (back > size) {
            return 0;
        }
        int at = at(back);
        return (totalBytes - cumulativeBytes[at]) * BITS_PER_BYTE_NANOS / (now - timeNanos[at]);
    }

    private int at(int back) {
        return (next - back) & mask();
    }

    /** Forgets the past, as after a hole. */
    public void restart() {
        size = 0;
        next = 0;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, totalBytes);
        Varint.write(out, size);
        long time = 0;
        long bytes = totalBytes;
        for (int i = 1; i <= size; i++) {
            int at = (next - i) & mask();
            Varint.write(out, timeNanos[at] - time);
            Varint.write(out, bytes - cumulativeBytes[at]);
            time = timeNanos[at];
            bytes = cumulativeBytes[at];
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        totalBytes = Varint.read(in);
        size = 0;
        int count = Varint.readInt(in);
        while (timeNanos.length < count) {
            resize(Math.max(SMALL, 2 * timeNanos.length));
        }
        size = count;
        next = size & mask();
        long time = 0;
        long bytes = totalBytes;
        for (int i = 1; i <= size; i++) {
            int at = (next - i) & mask();
            time += Varint.read(in);
            bytes -= Varint.read(in);
            timeNanos[at] = time;
            cumulativeBytes[at] = bytes;
        }
    }
}
