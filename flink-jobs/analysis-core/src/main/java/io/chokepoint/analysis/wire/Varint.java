// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Variable-length coding of the analysis state: zigzag LEB128, and sparse arrays of longs. */
public final class Varint {
    private static final int LONGEST = 10;

    private Varint() {}

    /** Writes a long in 1..10 bytes; numbers near zero are short. */
    public static void write(DataOutput out, long value) throws IOException {
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7fL) != 0) {
            out.writeByte((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }

    /** Reads what {@link #write} wrote. */
    public static long read(DataInput in) throws IOException {
        long value = 0;
        for (int i = 0; i < LONGEST; i++) {
            byte next = in.readByte();
            value |= (long) (next & 0x7f) << (7 * i);
            if (next >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new IOException("a state number of more than " + LONGEST + " bytes");
    }

    /** Reads what {@link #write} wrote of a number that fits into an int. */
    public static int readInt(DataInput in) throws IOException {
        return Math.toIntExact(read(in));
    }

    /** Writes an array as its non-zero elements. */
    public static void writeSparse(DataOutput out, long[] values) throws IOException {
        int gap = 0;
        for (long value : values) {
            if (value == 0) {
                gap++;
                continue;
            }
            write(out, gap);
            write(out, value);
            gap = 0;
        }
        write(out, -1);
    }

    /** Reads what {@link #writeSparse} wrote into an array of zeros. */
    public static void readSparse(DataInput in, long[] values) throws IOException {
        int at = 0;
        for (long gap = read(in); gap >= 0; gap = read(in)) {
            at += Math.toIntExact(gap);
            values[at++] = read(in);
        }
    }
}
