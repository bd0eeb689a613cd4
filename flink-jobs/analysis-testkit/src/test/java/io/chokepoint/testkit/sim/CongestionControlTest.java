// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Windows and paces against what the RFC and the draft let one work out. */
class CongestionControlTest {
    private static final int MSS = 1000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000L;

    /** Round trips of 100 ms in which all of the window is acknowledged segment by segment. */
    private static double growFor(CongestionControl control, double window, double threshold, long fromNs, int rounds) {
        double grown = window;
        for (int round = 0; round < rounds; round++) {
            long acks = Math.round(grown / MSS);
            for (long ack = 0; ack < acks; ack++) {
                long nowNs = fromNs + round * 100 * MILLI + ack * 100 * MILLI / acks;
                grown = control.grown(grown, threshold, MSS, nowNs, 100 * MILLI);
            }
        }
        return grown;
    }

    @Test
    void renoAddsASegmentARound() {
        assertThat(growFor(new Reno(MSS), 100 * MSS, 50 * MSS, 0, 10)).isCloseTo(110 * MSS, within(0.5 * MSS));
        assertThat(new Reno(MSS).reduced(100 * MSS)).isEqualTo(50 * MSS);
    }

    @Test
    void cubicIsBackAtItsPlateauAfterTheCubeRootOfWhatItGave() {
        Cubic cubic = new Cubic(MSS);
        double reduced = cubic.reduced(1_000 * MSS);
        assertThat(reduced).isEqualTo(700 * MSS);

        // K = cbrt(300 / 0.4) = 9.09 s. Half-way, at 4.5 s, an eighth of the gap is left: 1000 - 300 / 8 = 962.
        double halfWay = growFor(cubic, reduced, reduced, 10 * SECOND, 45);
        assertThat(halfWay / MSS).isCloseTo(962, within(5.0));
        double atPlateau = growFor(cubic, halfWay, reduced, 10 * SECOND + 4_500 * MILLI, 46);
        assertThat(atPlateau / MSS).isCloseTo(1_000, within(2.0));
        // And 3 s beyond it has probed 0.4 * 27 segments further.
        double beyond = growFor(cubic, atPlateau, reduced, 10 * SECOND + 9_100 * MILLI, 30);
        assertThat(beyond / MSS).isCloseTo(1_010.8, within(3.0));
    }

    @Test
    void cubicGrowsAsRenoWouldWhereThatIsFaster() {
        Cubic cubic = new Cubic(MSS);
        double reduced = cubic.reduced(20 * MSS);

        // 3 * 0.3 / 1.7 = 0.53 segments a round.
        assertThat(growFor(cubic, reduced, reduced, SECOND, 8) / MSS).isCloseTo(14 + 8 * 0.53, within(0.5));
    }

    @Test
    void cubicDoesNotCountTheTimeInWhichItHadNothingToSend() {
        Cubic cubic = new Cubic(MSS);
        double reduced = cubic.reduced(1_000 * MSS);
        double before = growFor(cubic, reduced, reduced, SECOND, 1);
        cubic.idled(100 * SECOND);

        assertThat(growFor(cubic, before, reduced, 100 * SECOND, 1)).isLessThan(before + 30 * MSS);
    }

    /** A path of 1 B/ns and 1 ms that is sent what the model paces, a sample a round. */
    private static final class Driver {
        final Bbr bbr = new Bbr(MSS);
        long nowNs;
        long delivered;
        double pipe = 10 * MSS;

        void round(long roundTripNs) {
            nowNs += roundTripNs;
            long atSend = delivered;
            double rate = Math.min(1, bbr.pacingBytesPerNano());
            delivered += Math.round(rate * roundTripNs);
            pipe = Math.max(rate * roundTripNs, pipe + (bbr.pacingBytesPerNano() - rate) * roundTripNs);
            if (bbr.pacingBytesPerNano() < 1) {
                pipe = Math.min(pipe, Math.max(rate, bbr.bandwidthBytesPerNano()) * MILLI);
            }
            bbr.onDelivery(
                    new DeliverySample(delivered, atSend, delivered - atSend, rate, roundTripNs, false),
                    Math.round(pipe),
                    nowNs);
        }
    }

    @Test
    void bbrFindsTheRateDrainsItsQueueAndThenProbesOnceInEightRounds() {
        Driver driver = new Driver();
        List<Bbr.State> states = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            driver.round(MILLI);
            if (states.isEmpty() || states.get(states.size() - 1) != driver.bbr.state()) {
                states.add(driver.bbr.state());
            }
        }
        assertThat(states).containsExactly(Bbr.State.STARTUP, Bbr.State.DRAIN, Bbr.State.PROBE_BANDWIDTH);
        assertThat(driver.bbr.bandwidthBytesPerNano()).isEqualTo(1);

        List<Long> gains = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            driver.round(MILLI + 1);
            gains.add(Math.round(driver.bbr.pacingBytesPerNano() * 100 / 0.99));
        }
        assertThat(gains).contains(125L, 75L, 100L);
        assertThat(gains.stream().filter(gain -> gain == 125).count()).isEqualTo(4);
        int probe = gains.indexOf(125L);
        assertThat(gains.subList(probe + 1, probe + 8)).containsExactly(75L, 100L, 100L, 100L, 100L, 100L, 100L);
    }

    @Test
    void bbrGivesTheQueueUpForAMomentWhenItsRoundTripIsTenSecondsOld() {
        Driver driver = new Driver();
        driver.round(MILLI);
        while (driver.nowNs < 10 * SECOND) {
            driver.round(2 * MILLI);
        }
        driver.round(2 * MILLI);
        driver.round(2 * MILLI);

        assertThat(driver.bbr.state()).isEqualTo(Bbr.State.PROBE_ROUND_TRIP);
        assertThat(driver.bbr.grown(500 * MSS, 0, MSS, driver.nowNs, 0)).isEqualTo(4 * MSS);
    }
}
