// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RunCutterTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void aRunEndsAtTheWholeSecondAndWhenItIsFull() {
        PacketScript script = script("""
                +0.9 A > B . +146000
                +0.0999 B > A . 0:0(0) ack @
                +0.0001 A > B . +438000
                """);

        List<RunSpec> runs = RunCutter.PROBE.cut(script.flow(), script.packets());

        assertThat(runs).extracting(run -> run.packets().size()).containsExactly(101, 256, 44);
        assertThat(runs).extracting(RunSpec::packetsBefore).containsExactly(0L, 101L, 357L);
    }

    @Test
    void silenceIsMarkedOneTwoFourSecondsAfterTheLastPacket() {
        PacketScript script = script("""
                start 5000000000
                +0.5 A > B . 1:2(1)
                +4.5 A > B . 2:3(1)
                end IDLE +9
                """);

        List<RunSpec> runs = script.runs(RunCutter.PROBE);

        assertThat(runs)
                .extracting(RunSpec::observedUntilNs)
                .containsExactly(
                        5 * SECOND + SECOND / 2,
                        6 * SECOND + SECOND / 2,
                        7 * SECOND + SECOND / 2,
                        9 * SECOND + SECOND / 2,
                        10 * SECOND,
                        11 * SECOND,
                        12 * SECOND,
                        14 * SECOND,
                        18 * SECOND,
                        19 * SECOND);
        assertThat(runs).extracting(RunSpec::packetsBefore).containsExactly(0L, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 2L, 2L);
        assertThat(runs.get(9).endReason()).isEqualTo("IDLE");
    }

    @Test
    void aSecondOfSilenceIsMarkedToo() {
        PacketScript script = script("""
                +0 A > B . 1:2(1)
                +1 A > B . 2:3(1)
                """);

        assertThat(RunCutter.PROBE.cut(script.flow(), script.packets()))
                .extracting(run -> run.packets().size())
                .containsExactly(1, 0, 1);
    }

    private static PacketScript script(String text) {
        return PacketScript.parse(text);
    }
}
