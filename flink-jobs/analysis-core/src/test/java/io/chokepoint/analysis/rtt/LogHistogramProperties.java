// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.Restored;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class LogHistogramProperties {
    private static final double HALF_A_BIN_PERCENT = 4.5;
    private static final double[] QUANTILES = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 1};

    @Property
    void aQuantileIsRightToHalfABin(@ForAll("durations") List<Long> durations) {
        long[] sorted = durations.stream().mapToLong(Long::longValue).sorted().toArray();
        LogHistogram histogram = of(durations);

        for (double quantile : QUANTILES) {
            int rank = (int) Math.max(1, Math.ceil(quantile * sorted.length));
            assertThat(histogram.quantile(quantile)).isCloseTo(sorted[rank - 1], withinPercentage(HALF_A_BIN_PERCENT));
        }
    }

    @Property
    void theUpperMeanOfAllIsTheMean(@ForAll("durations") List<Long> durations) {
        double mean = durations.stream().mapToLong(Long::longValue).average().orElseThrow();

        assertThat(of(durations).upperMean(1)).isCloseTo(mean, withinPercentage(HALF_A_BIN_PERCENT));
    }

    @Property
    void addingHistogramsIsCountingInOne(@ForAll("durations") List<Long> some, @ForAll("durations") List<Long> others) {
        LogHistogram sum = of(some);
        sum.addAll(of(others));

        LogHistogram one = of(some);
        others.forEach(one::add);
        assertThat(answers(sum)).isEqualTo(answers(one));
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("manyOrNone") List<Long> before, @ForAll("manyOrNone") List<Long> after) {
        LogHistogram original = of(before);

        LogHistogram copy = Restored.from(original::writeTo, new LogHistogram(), LogHistogram::readFrom);

        assertThat(answers(copy)).isEqualTo(answers(original));
        after.forEach(original::add);
        after.forEach(copy::add);
        assertThat(answers(copy)).isEqualTo(answers(original));
    }

    private static LogHistogram of(List<Long> durations) {
        LogHistogram histogram = new LogHistogram();
        durations.forEach(histogram::add);
        return histogram;
    }

    private static List<Double> answers(LogHistogram histogram) {
        return List.of(
                (double) histogram.total(),
                (double) histogram.quantile(0.1),
                (double) histogram.quantile(0.5),
                (double) histogram.quantile(1),
                histogram.upperMean(0.3),
                histogram.upperMean(1));
    }

    @Provide
    Arbitrary<List<Long>> durations() {
        return inRange().list().ofMinSize(1).ofMaxSize(20);
    }

    @Provide
    Arbitrary<List<Long>> manyOrNone() {
        return Arbitraries.oneOf(inRange(), Arbitraries.of(Long.MIN_VALUE, 0L, Long.MAX_VALUE))
                .list()
                .ofMaxSize(20);
    }

    /** Within the range of the histogram, as many draws in the first octaves as in the last. */
    private static Arbitrary<Long> inRange() {
        return Arbitraries.integers()
                .between(0, 26)
                .flatMap(octave -> Arbitraries.longs().between(1_000L << octave, (2_000L << octave) - 1))
                .withoutEdgeCases();
    }
}
