// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.TcpOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is the client, which options hold, and what the handshake's delays say. */
class HandshakeTest {
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"A 10.0.0.1:443 B 10.0.0.2:50000", "A 10.0.0.2:443 B 10.0.0.1:50000"})
    void whoSendsTheSynIsTheClientWhateverThePorts(String ends) {
        Timeline.check("""
                flow %s
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
                +0.030 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.010 B > A P. +100   ack @
                end CAPTURE_END
                expect client A
                expect A > B quality !syn_missed !window_scale_unknown, rtt_min_seconds 0.04, path_position 0.75
                expect B > A quality !syn_missed !window_scale_unknown, rtt_min_seconds 0.04, path_position 0.75
                """.formatted(ends));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"A 10.0.0.1:443 B 10.0.0.2:50000", "A 10.0.0.2:443 B 10.0.0.1:50000"})
    void withoutTheSynTheSynAckNamesTheClient(String ends) {
        Timeline.check("""
                flow %s
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
                +0.030 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.020 B > A P. +100   ack @  win 509
                end CAPTURE_END
                expect client A
                expect A > B quality syn_missed !window_scale_unknown, receiver_window_max_bytes 65152
                expect B > A quality syn_missed window_scale_unknown, receiver_window_max_bytes 502
                """.formatted(ends));
    }

    @Test
    void withoutBothTheHigherPortIsTheClient() {
        Timeline.check("""
                flow A 10.0.0.1:443 B 10.0.0.2:50000
                isn A 1000000
                isn B 5000000
                +0.000 A > B .  90001:91461(1460) ack 301 win 502
                +0.020 B > A .  301:301(0) ack 91461 win 509
                end CAPTURE_END
                expect client B
                expect A > B quality syn_missed window_scale_unknown !capture_loss, data_bytes 1460
                """);
    }

    @Test
    void dataInFlightBeforeTheCaptureIsNoCaptureLoss() {
        Timeline.check("""
                +0.000 B > A .  301:301(0) ack 85621 win 509                # five segments are in flight
                +0.000 A > B .  92921:94381(1460) ack 301 win 502
                +0.020 B > A .  301:301(0) ack 91461 win 509
                +0.020 B > A .  301:301(0) ack 94381 win 509
                end CAPTURE_END
                expect A > B quality !capture_loss, capture_loss_bytes 0, retransmission_score 0
                """);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "+0.000 A > B S  0:0(0) win 64240 <wscale 7>", // the SYN is sent again
                "+0.000 B > A S. 0:0(0) ack 1 win 65160 <wscale 7>", // the SYN-ACK is
            })
    void whichOfTwoWasAnsweredCannotBeTold(String repeated) {
        String handshake = """
                +0.000 A > B S  0:0(0)        win 64240 <wscale 7>
                +0.001 B > A S. 0:0(0) ack 1  win 65160 <wscale 7>
                %s
                +0.001 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                end CAPTURE_END
                expect client A
                expect A > B rtt_min_seconds %s, quality !syn_missed !window_scale_unknown, retransmission_score 0
                """;

        Timeline.check(handshake.formatted("", "0.002"));
        Timeline.check(handshake.formatted(repeated, "null"));
    }

    @Test
    void aSynSentAgainBeforeItsAnswerLeavesTheDelayOpen() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 64240 <wscale 7>
                +1.000 A > B S  0:0(0)        win 64240 <wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <wscale 7>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                end CAPTURE_END
                expect A > B rtt_min_seconds null, quality !syn_missed !duplicated, duplicate_packets 0
                """);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"A 10.0.0.1:443 B 10.0.0.2:50000", "A 10.0.0.2:443 B 10.0.0.1:50000"})
    void aSynBehindItsAnswerStillAgreesOnTheScale(String ends) {
        Timeline.check("""
                flow %s
                +0.000 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 8>
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,wscale 7>
                +0.010 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.010 B > A P. +100   ack @  win 500
                +0.010 A > B .  0:0(0) ack @  win 502
                end CAPTURE_END
                expect client A
                expect A > B quality !syn_missed !window_scale_unknown, receiver_window_max_bytes 128000, rtt_min_seconds null
                expect B > A quality !syn_missed !window_scale_unknown, receiver_window_max_bytes 64256
                """.formatted(ends));
    }

    @Test
    void theWindowOfASynIsNotScaled() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 65535 <wscale 14>
                +0.010 B > A S. 0:0(0) ack 1  win 65535 <wscale 14>
                +0.000 A > B .  0:0(0) ack 1  win 1
                repeat 40 {
                +0.000 A > B .  +16384 ack @                # all that is allowed
                +0.010 B > A .  0:0(0) ack @  win 1
                }
                end CAPTURE_END
                expect A > B receiver_window_max_bytes 16384, share_receiver_window 0.8..1
                """);
    }

    @ParameterizedTest(name = "{0} and {1}: {2} bytes")
    @CsvSource({
        "'wscale 7',  'wscale 2',  1000, 4000",
        "'wscale 7',  'wscale 0',  1000, 1000",
        "'wscale 7',  'mss 1460',  1000, 1000",
        "'mss 1460',  'wscale 7',  1000, 1000",
        "'mss 1460',  'mss 1460',  1000, 1000",
        "'wscale 14', 'wscale 15', 1000, 16384000",
    })
    void bothEndsMustOfferScaling(String bySyn, String bySynAck, int field, int bytes) {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 64240 <%s>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <%s>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.010 B > A .  0:0(0) ack @  win %d
                end CAPTURE_END
                expect A > B receiver_window_max_bytes %d, quality !window_scale_unknown
                """.formatted(bySyn, bySynAck, field, bytes));
    }

    /** The capture, or the sender, has cut what the options of some SYNs were: a scale may have been among them. */
    private static void checkWithCutOptions(boolean ofSyn, boolean ofSynAck, String text) {
        PacketScript script = PacketScript.parse(text);
        List<Packet> packets = script.packets().stream()
                .map(packet -> (packet.flags() & Packet.SYN) != 0 && (packet.fromA() ? ofSyn : ofSynAck)
                        ? withCutOptions(packet)
                        : packet)
                .toList();
        Timeline.check(script, Tap.rowsOf(RunCutter.PROBE.cutAndEnd(script.flow(), packets, "CAPTURE_END", 0)));
    }

    private static Packet withCutOptions(Packet packet) {
        TcpOptions seen = packet.options();
        return new Packet(
                packet.timeNs(),
                packet.fromA(),
                packet.sequenceNumber(),
                packet.acknowledgmentNumber(),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                packet.ip(),
                new TcpOptions(seen.timestamps(), seen.mss(), seen.windowScale(), false, List.of(), true));
    }

    @ParameterizedTest(name = "cut <{1}> {0}, cut <{3}> {2}: A > B {4}, B > A {5}")
    @CsvSource({
        "true,  mss 1460, false, wscale 7, !window_scale_unknown, window_scale_unknown",
        "false, wscale 7, true,  mss 1460, window_scale_unknown,  window_scale_unknown",
        "true,  mss 1460, true,  mss 1460, window_scale_unknown,  window_scale_unknown",
        "true,  mss 1460, false, mss 1460, !window_scale_unknown, !window_scale_unknown", // none was agreed on
        "false, mss 1460, true,  mss 1460, !window_scale_unknown, !window_scale_unknown",
        "true,  wscale 7, true,  wscale 7, !window_scale_unknown, !window_scale_unknown", // cut behind the scale
    })
    void aScaleThatMayHaveBeenCutIsUnknown(
            boolean cutsSyn, String bySyn, boolean cutsSynAck, String bySynAck, String ofServer, String ofClient) {
        checkWithCutOptions(cutsSyn, cutsSynAck, """
                +0.000 A > B S  0:0(0)        win 64240 <%s>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <%s>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.010 B > A P. +100   ack @  win 509
                +0.000 A > B .  0:0(0) ack @
                end CAPTURE_END
                expect A > B quality bad_options %s
                expect B > A quality bad_options %s
                """.formatted(bySyn, bySynAck, ofServer, ofClient));
    }

    @ParameterizedTest(name = "options of the SYN-ACK cut: {0}")
    @CsvSource({"true, 0, 0.9..1, window_scale_unknown", "false, 0.9..1, 0..0.1, !window_scale_unknown"})
    void aRawWindowIsNoLimit(boolean cut, String shareOfWindow, String shareOfTransport, String quality) {
        checkWithCutOptions(false, cut, """
                mss 1448
                timestamps
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1  win 502
                repeat 100 {
                +0.000 A > B .  +14480 ack @
                +0.010 B > A .  0:0(0) ack @-11584 win 9000
                +0.000 B > A .  0:0(0) ack @       win 9000
                }
                end CAPTURE_END
                expect A > B share_receiver_window %s, share_transport %s, quality %s
                """.formatted(shareOfWindow, shareOfTransport, quality));
    }

    @Test
    void aCutSynBehindItsAnswerLeavesItsScaleUnknown() {
        checkWithCutOptions(true, false, """
                +0.000 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 8>
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.010 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                +0.010 B > A P. +100   ack @  win 500
                +0.010 A > B .  0:0(0) ack @  win 502
                end CAPTURE_END
                expect A > B quality !window_scale_unknown bad_options, receiver_window_max_bytes 128000
                expect B > A quality window_scale_unknown, receiver_window_max_bytes 502
                """);
    }

    @Test
    void withoutHandshakeTheFlightBoundsTheScaleFromBelow() {
        Timeline.check("""
                mss 1460
                +0.000 B > A .  0:0(0) ack 1  win 1000
                +0.000 A > B .  +14600 ack 1  win 502
                +0.020 B > A .  0:0(0) ack @  win 1000
                +0.000 A > B .  +14600 ack 1  win 502
                +0.020 B > A .  0:0(0) ack @  win 1000
                end CAPTURE_END
                expect A > B receiver_window_max_bytes 16000, outstanding_max_bytes 14600, quality window_scale_unknown
                """);
    }

    @Test
    void theMssThatOneEndAnnouncesBoundsTheOther() {
        Timeline.check("""
                timestamps
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1400,sackOK,wscale 7>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +500   ack 1
                +0.010 B > A P. +500   ack @
                +0.000 A > B .  0:0(0) ack @
                end CAPTURE_END
                expect A > B mss_bytes 1388
                expect B > A mss_bytes 1448
                """);
    }

    @Test
    void theMssIsWhatTheDataShow() {
        Timeline.check("""
                mss 1360
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B .  +4080  ack 1
                end CAPTURE_END
                expect A > B mss_bytes 1360, quality !offload
                """);
    }

    @Test
    void aSegmentBeyondTheMssIsAHosts() {
        Timeline.check("""
                mss 14600
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B .  +14600 ack 1
                end CAPTURE_END
                expect A > B quality offload, data_packets 1, evidence_a 10
                """);
    }

    @Test
    void aSynBringsDataOfItsOwn() {
        Timeline.check("""
                +0.000 A > B S  0:200(200)      win 64240 <mss 1460>
                +0.010 B > A S. 0:0(0)  ack 201 win 65160 <mss 1460>
                +0.000 A > B .  0:0(0)  ack 1   win 502
                +0.000 A > B P. +100    ack 1
                +0.010 B > A .  0:0(0)  ack @   win 502
                end CAPTURE_END
                expect client A
                expect A > B capture_loss_bytes 0, retransmission_score 0
                """);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "+0.000 A > B S  0:0(0)        win 64240\n+0.010 B > A S. 0:0(0) ack 1  win 65160",
                "+0.010 B > A S. 0:0(0) ack 1  win 65160",
            })
    void aFlowHasOneNameAtAllTapsThatSawHowItBegan(String opening) {
        String rest = "\n+0.020 A > B P. 1:101(100) ack 1\n";

        assertThat(flowId("leaf2", opening + rest))
                .isEqualTo(flowId("leaf1", "+0.000 A > B S 0:0(0) win 64240" + rest))
                .isNotEqualTo(flowId("leaf2", "isn A 1\n" + opening + rest));
        assertThat(flowId("leaf2", rest))
                .as("without its beginning each tap has its own name for it")
                .isNotEqualTo(flowId("leaf1", rest));
    }

    private static long flowId(String tap, String script) {
        Row row = new Tap(tap)
                .takeAll(PacketScript.parse(script).runs(RunCutter.PROBE))
                .rows()
                .get(0);
        return row.identity().flowId();
    }
}
