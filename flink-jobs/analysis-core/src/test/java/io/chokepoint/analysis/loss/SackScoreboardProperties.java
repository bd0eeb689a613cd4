// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Biased;
import io.chokepoint.analysis.Restored;
import java.util.BitSet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class SackScoreboardProperties {
    private static final int SPACE = 2_000;

    /** A block of bytes, or, if it is empty, an acknowledgment of all below {@code left}. */
    private record Event(int left, int bytes) {
        private boolean isAcknowledgment() {
            return bytes == 0;
        }

        private long playOn(SackScoreboard held, long base) {
            return isAcknowledgment() ? held.removeBelow(base + left) : held.add(base + left, base + left + bytes);
        }
    }

    /** One bit a byte: too slow and too simple to be wrong. */
    private static long playOn(BitSet held, Event event) {
        int before = held.cardinality();
        held.set(
                event.isAcknowledgment() ? 0 : event.left(),
                event.isAcknowledgment() ? event.left() : event.left() + event.bytes(),
                !event.isAcknowledgment());
        return Math.abs(held.cardinality() - before);
    }

    @Property
    void holdsWhatASetOfBytesHolds(@ForAll("largeBlocks") List<Event> events, @ForAll("bases") long base) {
        SackScoreboard held = new SackScoreboard();
        BitSet model = new BitSet();

        for (Event event : events) {
            assertThat(event.playOn(held, base)).isEqualTo(playOn(model, event));
            assertThat(held.bytes()).isEqualTo(model.cardinality());
            assertThat(held.contains(base + event.left(), base + event.left() + 50))
                    .isEqualTo(model.nextClearBit(event.left()) >= event.left() + 50);
        }
    }

    /** More ranges than are kept: some bytes count too early, but none twice and none is lost. */
    @Property
    void neverLosesABlockToAFullBoard(@ForAll("smallBlocks") List<Event> blocks) {
        SackScoreboard held = new SackScoreboard();

        for (Event block : blocks) {
            assertThat(block.playOn(held, 0)).isBetween(0L, (long) SPACE);
            assertThat(held.contains(block.left(), block.left() + block.bytes()))
                    .isTrue();
            assertThat(block.playOn(held, 0)).isZero();
        }
        assertThat(held.bytes()).isLessThanOrEqualTo(SPACE);
        for (Event block : blocks) {
            assertThat(held.contains(block.left(), block.left() + block.bytes()))
                    .isTrue();
        }
    }

    @Property
    void aRestoredCopyGoesOnAsTheOriginal(
            @ForAll("anyBlocks") List<Event> before,
            @ForAll("anyBlocks") List<Event> after,
            @ForAll("bases") long base) {
        SackScoreboard original = new SackScoreboard();
        before.forEach(event -> event.playOn(original, base));

        SackScoreboard copy = Restored.from(original::writeTo, new SackScoreboard(), SackScoreboard::readFrom);

        assertThat(copy.bytes()).isEqualTo(original.bytes());
        for (Event event : after) {
            assertThat(event.playOn(copy, base)).isEqualTo(event.playOn(original, base));
            assertThat(copy.bytes()).isEqualTo(original.bytes());
        }
    }

    /** Multiples of 50, so that blocks often touch; at most 20 ranges at once. */
    @Provide
    Arbitrary<List<Event>> largeBlocks() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, SPACE / 50 - 4).map(i -> i * 50),
                        Arbitraries.of(0, 50, 50, 100, 200))
                .as(Event::new)
                .list()
                .ofMaxSize(30)
                .withoutEdgeCases();
    }

    /** Single bytes, mostly apart. */
    @Provide
    Arbitrary<List<Event>> smallBlocks() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, SPACE / 4 - 1).map(i -> i * 4), Arbitraries.of(1, 2, 4))
                .as(Event::new)
                .list()
                .ofMinSize(20)
                .ofMaxSize(60)
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<List<Event>> anyBlocks() {
        return Arbitraries.oneOf(largeBlocks(), smallBlocks());
    }

    @Provide
    Arbitrary<Long> bases() {
        return Biased.unwrappedNumbers();
    }
}
