// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class DeliveryRateProperties {
    private static final long WINDOW = 24_000;
    private static final long POINT = WINDOW / 24;

    /** Some arrivals at equal gaps, or, if there are none, a hole. */
    private record Event(int arrivals, long gapNanos, long bytes) {
        private long playOn(DeliveryRate rate, long start, long scale) {
            if (arrivals == 0) {
                rate.restart();
            }
            long now = start;
            for (int i = 0; i < arrivals; i++) {
                now += gapNanos * scale;
                rate.add(now, bytes, WINDOW * scale);
            }
            return now;
        }
    }

    private static List<Double> answers(DeliveryRate rate, long now, long scale) {
        List<Double> answers = new ArrayList<>();
        for (long after : new long[] {0, 1, POINT, WINDOW}) {
            for (long window : new long[] {1, POINT, WINDOW / 2, WINDOW}) {
                answers.add(rate.bitsPerSecond(now + after * scale, window * scale));
            }
        }
        return answers;
    }

    /** The rate is that between now and some arrival at least a window and not much more ago. */
    @Property(tries = 500)
    void theRateIsThatOfAboutOneWindow(@ForAll("arrivals") List<Event> events) {
        DeliveryRate rate = new DeliveryRate();
        List<Long> times = new ArrayList<>();
        List<Long> totals = new ArrayList<>();
        long now = 0;
        long longestGap = 0;
        for (Event event : events) {
            longestGap = Math.max(longestGap, event.gapNanos());
            for (int i = 0; i < event.arrivals(); i++) {
                now = new Event(1, event.gapNanos(), event.bytes()).playOn(rate, now, 1);
                times.add(now);
                totals.add(rate.totalBytes());
            }
        }

        double measured = rate.bitsPerSecond(now, WINDOW);

        boolean known = !times.isEmpty() && now - times.get(0) >= WINDOW;
        assertThat(measured > 0).isEqualTo(known);
        boolean explained = !known;
        for (int i = 0; i < times.size(); i++) {
            long span = now - times.get(i);
            boolean isAboutOneWindow = span >= WINDOW && span <= WINDOW + 2 * POINT + 2 * longestGap;
            double expected = (rate.totalBytes() - totals.get(i)) * 8e9 / span;
            explained |= isAboutOneWindow && Math.abs(measured / expected - 1) < 1e-9;
        }
        assertThat(explained).as("%s bit/s", measured).isTrue();
    }

    @Property(tries = 300)
    void scalingAllTimesScalesTheRate(@ForAll("events") List<Event> events, @ForAll("scales") long scale) {
        DeliveryRate rate = new DeliveryRate();
        DeliveryRate slow = new DeliveryRate();
        long now = 0;
        long slowNow = 0;

        for (Event event : events) {
            now = event.playOn(rate, now, 1);
            slowNow = event.playOn(slow, slowNow, scale);
        }

        List<Double> expected = answers(rate, now, 1);
        List<Double> measured = answers(slow, slowNow, scale);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(measured.get(i) * scale).isCloseTo(expected.get(i), withinPercentage(1e-9));
        }
    }

    @Property(tries = 300)
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("events") List<Event> before, @ForAll("events") List<Event> after, @ForAll("starts") long start) {
        DeliveryRate original = new DeliveryRate();
        long now = start;
        for (Event event : before) {
            now = event.playOn(original, now, 1);
        }

        DeliveryRate copy = Restored.from(original::writeTo, new DeliveryRate(), DeliveryRate::readFrom);

        assertThat(answers(copy, now, 1)).isEqualTo(answers(original, now, 1));
        for (Event event : after) {
            event.playOn(copy, now, 1);
            now = event.playOn(original, now, 1);
            assertThat(answers(copy, now, 1)).isEqualTo(answers(original, now, 1));
            assertThat(copy.totalBytes()).isEqualTo(original.totalBytes());
        }
    }

    /** Counts around the sizes at which the ring grows (8, 16, 32, 64) and turns; gaps around a point and a window. */
    @Provide
    Arbitrary<List<Event>> events() {
        return event().list().ofMaxSize(8).withoutEdgeCases();
    }

    @Provide
    Arbitrary<List<Event>> arrivals() {
        return event().filter(event -> event.arrivals() > 0 && event.bytes() > 0)
                .list()
                .ofMaxSize(8)
                .withoutEdgeCases();
    }

    private static Arbitrary<Event> event() {
        return Combinators.combine(
                        Arbitraries.of(0, 1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 200),
                        Arbitraries.of(0L, 1L, 100L, POINT - 1, POINT, POINT + 1, WINDOW, 3 * WINDOW),
                        Arbitraries.of(0L, 1L, 1_500L, 65_160L))
                .as(Event::new);
    }

    @Provide
    Arbitrary<Long> scales() {
        return Arbitraries.longs().between(1, 100_000);
    }

    @Provide
    Arbitrary<Long> starts() {
        return Biased.instants();
    }
}
