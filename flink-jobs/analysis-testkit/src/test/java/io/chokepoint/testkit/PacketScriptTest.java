// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketScriptTest {
    private static final long START_NS = 1_767_225_600_000_000_000L;

    @Test
    void aLineIsAPacket() {
        Packet packet = only("""
                isn A 100
                isn B 4294967290
                +1.5 A > B PW. 1:1001(1000) ack 10 win 512 <TS val 7 ecr 4294967295,nop,sack 11:21 31:41> id 65535 ttl 63 tc 2
                """);

        assertThat(packet.timeNs()).isEqualTo(START_NS + 1_500_000_000);
        assertThat(packet.fromA()).isTrue();
        assertThat(packet.sequenceNumber()).isEqualTo(101);
        assertThat(packet.acknowledgmentNumber()).isEqualTo(4);
        assertThat(packet.payloadBytes()).isEqualTo(1000);
        assertThat(packet.headerBytes()).isEqualTo(20 + 20 + 28);
        assertThat(packet.flags()).isEqualTo(Packet.PSH | Packet.CWR | Packet.ACK);
        assertThat(packet.windowField()).isEqualTo(512);
        assertThat(packet.ip()).isEqualTo(new Packet.Ip(65_535, 63, 2));
        assertThat(packet.options().timestamps()).isEqualTo(new TcpOptions.Timestamps(7, -1));
        assertThat(packet.options().sackBlocks())
                .containsExactly(new TcpOptions.SackBlock(5, 15), new TcpOptions.SackBlock(25, 35));
    }

    @Test
    void theOptionsOfASyn() {
        TcpOptions options = only("+0 A > B S 0:0(0) win 1 <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>")
                .options();

        assertThat(options).isEqualTo(new TcpOptions(new TcpOptions.Timestamps(1, 0), 1460, 7, true, List.of(), false));
        assertThat(options.wireBytes()).isEqualTo(20);
    }

    @Test
    void plusBytesSendsOnInSegments() {
        List<Packet> packets = PacketScript.parse("""
                        mss 1000
                        +0 A > B S 0:0(0)
                        +0.001 A > B P. +2500 ack 1
                        +0.001 A > B . +10 ack 1
                        """).packets();

        assertThat(packets).extracting(Packet::sequenceNumber).containsExactly(0, 1, 1001, 2001, 2501);
        assertThat(packets).extracting(Packet::payloadBytes).containsExactly(0, 1000, 1000, 500, 10);
        assertThat(packets).extracting(packet -> packet.flags() & Packet.PSH).containsExactly(0, 0, 0, 8, 0);
        assertThat(packets).extracting(packet -> packet.ip().id()).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void theAtSignFollowsThePeer() {
        List<Packet> packets = PacketScript.parse("""
                        isn B 1000
                        timestamps
                        +0 B > A S 0:0(0)
                        +0.010 B > A . +3000
                        +0.005 A > B . 0:0(0) ack @
                        +0 A > B . 0:0(0) ack @-500
                        +0 A > B . 0:0(0)
                        """).packets();

        assertThat(packets.subList(4, 7))
                .extracting(Packet::acknowledgmentNumber)
                .containsExactly(1000 + 3001, 1000 + 2501, 1000 + 3001);
        int sentMs = (int) (START_NS / 1_000_000) + 10;
        assertThat(packets.get(4).options().timestamps()).isEqualTo(new TcpOptions.Timestamps(sentMs + 5, sentMs));
    }

    @Test
    void anEmptyPacketStandsWhereItsSenderIs() {
        List<Packet> packets = PacketScript.parse("""
                        +0 A > B S 0:0(0)
                        +0 A > B F. 1:101(100)
                        +0 A > B . 0:0(0)
                        +0 A > B . 1:101(100)
                        """).packets();

        assertThat(packets).extracting(Packet::sequenceNumber).containsExactly(0, 1, 102, 1);
    }

    @Test
    void repeatedBlocksMayNest() {
        List<Packet> packets = PacketScript.parse("""
                        repeat 2 {
                        +0.1 A > B . +10
                        repeat 3 {
                        -0.01 B > A . 0:0(0) ack @
                        }
                        }
                        """).packets();

        assertThat(packets)
                .extracting(Packet::fromA)
                .containsExactly(true, false, false, false, true, false, false, false);
        assertThat(packets.get(7).timeNs() - START_NS).isEqualTo(140_000_000);
    }

    @Test
    void flowsMayLieAnywhere() {
        PacketScript script = PacketScript.parse("""
                flow A [2001:db8::2]:443 B [2001:db8::1]:40000 domain 3 vlan 7 tunnel 4294967295
                start 2026-11-21T00:00:00.000000001Z
                +0 A > B . 1:2(1)
                end RST +2.5
                expect anything at all
                """);

        assertThat(script.flow().isALow()).isFalse();
        assertThat(script.flow().vlanId()).isEqualTo(7);
        assertThat(script.flow().tunnelId()).isEqualTo(4_294_967_295L);
        assertThat(script.packets().get(0).headerBytes()).isEqualTo(60);
        assertThat(script.packets().get(0).ip().id()).isZero();
        assertThat(script.expectations()).containsExactly("anything at all");
        assertThat(script.runs(RunCutter.PROBE))
                .extracting(RunSpec::endReason)
                .containsExactly("NONE", "NONE", "NONE", "RST");
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "2, '+0 A > B . 1:3(1)',                 END - FIRST is not BYTES",
        "2, '+0 A > A . 1:2(1)',                 expected '+SECONDS",
        "2, '+0 A > B . 1:2(1) <urg>',           unknown option 'urg'",
        "2, '+0 A > B 1:2(1)',                   expected '+SECONDS",
        "2, 'repeat 2 {',                        no closing brace",
        "2, 'flow A 1.2.3.4 B 1.2.3.5:6',        expected ADDRESS:PORT",
        "2, '}',                                 expected '+SECONDS",
    })
    void aBadLineIsNamed(int number, String line, String reason) {
        assertThatThrownBy(() -> PacketScript.parse("# comment\n" + line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line " + number + ": ")
                .hasMessageContaining(reason);
    }

    @Test
    void theNextConnectionStartsAnewOnTheSamePorts() {
        PacketScript script = PacketScript.parse("""
                isn A 500
                +0 A > B S 0:0(0)
                +0.1 A > B P. +10 ack 1
                next connection
                isn A 7
                +1 A > B S 0:0(0)
                end IDLE +1
                """);

        assertThat(script.connections()).extracting(List::size).containsExactly(2, 1);
        assertThat(script.packets()).extracting(Packet::sequenceNumber).containsExactly(500, 501, 7);
        List<RunSpec> runs = script.runs(new RunCutter(256, false, false));
        assertThat(runs).extracting(RunSpec::endReason).containsExactly("NONE", "REPLACED", "NONE", "IDLE");
        assertThat(runs).extracting(RunSpec::packetsBefore).containsExactly(0L, 2L, 0L, 1L);
    }

    @Test
    void anExtensionMakesHeadersLonger() {
        assertThat(only("extension 8\n+0 A > B . 1:2(1)").headerBytes()).isEqualTo(48);
    }

    private static Packet only(String script) {
        List<Packet> packets = PacketScript.parse(script).packets();
        assertThat(packets).hasSize(1);
        return packets.get(0);
    }
}
