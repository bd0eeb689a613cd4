// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class SequenceSpaceProperties {
    @Property
    void whatLiesLessThanHalfATurnAheadComesAfter(@ForAll("numbers") int number, @ForAll("stepsAhead") int ahead) {
        assertThat(SequenceSpace.isBefore(number, number + ahead)).isTrue();
        assertThat(SequenceSpace.isBefore(number + ahead, number)).isFalse();
    }

    @Property
    void unwrappingUndoesTheCutTo32Bits(@ForAll("unwrapped") long reference, @ForAll("steps") int step) {
        long number = reference + step;

        assertThat(SequenceSpace.unwrap((int) number, reference)).isEqualTo(number);
    }

    @Provide
    Arbitrary<Integer> numbers() {
        return Biased.sequenceNumbers();
    }

    @Provide
    Arbitrary<Long> unwrapped() {
        return Biased.unwrappedNumbers();
    }

    @Provide
    Arbitrary<Integer> stepsAhead() {
        return Arbitraries.oneOf(
                Arbitraries.integers().between(1, 3_000),
                Arbitraries.integers().between(Integer.MAX_VALUE - 3_000, Integer.MAX_VALUE));
    }

    @Provide
    Arbitrary<Integer> steps() {
        return Arbitraries.oneOf(
                Arbitraries.integers(),
                Arbitraries.integers().between(-200_000, 200_000),
                Arbitraries.of(Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
}
