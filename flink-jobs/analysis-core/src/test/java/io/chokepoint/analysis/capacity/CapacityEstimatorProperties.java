// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.arbitraries.ListArbitrary;

class CapacityEstimatorProperties {
    /** Some proven gaps of {@code bits}, up to 96 steps apart, or, if there are none, a break of the chain. */
    private record Event(int samples, double bits, long gapNanos, long stepNanos, long resolutionNanos) {
        private long playOn(CapacityEstimator estimator, long start, long scale) {
            long now = start;
            if (samples == 0) {
                estimator.breakChain();
            }
            for (int i = 0; i < samples; i++) {
                long gap = (gapNanos + i * 61L % 97 * stepNanos) * scale;
                now += gap;
                estimator.add(now, bits, gap);
                if (estimator.isDue()) {
                    estimator.estimate(resolutionNanos * scale);
                }
            }
            return now;
        }
    }

    private static List<Object> answers(CapacityEstimator estimator) {
        return List.of(
                estimator.capacityBitsPerSecond(), estimator.bellShare(), estimator.provenSamples(), estimator.isDue());
    }

    /** From 5 Mbit/s to 40 Gbit/s, alone or with up to two thirds of the packets foreign. */
    @Property(tries = 100)
    void findsTheCapacityWithinOnePercent(
            @ForAll("exponents") double exponent, @ForAll("foreignShares") double foreignShare, @ForAll long seed) {
        double bitsPerSecond = Math.pow(10, exponent);
        CapacityEstimator estimator = new CapacityEstimator();

        new Bottleneck(bitsPerSecond, foreignShare, 1, 0, seed).feed(estimator, 1_000);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(bitsPerSecond, withinPercentage(1));
    }

    /** Powers of two, since rates are kept in steps of 1/1600 octave; few enough samples not to fill the ring. */
    @Property(tries = 300)
    void scalingAllTimesScalesTheRate(@ForAll("fewEvents") List<Event> events, @ForAll("scales") long scale) {
        CapacityEstimator estimator = new CapacityEstimator();
        CapacityEstimator slow = new CapacityEstimator();
        long now = 0;
        long slowNow = 0;

        for (Event event : events) {
            now = event.playOn(estimator, now, 1);
            slowNow = event.playOn(slow, slowNow, scale);
        }

        assertThat(slow.capacityBitsPerSecond() * scale)
                .isCloseTo(estimator.capacityBitsPerSecond(), withinPercentage(1e-6));
        assertThat(slow.bellShare()).isEqualTo(estimator.bellShare());
    }

    @Property(tries = 200)
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("manyEvents") List<Event> before,
            @ForAll("manyEvents") List<Event> after,
            @ForAll("starts") long start) {
        CapacityEstimator original = new CapacityEstimator();
        long now = start;
        for (Event event : before) {
            now = event.playOn(original, now, 1);
        }

        CapacityEstimator copy = Restored.from(original::writeTo, new CapacityEstimator(), CapacityEstimator::readFrom);

        assertThat(answers(copy)).isEqualTo(answers(original));
        for (Event event : after) {
            event.playOn(copy, now, 1);
            now = event.playOn(original, now, 1);
            assertThat(answers(copy)).isEqualTo(answers(original));
        }
    }

    @Provide
    Arbitrary<Double> exponents() {
        return Arbitraries.oneOf(
                        Arbitraries.doubles().between(6.7, 10.6).ofScale(6),
                        Arbitraries.of(6.7, 7.0, 8.0, 9.0, 10.0, 10.6))
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Double> foreignShares() {
        return Arbitraries.oneOf(Arbitraries.just(0.0), Arbitraries.doubles().between(0, 0.67))
                .withoutEdgeCases();
    }

    /** At most 380 samples. */
    @Provide
    Arbitrary<List<Event>> fewEvents() {
        return events(38).ofMaxSize(10).withoutEdgeCases();
    }

    /** Full rings too. */
    @Provide
    Arbitrary<List<Event>> manyEvents() {
        return events(200).ofMaxSize(10).withoutEdgeCases();
    }

    private static ListArbitrary<Event> events(int mostSamples) {
        return Combinators.combine(
                        Arbitraries.oneOf(
                                Arbitraries.integers().between(0, mostSamples),
                                Arbitraries.of(0, 1, 15, 16, 17, 23, 24, 25, mostSamples)),
                        Arbitraries.of(12_112.0, 12_304.0, 24_224.0, 512.0),
                        Arbitraries.of(300L, 12_112L, 121_120L, 1_211_200L, 5_000_000L),
                        Arbitraries.of(0L, 0L, 1L, 100L, 1_211L, 12_112L),
                        Arbitraries.of(1L, 1L, 10_000L, 100_000L))
                .as(Event::new)
                .list();
    }

    @Provide
    Arbitrary<Long> scales() {
        return Arbitraries.integers().between(0, 12).map(bits -> 1L << bits);
    }

    @Provide
    Arbitrary<Long> starts() {
        return Biased.instants();
    }
}
