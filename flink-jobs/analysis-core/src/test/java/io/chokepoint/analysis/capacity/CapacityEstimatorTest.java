// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.Restored;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CapacityEstimatorTest {
    private static final double BITS = 1514 * 8;
    private static final int FEW = 24;

    private final CapacityEstimator estimator = new CapacityEstimator();
    private long now;

    @Test
    void nothingIsKnownBeforeAQueueWasProven() {
        assertThat(estimator.isDue()).isFalse();
        assertThat(estimator.capacityBitsPerSecond()).isZero();
        assertThat(estimator.provenSamples()).isZero();
        estimator.estimate(1);
        assertThat(estimator.capacityBitsPerSecond()).isZero();
    }

    @Test
    void fewSamplesAreEnoughIfTheyAgree() {
        add(FEW - 1, 100e6);
        assertThat(estimator.isDue()).isFalse();

        add(1, 100e6);
        assertThat(estimator.isDue()).isTrue();
        estimator.estimate(1);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(100e6, withinPercentage(0.1));
        assertThat(estimator.isDue()).isFalse();
    }

    @Test
    void fewSamplesThatDisagreeAreNotEnough() {
        for (int i = 0; i < FEW; i++) {
            add(1, 100e6 * Math.pow(1.1, i));
        }
        estimator.estimate(1);

        assertThat(estimator.capacityBitsPerSecond()).isZero();
    }

    /** Clock steps: 1 ns of a network card, 1 µs of a kernel, 2 µs of a busy poll loop. */
    @ParameterizedTest(name = "{0} bit/s, {1} of the packets foreign, clock steps of {2} ns")
    @CsvSource({
        "5e6,   0,   1000", "5e6,   0.5,  1000", "5e6,   0.7,  1000",
        "10e6,  0,   1000", "10e6,  0.5,  2000", "10e6,  0.7,  2000",
        "100e6, 0,   1000", "100e6, 0.5,  1000", "100e6, 0.7,  2000",
        "1e9,   0,   1", "1e9,   0.5,  1", "1e9,   0.7,  1",
        "10e9,  0,   1", "10e9,  0.5,  1", "10e9,  0.7,  1",
        "40e9,  0,   1", "40e9,  0.5,  1", "40e9,  0.7,  1",
    })
    void findsTheCapacityWithinOnePercent(double bitsPerSecond, double foreignShare, double clockStepNanos) {
        new Bottleneck(bitsPerSecond, foreignShare, clockStepNanos, 0, 1).feed(estimator, 1_000);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(bitsPerSecond, withinPercentage(1));
    }

    /** Stamps up to 60 % of a packet time late make pairs useless; of 16 gaps that is 4 %, and its mean none. */
    @ParameterizedTest(name = "{0} bit/s")
    @CsvSource({"10e6", "100e6", "1e9", "10e9"})
    void trainsTakeThePlaceOfPairsThatJitterHasSpread(double bitsPerSecond) {
        double packetNanos = BITS * 1e9 / bitsPerSecond;
        new Bottleneck(bitsPerSecond, 0, 1, 0.6 * packetNanos, 1).feed(estimator, 3_000);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(bitsPerSecond, withinPercentage(2));
    }

    /** So slow that a full ring takes every sample. Checks come after 24 samples and every 50 from then on. */
    @Test
    void anotherModeReplacesTheCapacityOnlyAfterThreeChecks() {
        feed(200, 5e6);
        feed(200, 1.9e6);
        assertThat(estimator.capacityBitsPerSecond()).as("as many of both").isCloseTo(5e6, withinPercentage(0.1));

        feed(100, 1.9e6);
        assertThat(estimator.capacityBitsPerSecond()).as("twice the tallest").isCloseTo(5e6, withinPercentage(0.1));

        feed(50, 1.9e6);
        assertThat(estimator.capacityBitsPerSecond()).as("three times").isCloseTo(1.9e6, withinPercentage(0.1));
    }

    @Test
    void modesThatChangeFromCheckToCheckReplaceNothing() {
        check(5e6);
        for (int i = 0; i < 3; i++) {
            check(1.9e6);
            check(0.66e6);
        }
        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(5e6, withinPercentage(0.1));

        check(0.66e6);
        check(0.66e6);
        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(0.66e6, withinPercentage(0.1));
    }

    @Test
    void aModeThatComesAndGoesStartsAnew() {
        check(5e6);
        check(1.9e6);
        check(1.9e6);
        check(5e6);
        check(1.9e6);
        check(1.9e6);
        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(5e6, withinPercentage(0.1));

        check(1.9e6);
        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(1.9e6, withinPercentage(0.1));
    }

    /** Five per cent are a drift, of which a quarter is followed at each check. */
    @Test
    void aDriftIsFollowedByAQuarter() {
        check(100e6);
        for (int i = 0; i < 800; i++) {
            now += 2_000_000;
            estimator.add(now, 104e6 * 2e-3, 2_000_000);
        }
        estimator.estimate(1);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(100e6 * Math.pow(1.04, 0.25), withinPercentage(0.1));
    }

    /** As many as a ring holds of one rate, and a look at it. */
    private void check(double bitsPerSecond) {
        add(400, bitsPerSecond);
        estimator.estimate(1);
    }

    @Test
    void aSmallDriftIsFollowedAtOnce() {
        feed(100, 100e6);
        feed(400, 102e6);

        assertThat(estimator.capacityBitsPerSecond()).isBetween(100.5e6, 102e6);
    }

    /** At 40 Gbit/s 384 pairs are over in 0.1 ms: an estimate is not to hang on one burst. */
    @ParameterizedTest(name = "{0} bit/s, then {1} gaps at {2} bit/s: {3} bit/s")
    @CsvSource({
        "40e9, 1000, 28e9, 40e9", // one gap in eight is taken
        "40e9, 4000, 28e9, 28e9",
        "10e6,  300,  7e6, 10e6", // one in 2 ms, if that is more
        "10e6,  900,  7e6,  7e6",
    })
    void aFullRingTakesOneGapInEightOrIn2Milliseconds(
            double bitsPerSecond, int gaps, double laterBitsPerSecond, double expected) {
        feed(400, bitsPerSecond);
        feed(gaps, laterBitsPerSecond);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(expected, withinPercentage(0.5));
        assertThat(estimator.provenSamples()).isEqualTo(400 + gaps);
    }

    @Test
    void aTrainGoesOnAcrossARestart() {
        jittered(estimator, 11 * CapacityEstimator.TRAIN + 5, 100_000);

        CapacityEstimator copy =
                Restored.from(estimator::writeTo, new CapacityEstimator(), CapacityEstimator::readFrom);
        jittered(copy, CapacityEstimator.TRAIN - 5, 100_000);
        copy.estimate(1);

        assertThat(copy.bellShare()).as("equal trains").isEqualTo(1);
    }

    @Test
    void noTrainSpansABreak() {
        jittered(estimator, 5, 1_000_000);
        estimator.breakChain();
        now = 0;
        jittered(estimator, 12 * CapacityEstimator.TRAIN, 100_000);
        estimator.estimate(1);

        assertThat(estimator.bellShare()).as("equal trains").isEqualTo(1);
    }

    @Test
    void everyTrainStandsForItself() {
        jittered(estimator, 3 * CapacityEstimator.TRAIN, 100_000);
        jittered(estimator, 9 * CapacityEstimator.TRAIN, 130_000);
        estimator.estimate(1);

        assertThat(estimator.bellShare()).as("trains of the longer gaps").isEqualTo(0.75);
    }

    /** A clock that shows gaps of 1.2 ms in steps of 0.1 ms: half of them as 1.1 ms, half as 1.3 ms. */
    @Test
    void inCoarseStepsTrainsCount() {
        alternating(12 * CapacityEstimator.TRAIN, 1_100_000, 1_300_000);
        estimator.estimate(100_000);

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(BITS / 1.2e-3, withinPercentage(0.1));
        assertThat(estimator.bellShare()).isEqualTo(1);
    }

    @Test
    void inCoarseStepsPairsDoNotCount() {
        for (int i = 0; i < 100; i++) {
            add(1, 10e6);
            estimator.breakChain();
        }
        estimator.estimate(100_000);
        assertThat(estimator.capacityBitsPerSecond()).isZero();

        estimator.estimate(1);
        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(10e6, withinPercentage(0.1));
    }

    @ParameterizedTest(name = "gaps of 1.2 ms in steps of {0} ns: pairs count {1}")
    @CsvSource({"48000, true", "48001, false"})
    void stepsAreCoarseBelow25ToAGap(long stepNanos, boolean pairsCount) {
        for (int i = 0; i < 100; i++) {
            estimator.add(now += 1_200_000, BITS, 1_200_000);
            estimator.breakChain();
        }
        estimator.estimate(stepNanos);

        assertThat(estimator.capacityBitsPerSecond() > 0).isEqualTo(pairsCount);
    }

    /** Foreign packets in between make every train another. */
    @ParameterizedTest(name = "{0} of 16 trains differ: counts {1}")
    @CsvSource({"8, true", "9, false"})
    void trainsInCoarseStepsCountOnlyIfTheyAgree(int differing, boolean counts) {
        for (int i = 0; i < 16; i++) {
            add(CapacityEstimator.TRAIN, i < differing ? 10e6 / (2 + i) : 10e6);
        }
        estimator.estimate(200_000);

        assertThat(estimator.capacityBitsPerSecond() > 0).isEqualTo(counts);
    }

    /** By when they ended, as good as every longer gap would be taken, but only every other shorter one. */
    @Test
    void shortGapsAreTakenAsOftenAsLongOnes() {
        Random random = new Random(1);
        for (int i = 0; i < 5_000; i++) {
            long gap = random.nextDouble() < 0.7 ? 1_200_000 : 2_250_000;
            estimator.add(now += gap, BITS, gap);
            if (estimator.isDue()) {
                estimator.estimate(1);
            }
        }

        assertThat(estimator.capacityBitsPerSecond()).isCloseTo(BITS / 1.2e-3, withinPercentage(0.1));
        assertThat(estimator.bellShare()).isBetween(0.6, 0.8);
    }

    private void alternating(int samples, long firstNanos, long secondNanos) {
        for (int i = 0; i < samples; i++) {
            long gap = i % 2 == 0 ? firstNanos : secondNanos;
            estimator.add(now += gap, BITS, gap);
        }
    }

    /** Gaps of 1, 2 … 16 times so many ns in turn: pairs are spread, every train of 16 has the same rate. */
    private void jittered(CapacityEstimator into, int samples, long stepNanos) {
        for (int i = 0; i < samples; i++) {
            long gap = (now++ % CapacityEstimator.TRAIN + 1) * stepNanos;
            into.add(now, BITS, gap);
        }
    }

    private void feed(int samples, double bitsPerSecond) {
        for (int i = 0; i < samples; i++) {
            add(1, bitsPerSecond);
            if (estimator.isDue()) {
                estimator.estimate(1);
            }
        }
    }

    private void add(int samples, double bitsPerSecond) {
        for (int i = 0; i < samples; i++) {
            long gap = Math.round(BITS * 1e9 / bitsPerSecond);
            now += gap;
            estimator.add(now, gap * bitsPerSecond / 1e9, gap);
        }
    }
}
