// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

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

class AckHistoryProperties {
    private static final long DELAY_NANOS = 500;

    private enum Kind {
        PUSH,
        ECHO,
        TIME,
        FORGET
    }

    /**
     * What passes the tap {@code afterNanos} after the event before: some acknowledgments, or data sent {@code back} ticks or ns
     * ago.
     */
    private record Event(Kind kind, long afterNanos, int count, long bytes, int ticks, int back) {}

    /** A history and the clock and numbers of its flow. */
    private static final class Tap {
        private final AckHistory acks;
        private long now;
        private int timestamp;
        private long acknowledged;
        private long echoed;

        private Tap(AckHistory acks, long now, int timestamp, long acknowledged) {
            this.acks = acks;
            this.now = now;
            this.timestamp = timestamp;
            this.acknowledged = acknowledged;
        }

        private Tap with(AckHistory other) {
            return new Tap(other, now, timestamp, acknowledged);
        }

        private void play(Event event) {
            now += event.afterNanos();
            switch (event.kind()) {
                case PUSH -> {
                    for (int i = 0; i < event.count(); i++) {
                        now += 7;
                        timestamp += event.ticks();
                        acknowledged += event.bytes();
                        acks.push(now, timestamp, acknowledged, acknowledged + 65_535);
                    }
                }
                case ECHO -> echoed = acks.advanceByEcho(now, timestamp - event.back(), DELAY_NANOS);
                case TIME -> acks.advanceByTime(now - event.back());
                case FORGET -> acks.forgetPending();
            }
        }

        private List<Object> answers() {
            return List.of(
                    acks.hasView(), acks.viewAck(), acks.earlierAck(), acks.viewEdge(), acks.viewTimeNanos(), echoed);
        }
    }

    @Property
    void theViewOnlyMovesForwardAndNeverBeyondTheTap(
            @ForAll("events") List<Event> events,
            @ForAll("timestamps") int timestamp,
            @ForAll("numbers") long initial) {
        Tap tap = new Tap(new AckHistory(), 0, timestamp, initial);
        long seen = 0;

        for (Event event : events) {
            tap.play(event);

            assertThat(tap.acks.viewAck()).isBetween(seen, tap.acknowledged);
            assertThat(tap.acks.viewEdge() - tap.acks.viewAck()).isBetween(0L, 65_535L);
            seen = tap.acks.viewAck();
        }
    }

    @Property
    void inTheEndTheSenderHasSeenTheNewestHoweverManyWerePending(
            @ForAll("events") List<Event> events,
            @ForAll("timestamps") int timestamp,
            @ForAll("numbers") long initial) {
        Tap tap = new Tap(new AckHistory(), 0, timestamp, initial);
        events.forEach(tap::play);
        boolean anyPushed = events.stream().anyMatch(event -> event.kind() == Kind.PUSH);

        tap.acks.advanceByTime(tap.now);

        assertThat(tap.acks.viewAck()).isEqualTo(anyPushed ? tap.acknowledged : 0);
    }

    @Property
    void whereTimestampsBeginDoesNotMatter(
            @ForAll("events") List<Event> events, @ForAll("timestamps") int timestamp, @ForAll("starts") long start) {
        Tap one = new Tap(new AckHistory(), 0, 1, 0);
        Tap other = new Tap(new AckHistory(), start, timestamp, 0);

        for (Event event : events) {
            one.play(event);
            other.play(event);

            assertThat(other.acks.viewAck()).isEqualTo(one.acks.viewAck());
            assertThat(other.acks.viewEdge()).isEqualTo(one.acks.viewEdge());
        }
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("events") List<Event> before,
            @ForAll("events") List<Event> after,
            @ForAll("timestamps") int timestamp,
            @ForAll("starts") long start,
            @ForAll("numbers") long initial) {
        Tap original = new Tap(new AckHistory(), start, timestamp, initial);
        before.forEach(original::play);

        Tap copy = original.with(Restored.from(original.acks::writeTo, new AckHistory(), AckHistory::readFrom));
        copy.echoed = original.echoed;

        assertThat(copy.answers()).isEqualTo(original.answers());
        for (Event event : after) {
            original.play(event);
            copy.play(event);
            assertThat(copy.answers()).isEqualTo(original.answers());
        }
    }

    /** Counts around the sizes at which the history grows (4, 8 … 128) and thins out. */
    @Provide
    Arbitrary<List<Event>> events() {
        return Combinators.combine(
                        Arbitraries.of(Kind.PUSH, Kind.PUSH, Kind.ECHO, Kind.ECHO, Kind.TIME, Kind.FORGET),
                        Arbitraries.of(0L, 1L, 499L, 500L, 501L, 3_000_000_000L),
                        Arbitraries.of(1, 1, 2, 4, 5, 9, 33, 127, 128, 129),
                        Arbitraries.of(0L, 1L, 1448L, 2896L, 65_160L),
                        Arbitraries.of(0, 0, 1, 4),
                        Arbitraries.of(0, 1, 2, 100, 600))
                .as(Event::new)
                .list()
                .ofMaxSize(12)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Integer> timestamps() {
        return Biased.sequenceNumbers();
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
