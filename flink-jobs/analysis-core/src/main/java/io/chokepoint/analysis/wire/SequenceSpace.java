// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

/** Arithmetic on 32-bit numbers that wrap (RFC 9293 §3.4, RFC 7323 §5.2). */
public final class SequenceSpace {
    private SequenceSpace() {}

    /** The 64-bit number nearest to {@code reference} whose low 32 bits are {@code number}. */
    public static long unwrap(int number, long reference) {
        return reference + (number - (int) reference);
    }

    /** Whether {@code a} precedes {@code b} modulo 2^32. */
    public static boolean isBefore(int a, int b) {
        return a - b < 0;
    }
}
