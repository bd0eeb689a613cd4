// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketTest {
    private static final Flow FLOW =
            Flow.between(new InetSocketAddress("10.0.0.1", 40000), new InetSocketAddress("10.0.0.2", 443));

    private final Packet packet = new Packet();

    @Test
    void readsEveryFieldOfItsRun() {
        TcpOptions options = TcpOptions.ofSyn(1460, 7, true).withTimestamps(-1, -2);
        packet.read(run(wire(17, Packet.SYN, 0, options)), 0);

        assertThat(packet.timeNanos).isEqualTo(17);
        assertThat(packet.direction).isZero();
        assertThat(packet.sequence).isEqualTo(-5);
        assertThat(packet.acknowledgment).isEqualTo(9);
        assertThat(packet.windowField).isEqualTo(500);
        assertThat(packet.ipId).isEqualTo(321);
        assertThat(packet.hasTimestamps).isTrue();
        assertThat(packet.timestampValue).isEqualTo(-1);
        assertThat(packet.timestampEcho).isEqualTo(-2);
        assertThat(packet.maximumSegmentSize).isEqualTo(1460);
        assertThat(packet.windowScale).isEqualTo(7);
    }

    /** A view is reused: nothing of the packet before may shine through. */
    @Test
    void absentOptionsLeaveNothingOfThePacketBefore() {
        TcpOptions sack = TcpOptions.ofSyn(1460, 7, true)
                .withTimestamps(1, 2)
                .withSackBlocks(List.of(new TcpOptions.SackBlock(20, 30)));
        Run run = run(wire(1, Packet.SYN, 0, sack), wire(2, Packet.ACK, 0, TcpOptions.NONE));

        packet.read(run, 0);
        packet.read(run, 1);

        assertThat(packet.hasTimestamps).isFalse();
        assertThat(packet.timestampValue).isZero();
        assertThat(packet.timestampEcho).isZero();
        assertThat(packet.maximumSegmentSize).isZero();
        assertThat(packet.windowScale).isEqualTo(-1);
        assertThat(packet.sackBlocks).isZero();
    }

    @Test
    void sackBlocksAreThoseOfThePacketItself() {
        TcpOptions one = TcpOptions.NONE.withSackBlocks(List.of(new TcpOptions.SackBlock(20, 30)));
        TcpOptions two = TcpOptions.NONE.withSackBlocks(
                List.of(new TcpOptions.SackBlock(40, 50), new TcpOptions.SackBlock(-60, 70)));
        packet.read(run(wire(1, Packet.ACK, 0, one), wire(2, Packet.ACK, 0, two)), 1);

        assertThat(packet.sackBlocks).isEqualTo(2);
        assertThat(packet.sackLeft(0)).isEqualTo(40);
        assertThat(packet.sackRight(1)).isEqualTo(70);
        assertThat(packet.sackLeft(1)).isEqualTo(-60);
    }

    @Test
    void ipBytesAreHeadersAndPayload() {
        packet.read(run(wire(1, Packet.ACK, 1000, TcpOptions.NONE)), 0);

        assertThat(packet.ipBytes).isEqualTo(1040);
    }

    @ParameterizedTest(name = "flags {0} and {1} bytes take {2} sequence numbers")
    @CsvSource({"16, 0, 0", "16, 10, 10", "2, 0, 1", "17, 10, 11", "19, 0, 2"})
    void synAndFinTakeASequenceNumberEach(int flags, int payloadBytes, int expected) {
        packet.flags = flags;
        packet.payloadBytes = payloadBytes;

        assertThat(packet.sequenceLength()).isEqualTo(expected);
    }

    @ParameterizedTest(name = "traffic class {0}: {1}")
    @CsvSource({"0, false", "1, false", "2, false", "3, true", "0xb8, false", "0xbb, true"})
    void congestionIsExperiencedIfBothEcnBitsAreSet(String trafficClass, boolean expected) {
        packet.trafficClass = Integer.decode(trafficClass);

        assertThat(packet.isCongestionExperienced()).isEqualTo(expected);
    }

    @Test
    void hasAsksForAllFlags() {
        packet.flags = Packet.SYN | Packet.ACK;

        assertThat(packet.has(Packet.SYN | Packet.ACK)).isTrue();
        assertThat(packet.has(Packet.SYN | Packet.FIN)).isFalse();
    }

    private static io.chokepoint.testkit.Packet wire(long timeNanos, int flags, int payloadBytes, TcpOptions options) {
        return new io.chokepoint.testkit.Packet(
                timeNanos,
                true,
                -5,
                9,
                payloadBytes,
                40,
                flags,
                500,
                new io.chokepoint.testkit.Packet.Ip(321, 64, 0),
                options);
    }

    private static Run run(io.chokepoint.testkit.Packet... packets) {
        byte[] bytes = new BatchEncoder(BatchHeader.ofTap("leaf1"))
                .run(new RunSpec(FLOW, 1, 0, packets[packets.length - 1].timeNs(), "NONE", List.of(packets)));
        Run run = new Run();
        assertThat(new RunReader().read(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);
        return run;
    }
}
