// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Restored;
import org.junit.jupiter.api.Test;

class ClockStepTest {
    private static final long MICRO = 1_000;

    private final ClockStep clock = new ClockStep();

    /** Packets come every so many ns; the clock shows the multiples of its step. */
    private static void stamp(ClockStep clock, int packets, long everyNanos, long stepNanos) {
        for (long i = 1; i <= packets; i++) {
            clock.observe(i * everyNanos / stepNanos * stepNanos + 1);
        }
    }

    @Test
    void aClockThatMovesWithEachPacketIsAsGoodAsItSays() {
        clock.declare(1);
        stamp(clock, 1_000, 700, 1);
        assertThat(clock.nanos()).isEqualTo(1);
    }

    @Test
    void stampsOfAnInterruptShowItsPeriod() {
        clock.declare(1);
        stamp(clock, 1_000, 12 * MICRO, 100 * MICRO);
        assertThat(clock.nanos()).isEqualTo(100 * MICRO);
    }

    @Test
    void oneEqualPairInTwentyIsNoProof() {
        clock.declare(1);
        for (int i = 1; i <= 640; i++) {
            clock.observe(i % 20 == 0 ? (i - 1) * 50 * MICRO : i * 50 * MICRO);
        }
        assertThat(clock.nanos()).isEqualTo(1);
    }

    @Test
    void pausesOfTheFlowAreNotTheClocks() {
        clock.declare(1);
        stamp(clock, 1_000, 200 * MICRO, 1_000 * MICRO);
        assertThat(clock.nanos()).isEqualTo(1);
    }

    @Test
    void whatTheSourceDeclaresIsTheLeast() {
        clock.declare(MICRO);
        stamp(clock, 1_000, 400, MICRO);
        assertThat(clock.nanos()).isEqualTo(MICRO);
    }

    @Test
    void itTellsWhenTheStepBecomesAnother() {
        clock.declare(1);
        boolean changed = false;
        for (int i = 1; i <= 65; i++) {
            assertThat(changed).isFalse();
            changed = clock.observe(i / 4 * 100 * MICRO + 1);
        }
        assertThat(changed).isTrue();
    }

    @Test
    void aRestoredClockGoesOnWhereItWas() {
        clock.declare(1);
        stamp(clock, 50, 12 * MICRO, 100 * MICRO);
        ClockStep restored = Restored.from(clock::writeTo, new ClockStep(), ClockStep::readFrom);
        for (long i = 51; i <= 200; i++) {
            long time = i * 12 * MICRO / (100 * MICRO) * 100 * MICRO + 1;
            assertThat(restored.observe(time)).isEqualTo(clock.observe(time));
        }
        assertThat(restored.nanos()).isEqualTo(clock.nanos()).isEqualTo(100 * MICRO);
    }
}
