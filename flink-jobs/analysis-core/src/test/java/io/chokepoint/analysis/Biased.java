// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/** Numbers near the edges where code breaks: uniform draws would meet a wrap once in thousands of tries. */
public final class Biased {
    private static final int NEAR = 100_000;

    private Biased() {}

    /** Sequence numbers and TSvals: three draws in four within {@value #NEAR} of a wrap, signed or unsigned. */
    public static Arbitrary<Integer> sequenceNumbers() {
        return Arbitraries.oneOf(
                        Arbitraries.integers(),
                        Arbitraries.integers().between(-NEAR, NEAR),
                        Arbitraries.integers().between(Integer.MAX_VALUE - NEAR, Integer.MAX_VALUE),
                        Arbitraries.integers().between(Integer.MIN_VALUE, Integer.MIN_VALUE + NEAR))
                .withoutEdgeCases();
    }

    /** Unwrapped sequence numbers, 2^33 and up, half of them just below a multiple of 2^32. */
    public static Arbitrary<Long> unwrappedNumbers() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(1L << 33, 1L << 40),
                        Arbitraries.longs().between((1L << 34) - NEAR, 1L << 34))
                .withoutEdgeCases();
    }

    /** Any long, most of them near 0, a power of two or an end of the range. */
    public static Arbitrary<Long> longs() {
        Arbitrary<Long> powers = Arbitraries.integers().between(0, 63).map(bit -> 1L << bit);
        Arbitrary<Long> offsets = Arbitraries.longs().between(-2, 2);
        return Arbitraries.oneOf(
                        Arbitraries.longs(),
                        offsets,
                        powers.flatMap(power -> offsets.map(offset -> power + offset)),
                        powers.flatMap(power -> offsets.map(offset -> offset - power)))
                .withoutEdgeCases();
    }

    /** Instants of a flow: today, or around the epoch; in ns. */
    public static Arbitrary<Long> instants() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(1_700_000_000_000_000_000L, 1_800_000_000_000_000_000L),
                        Arbitraries.longs().between(0, 1_000_000))
                .withoutEdgeCases();
    }
}
