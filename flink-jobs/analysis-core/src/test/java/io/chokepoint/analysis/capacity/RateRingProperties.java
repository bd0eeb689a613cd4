// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Restored;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class RateRingProperties {
    @Property(tries = 300)
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("counts") int before, @ForAll("counts") int after, @ForAll("capacities") int capacity) {
        RateRing original = new RateRing(capacity);
        add(original, 0, before);

        RateRing copy = Restored.from(original::writeTo, new RateRing(capacity), RateRing::readFrom);

        assertThat(codes(copy)).isEqualTo(codes(original));
        add(original, before, after);
        add(copy, before, after);
        assertThat(codes(copy)).isEqualTo(codes(original));
        assertThat(copy.isFull()).isEqualTo(original.isFull());
    }

    private static void add(RateRing ring, int first, int count) {
        for (int i = 0; i < count; i++) {
            ring.add(Math.pow(1.001, first + i) * 1e6);
        }
    }

    private static List<Integer> codes(RateRing ring) {
        return IntStream.range(0, ring.size()).map(ring::code).boxed().toList();
    }

    /** Around the sizes at which the ring grows (16, 32 … 384) and turns. */
    @Provide
    Arbitrary<Integer> counts() {
        return Arbitraries.of(0, 1, 15, 16, 17, 31, 32, 33, 64, 96, 97, 256, 383, 384, 385, 768, 800);
    }

    @Provide
    Arbitrary<Integer> capacities() {
        return Arbitraries.of(16, 96, 384);
    }
}
