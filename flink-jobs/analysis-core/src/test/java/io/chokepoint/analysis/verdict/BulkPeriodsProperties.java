// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.Restored;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class BulkPeriodsProperties {
    /** Data packets at equal gaps, and a pause of the application before them. */
    private record Burst(long pauseNanos, int packets, long gapNanos) {
        private static final long BYTES = 1_500;

        private void playOn(BulkPeriods periods, long scale) {
            periods.onPause(pauseNanos * scale, BYTES);
            for (int i = 1; i < packets; i++) {
                periods.onBusy(gapNanos * scale, BYTES);
            }
        }
    }

    private static List<Long> answers(Tally tally) {
        return List.of(
                tally.get(Sum.BULK_PACKETS),
                tally.get(Sum.BULK_BYTES),
                tally.get(Sum.BULK_NS),
                tally.get(Sum.SHORT_PERIOD_PACKETS));
    }

    @Property
    void everyPacketIsInOnePeriod(@ForAll("bursts") List<Burst> bursts) {
        Tally tally = new Tally();
        BulkPeriods periods = new BulkPeriods(tally);

        bursts.forEach(burst -> burst.playOn(periods, 1));
        periods.finish();

        long packets = bursts.stream().mapToLong(Burst::packets).sum();
        long nanos = bursts.stream()
                .mapToLong(burst -> burst.pauseNanos() + (burst.packets() - 1) * burst.gapNanos())
                .sum();
        assertThat(tally.get(Sum.BULK_PACKETS) + tally.get(Sum.SHORT_PERIOD_PACKETS))
                .isEqualTo(packets);
        assertThat(tally.get(Sum.BULK_BYTES)).isEqualTo(tally.get(Sum.BULK_PACKETS) * Burst.BYTES);
        assertThat(tally.get(Sum.BULK_NS)).isLessThanOrEqualTo(nanos);
    }

    @Property
    void scalingAllTimesLeavesThePeriodsAsTheyAre(@ForAll("bursts") List<Burst> bursts, @ForAll("scales") long scale) {
        Tally tally = new Tally();
        Tally slow = new Tally();
        BulkPeriods periods = new BulkPeriods(tally);
        BulkPeriods slowPeriods = new BulkPeriods(slow);

        bursts.forEach(burst -> burst.playOn(periods, 1));
        bursts.forEach(burst -> burst.playOn(slowPeriods, scale));
        periods.finish();
        slowPeriods.finish();

        assertThat(slow.get(Sum.BULK_PACKETS)).isEqualTo(tally.get(Sum.BULK_PACKETS));
        assertThat((double) slow.get(Sum.BULK_NS))
                .isCloseTo((double) tally.get(Sum.BULK_NS) * scale, withinPercentage(1e-9));
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(@ForAll("bursts") List<Burst> before, @ForAll("bursts") List<Burst> after) {
        Tally tally = new Tally();
        BulkPeriods original = new BulkPeriods(tally);
        before.forEach(burst -> burst.playOn(original, 1));
        Tally other = new Tally();
        other.addAll(tally);

        BulkPeriods copy = Restored.from(original::writeTo, new BulkPeriods(other), BulkPeriods::readFrom);

        for (Burst burst : after) {
            burst.playOn(original, 1);
            burst.playOn(copy, 1);
            assertThat(answers(other)).isEqualTo(answers(tally));
        }
        original.finish();
        copy.finish();
        assertThat(answers(other)).isEqualTo(answers(tally));
    }

    /** Around 130 packets, pauses around a tenth of the bursts, some of no length. */
    @Provide
    Arbitrary<List<Burst>> bursts() {
        return Combinators.combine(
                        Arbitraries.of(0L, 1L, 13_000L, 15_000L, 30_000L, 1_000_000_000L),
                        Arbitraries.of(1, 2, 10, 129, 130, 131, 300),
                        Arbitraries.of(0L, 1_000L, 1_100L, 1_120L, 100_000L))
                .as(Burst::new)
                .list()
                .ofMaxSize(8)
                .withoutEdgeCases();
    }

    /** Powers of two: others round a rate just at the limit to its other side. */
    @Provide
    Arbitrary<Long> scales() {
        return Arbitraries.of(1L, 2L, 4L, 1_024L);
    }
}
