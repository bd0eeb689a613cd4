// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** The newest rates, each as the logarithm in steps of 1/1600 octave (0.04 %): two bytes up to 2^40 bit/s. */
final class RateRing {
    /** Steps per octave of {@link #code}. */
    static final int STEPS_PER_OCTAVE = 1600;

    private static final double STEPS_PER_NEPER = STEPS_PER_OCTAVE / Math.log(2);

    private static final int SMALL = 16;

    private final int capacity;
    private char[] codes = {}; // grown up to the capacity
    private int next;
    private int size;

    RateRing(int capacity) {
        this.capacity = capacity;
    }

    /** Adds a rate in bit/s; one out of range is clamped. */
    void add(double bitsPerSecond) {
        if (size == codes.length && size < capacity) {
            codes = Arrays.copyOf(codes, Math.min(capacity, Math.max(SMALL, 2 * size)));
            next = size;
        }
        codes[next] = (char)
                Math.min(Character.MAX_VALUE, Math.max(0, Math.round(STEPS_PER_NEPER * Math.log(bitsPerSecond))));
        next = next + 1 == codes.length ? 0 : next + 1;
        size = Math.min(size + 1, codes.length);
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == capacity;
    }

    /** The i-th rate, in no particular order, as its code. */
    int code(int i) {
        return codes[i];
    }

    /** The rate of a code, in bit/s. */
    static double rate(double code) {
        return Math.exp(code / STEPS_PER_NEPER);
    }

    private int lengthFor(int elements) {
        int length = elements == 0 ? 0 : SMALL;
        while (length < elements) {
            length = Math.min(capacity, 2 * length);
        }
        return length;
    }

    void writeTo(DataOutput out) throws IOException {
        Varint.write(out, size);
        Varint.write(out, next);
        for (int i = 0; i < size; i++) {
            out.writeChar(codes[i]);
        }
    }

    void readFrom(DataInput in) throws IOException {
        size = Varint.readInt(in);
        next = Varint.readInt(in);
        codes = new char[lengthFor(size)];
        for (int i = 0; i < size; i++) {
            codes[i] = in.readChar();
        }
    }
}
