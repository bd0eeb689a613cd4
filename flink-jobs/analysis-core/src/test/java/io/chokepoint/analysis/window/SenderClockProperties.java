// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import io.chokepoint.analysis.wire.Packet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class SenderClockProperties {
    /** Some segments at equal gaps and ticks, or, if there are none, a break of the chain. */
    private record Event(int segments, long gapNanos, int ticks) {}

    /** A clock and the sender it is read from. */
    private static final class Sender {
        private final SenderClock clock;
        private long now;
        private int timestamp;

        private Sender(SenderClock clock, long now, int timestamp) {
            this.clock = clock;
            this.now = now;
            this.timestamp = timestamp;
        }

        private void play(Event event) {
            if (event.segments() == 0) {
                clock.breakChain();
            }
            for (int i = 0; i < event.segments(); i++) {
                now += event.gapNanos();
                timestamp += event.ticks();
                clock.observe(now, stamped(timestamp));
            }
        }

        private List<Object> answers() {
            return List.of(
                    clock.passedWithoutQueueNanos(now, stamped(timestamp)),
                    clock.passedWithoutQueueNanos(now + 1_000_000, stamped(timestamp)),
                    clock.wasStretched(now, stamped(timestamp)),
                    clock.wasStretched(now + 20_000_000, stamped(timestamp)));
        }
    }

    private static Packet stamped(int timestamp) {
        Packet packet = new Packet();
        packet.hasTimestamps = true;
        packet.timestampValue = timestamp;
        return packet;
    }

    @Property(tries = 500)
    void whereTimestampsBeginDoesNotMatter(@ForAll("events") List<Event> events, @ForAll("timestamps") int timestamp) {
        Sender one = new Sender(new SenderClock(), 1, 0);
        Sender other = new Sender(new SenderClock(), 1, timestamp);

        for (Event event : events) {
            one.play(event);
            other.play(event);
            assertThat(other.answers()).isEqualTo(one.answers());
        }
    }

    @Property(tries = 500)
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("events") List<Event> before,
            @ForAll("events") List<Event> after,
            @ForAll("timestamps") int timestamp) {
        Sender original = new Sender(new SenderClock(), 1, timestamp);
        before.forEach(original::play);

        Sender copy = new Sender(
                Restored.from(original.clock::writeTo, new SenderClock(), SenderClock::readFrom),
                original.now,
                original.timestamp);

        assertThat(copy.answers()).isEqualTo(original.answers());
        for (Event event : after) {
            original.play(event);
            copy.play(event);
            assertThat(copy.answers()).isEqualTo(original.answers());
        }
    }

    /**
     * Counts around the 16 segments of a stretch, times around the 0.2 s and 10 s of a tick that is learnt; a
     * billion ticks go a quarter round.
     */
    @Provide
    Arbitrary<List<Event>> events() {
        return Combinators.combine(
                        Arbitraries.of(0, 1, 2, 15, 16, 17, 40, 200),
                        Arbitraries.of(0L, 1_000L, 1_000_000L, 10_000_000L, 250_000_000L, 11_000_000_000L),
                        Arbitraries.of(-1, 0, 0, 1, 2, 10, 1_000, 20_000, 1_000_000_000))
                .as(Event::new)
                .list()
                .ofMaxSize(8)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Integer> timestamps() {
        return Biased.sequenceNumbers();
    }
}
