// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import io.chokepoint.analysis.loss.Holes.Filling;
import io.chokepoint.analysis.wire.Packet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class HolesProperties {
    private static final int SEGMENT = 10;
    private static final long ROUND_TRIP = 100;

    private enum Kind {
        OPEN,
        FILL,
        ACKNOWLEDGE
    }

    /**
     * What happens to a stream of segments of 10 bytes: a gap opens at its end, old bytes come again, or all below is
     * acknowledged.
     *
     * @param back segments below the end of the stream
     */
    private record Event(Kind kind, int back, int segments, int tsval, int ipId) {
        private Packet packet() {
            Packet packet = new Packet();
            packet.hasTimestamps = tsval != 0;
            packet.timestampValue = tsval;
            packet.ipId = ipId;
            return packet;
        }
    }

    /** Plays events on holes; the answers are all they return. */
    private static final class Stream {
        private final Holes holes;
        private final List<Object> answers = new ArrayList<>();
        private final BitSet missing = new BitSet();
        private final List<Object> expected = new ArrayList<>();
        private long now;
        private final long base;
        private int end;

        private Stream(Holes holes, long now, long base) {
            this.holes = holes;
            this.now = now;
            this.base = base;
        }

        private Stream with(Holes other) {
            Stream copy = new Stream(other, now, base);
            copy.end = end;
            return copy;
        }

        private void play(Event event) {
            now += 30;
            int from = Math.max(0, end - event.back() * SEGMENT);
            switch (event.kind()) {
                case OPEN -> {
                    int to = end + event.segments() * SEGMENT;
                    holes.open(now, base + end, base + to, event.packet());
                    missing.set(end, to);
                    end = to + SEGMENT;
                }
                case FILL -> {
                    int to = Math.min(end, from + event.segments() * SEGMENT);
                    Filling filling = holes.fill(now, base + from, base + to, event.packet(), ROUND_TRIP);
                    answers.add(filling);
                    expected.add(missing.get(from, to).isEmpty() ? Filling.NONE : filling);
                    missing.clear(from, to);
                }
                case ACKNOWLEDGE -> {
                    answers.add(holes.acknowledge(base + from));
                    expected.add((long) missing.get(0, from).cardinality());
                    missing.clear(0, from);
                }
            }
            answers.add(holes.any());
            expected.add(!missing.isEmpty());
        }
    }

    @Property
    void missesWhatASetOfBytesMisses(@ForAll("events") List<Event> events, @ForAll("bases") long base) {
        Stream stream = new Stream(new Holes(), 0, base);

        events.forEach(stream::play);

        assertThat(stream.answers).isEqualTo(stream.expected);
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("manyEvents") List<Event> before,
            @ForAll("manyEvents") List<Event> after,
            @ForAll("starts") long start,
            @ForAll("bases") long base) {
        Stream original = new Stream(new Holes(), start, base);
        before.forEach(original::play);
        original.answers.clear();

        Stream copy = original.with(Restored.from(original.holes::writeTo, new Holes(), Holes::readFrom));

        after.forEach(original::play);
        after.forEach(copy::play);
        assertThat(copy.answers).isEqualTo(original.answers);
    }

    /** At most 32 holes at once, as many as are kept. */
    @Provide
    Arbitrary<List<Event>> events() {
        return event().list().ofMaxSize(16).withoutEdgeCases();
    }

    @Provide
    Arbitrary<List<Event>> manyEvents() {
        return event().list().ofMaxSize(60).withoutEdgeCases();
    }

    private static Arbitrary<Event> event() {
        return Combinators.combine(
                        Arbitraries.of(Kind.OPEN, Kind.OPEN, Kind.OPEN, Kind.FILL, Kind.FILL, Kind.ACKNOWLEDGE),
                        Arbitraries.integers().between(0, 25),
                        Arbitraries.integers().between(1, 6),
                        Arbitraries.of(0, -1, 1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE),
                        Arbitraries.of(0, 1, 2, 65_535))
                .as(Event::new);
    }

    @Provide
    Arbitrary<Long> starts() {
        return Biased.instants();
    }

    @Provide
    Arbitrary<Long> bases() {
        return Biased.unwrappedNumbers();
    }
}
