// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

class RoundMinimumProperties {
    private static final long ROUND_NANOS = 1_000;

    private enum Kind {
        SAMPLE,
        BOUND,
        RESTART
    }

    /** Something that happens {@code afterNanos} later than the event before. */
    private record Event(Kind kind, long afterNanos, long delayNanos) {}

    private static long play(RoundMinimum delays, long start, List<Event> events) {
        long now = start;
        for (Event event : events) {
            now += event.afterNanos();
            switch (event.kind()) {
                case SAMPLE -> delays.add(now, event.delayNanos(), ROUND_NANOS);
                case BOUND -> delays.bound(event.delayNanos());
                case RESTART -> delays.restart();
            }
        }
        return now;
    }

    private static List<Long> answers(RoundMinimum delays) {
        return List.of(
                delays.lifeMinimum(),
                delays.latest(),
                delays.recentMinimum(),
                delays.queueNanos(0),
                delays.queueNanos(10));
    }

    @Property
    void theLifeMinimumIsTheLowestDelayEver(@ForAll("events") List<Event> events) {
        RoundMinimum delays = new RoundMinimum();

        play(delays, 0, events);

        long lowest = events.stream()
                .filter(event -> event.kind() != Kind.RESTART)
                .mapToLong(Event::delayNanos)
                .min()
                .orElse(RoundMinimum.NONE);
        assertThat(delays.lifeMinimum()).isEqualTo(lowest);
    }

    @Property
    void theRecentMinimumLiesBetweenTheLowestAndTheLatestDelay(@ForAll("events") List<Event> events) {
        RoundMinimum delays = new RoundMinimum();

        play(delays, 0, events);

        if (delays.recentMinimum() != RoundMinimum.NONE) {
            assertThat(delays.recentMinimum()).isBetween(delays.lifeMinimum(), delays.latest());
        }
    }

    @Property
    void whenAFlowBeginsDoesNotMatter(@ForAll("events") List<Event> events, @ForAll("starts") long start) {
        RoundMinimum early = new RoundMinimum();
        RoundMinimum late = new RoundMinimum();

        play(early, 0, events);
        play(late, start, events);

        assertThat(answers(late)).isEqualTo(answers(early));
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("events") List<Event> before, @ForAll("events") List<Event> after, @ForAll("starts") long start) {
        RoundMinimum original = new RoundMinimum();
        long now = play(original, start, before);

        RoundMinimum copy = Restored.from(original::writeTo, new RoundMinimum(), RoundMinimum::readFrom);

        assertThat(answers(copy)).isEqualTo(answers(original));
        for (Event event : after) {
            play(copy, now, List.of(event));
            now = play(original, now, List.of(event));
            assertThat(answers(copy)).isEqualTo(answers(original));
        }
    }

    /** Gaps around a tenth of a round and around a whole one, delays around 0 and 100. */
    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Kind> kinds = Arbitraries.frequencyOf(
                Tuple.of(12, Arbitraries.just(Kind.SAMPLE)),
                Tuple.of(1, Arbitraries.just(Kind.BOUND)),
                Tuple.of(1, Arbitraries.just(Kind.RESTART)));
        Arbitrary<Long> gaps = Arbitraries.of(0L, 1L, 99L, 100L, 250L, ROUND_NANOS - 1, ROUND_NANOS, ROUND_NANOS + 1);
        Arbitrary<Long> delays = Arbitraries.oneOf(
                Arbitraries.longs().between(0, 3), Arbitraries.longs().between(90, 110));
        return Combinators.combine(kinds, gaps, delays)
                .as(Event::new)
                .list()
                .ofMaxSize(30)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Long> starts() {
        return Biased.instants();
    }
}
