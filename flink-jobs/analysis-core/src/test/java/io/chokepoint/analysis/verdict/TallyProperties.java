// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class TallyProperties {
    private record Entry(Sum sum, long amount) {
        private void playOn(Tally tally) {
            if (sum.isMaximum()) {
                tally.raise(sum, amount);
            } else {
                tally.add(sum, amount);
            }
        }
    }

    private static Tally of(List<Entry> entries) {
        Tally tally = new Tally();
        entries.forEach(entry -> entry.playOn(tally));
        return tally;
    }

    private static List<Long> values(Tally tally) {
        return Arrays.stream(Sum.values()).map(tally::get).toList();
    }

    /** The life of a flow is the sum of its intervals, wherever they are cut. */
    @Property
    void addingTalliesIsCountingInOne(@ForAll("entries") List<Entry> some, @ForAll("entries") List<Entry> others) {
        Tally sum = of(some);
        sum.addAll(of(others));

        Tally one = of(some);
        others.forEach(entry -> entry.playOn(one));
        assertThat(values(sum)).isEqualTo(values(one));
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(@ForAll("entries") List<Entry> before, @ForAll("entries") List<Entry> after) {
        Tally original = of(before);

        Tally copy = Restored.from(original::writeTo, new Tally(), Tally::readFrom);

        assertThat(values(copy)).isEqualTo(values(original));
        after.forEach(entry -> entry.playOn(original));
        after.forEach(entry -> entry.playOn(copy));
        assertThat(values(copy)).isEqualTo(values(original));
    }

    @Property
    void clearingForgetsAll(@ForAll("entries") List<Entry> entries) {
        Tally tally = of(entries);

        tally.clear();

        assertThat(values(tally)).containsOnly(0L);
    }

    @Property
    void aWaitIsBookedWholeAndOnOneCause(@ForAll("waits") List<Long> waits, @ForAll("causes") List<Cause> causes) {
        Tally tally = new Tally();
        long total = 0;
        for (int i = 0; i < Math.min(waits.size(), causes.size()); i++) {
            tally.book(causes.get(i), waits.get(i));
            total += waits.get(i);
        }

        assertThat(TallyTest.bookedTime(tally)).isEqualTo(total);
    }

    /** First and last sums more often than others; amounts of both signs. */
    @Provide
    Arbitrary<List<Entry>> entries() {
        Sum[] sums = Sum.values();
        return Combinators.combine(
                        Arbitraries.oneOf(Arbitraries.of(Sum.class), Arbitraries.of(sums[0], sums[sums.length - 1])),
                        Arbitraries.oneOf(
                                Biased.longs().map(amount -> amount >> 8),
                                Arbitraries.longs().between(0, 10)))
                .as((sum, amount) -> new Entry(sum, sum.isMaximum() ? Math.abs(amount) : amount))
                .list()
                .ofMaxSize(30)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<List<Long>> waits() {
        return Arbitraries.longs().between(0, 1L << 40).list().ofMaxSize(20);
    }

    @Provide
    Arbitrary<List<Cause>> causes() {
        return Arbitraries.of(Cause.class).list().ofMaxSize(20);
    }
}
