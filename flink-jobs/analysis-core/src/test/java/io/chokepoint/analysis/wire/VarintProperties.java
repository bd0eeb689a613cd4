// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class VarintProperties {
    @Property
    void numbersComeBackInOrder(@ForAll("numbers") List<Long> numbers) {
        long[] read = new long[numbers.size()];

        Restored.from(
                out -> {
                    for (long number : numbers) {
                        Varint.write(out, number);
                    }
                },
                read,
                (into, in) -> {
                    for (int i = 0; i < into.length; i++) {
                        into[i] = Varint.read(in);
                    }
                });

        assertThat(read).containsExactly(numbers.toArray(Long[]::new));
    }

    @Property
    void sparseArraysComeBack(@ForAll("sparse") List<Long> elements) {
        long[] values = elements.stream().mapToLong(Long::longValue).toArray();

        long[] read = Restored.from(
                out -> Varint.writeSparse(out, values),
                new long[values.length],
                (into, in) -> Varint.readSparse(in, into));

        assertThat(read).containsExactly(values);
    }

    @Provide
    Arbitrary<List<Long>> numbers() {
        return Biased.longs().list().ofMaxSize(20);
    }

    /** Long gaps, neighbours, the first and the last element: all or none of them zero. */
    @Provide
    Arbitrary<List<Long>> sparse() {
        Arbitrary<Long> mostlyZero = Arbitraries.oneOf(Arbitraries.just(0L), Arbitraries.just(0L), Biased.longs());
        return Arbitraries.oneOf(
                mostlyZero.list().ofMaxSize(200),
                Biased.longs().list().ofMaxSize(5),
                Arbitraries.just(0L).list().ofMaxSize(5));
    }
}
