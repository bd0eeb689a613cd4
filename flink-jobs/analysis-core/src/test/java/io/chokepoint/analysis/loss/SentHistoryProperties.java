// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

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

class SentHistoryProperties {
    /**
     * A burst of equal segments with so many in flight, or, if {@code resent} is positive, the last so many bytes sent again.
     */
    private record Event(int segments, int payloadBytes, long gapNanos, boolean clean, long flight, int resent) {}

    /** A history, and what went into it. */
    private static final class Sender {
        private final SentHistory sent;
        private final List<Long> ends = new ArrayList<>();
        private long now;
        private long end;

        private Sender(SentHistory sent, long now, long end) {
            this.sent = sent;
            this.now = now;
            this.end = end;
        }

        private Sender with(SentHistory other) {
            Sender copy = new Sender(other, now, end);
            copy.ends.addAll(ends);
            return copy;
        }

        private void play(Event event) {
            if (event.resent() > 0) {
                sent.markResent(end - event.resent(), end - event.resent() / 2);
                return;
            }
            for (int i = 0; i < event.segments(); i++) {
                now += event.gapNanos();
                end += event.payloadBytes();
                ends.add(end);
                sent.add(now, end, event.clean(), event.flight());
            }
        }

        private List<Object> answers() {
            List<Object> answers = new ArrayList<>();
            for (long known : ends) {
                answers.add(sent.timeOf(known));
                answers.add(sent.isClean(known));
                answers.add(sent.isSentOnce(known));
                answers.add(sent.timeAtOrAfter(known - 1));
            }
            return answers;
        }
    }

    @Property(tries = 300)
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("events") List<Event> before,
            @ForAll("events") List<Event> after,
            @ForAll("starts") long start,
            @ForAll("numbers") long initial) {
        Sender original = new Sender(new SentHistory(), start, initial);
        before.forEach(original::play);

        Sender copy = original.with(Restored.from(original.sent::writeTo, new SentHistory(), SentHistory::readFrom));

        assertThat(copy.answers()).isEqualTo(original.answers());
        for (Event event : after) {
            original.play(event);
            copy.play(event);
            assertThat(copy.answers()).isEqualTo(original.answers());
        }
    }

    @Property(tries = 300)
    void theInitialSequenceNumberDoesNotMatter(@ForAll("events") List<Event> events, @ForAll("numbers") long initial) {
        Sender one = new Sender(new SentHistory(), 0, 0);
        Sender other = new Sender(new SentHistory(), 0, initial);

        events.forEach(one::play);
        events.forEach(other::play);

        assertThat(other.answers()).isEqualTo(one.answers());
    }

    /** Bursts around the sizes at which the history grows (8, 16 … 256) and wraps, flights around where it thins out. */
    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Integer> segments = Arbitraries.of(1, 2, 7, 8, 9, 31, 33, 130);
        Arbitrary<Integer> payload = Arbitraries.of(1, 536, 1448, 65_160);
        Arbitrary<Long> gaps = Arbitraries.of(0L, 1L, 12_112L, 3_000_000_000L);
        Arbitrary<Long> flights = Arbitraries.of(1L, 8L, 20L, 127L, 128L, 300L, 10_000L);
        Arbitrary<Integer> resent = Arbitraries.of(0, 0, 0, 1, 1448, 100_000);
        return Combinators.combine(segments, payload, gaps, Arbitraries.of(true, false), flights, resent)
                .as(Event::new)
                .list()
                .ofMaxSize(8)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Long> starts() {
        return Biased.instants();
    }

    @Provide
    Arbitrary<Long> numbers() {
        return Biased.unwrappedNumbers();
    }
}
