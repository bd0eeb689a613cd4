// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.testkit.CaptureFile;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SimulatedDatasetTest {
    @TempDir
    private Path folder;

    private static PathScenario small(String name) {
        return PathScenario.named(name)
                .bottleneck(100, 100)
                .roundTrip(2_000)
                .ecn()
                .books(1_000_000, 1_000_000)
                .lasting(100);
    }

    /** A packet as the file tells it. */
    private record Read(
            long timeNs,
            int sourcePort,
            int sequenceNumber,
            int acknowledgmentNumber,
            int flags,
            int windowField,
            int trafficClass,
            int timeToLive,
            int headerBytes,
            int payloadBytes,
            byte[] options) {}

    /** Reads what {@link CaptureFile} claims to write, by the formats and not by its code. */
    private static List<Read> read(Path file, boolean isIpv4) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.getInt()).isEqualTo(0xa1b23c4d);
        bytes.position(20);
        assertThat(bytes.getInt()).isEqualTo(1);
        List<Read> packets = new ArrayList<>();
        while (bytes.hasRemaining()) {
            long timeNs = bytes.getInt() * 1_000_000_000L + bytes.getInt();
            int captured = bytes.getInt();
            int wire = bytes.getInt();
            ByteBuffer frame = bytes.slice(bytes.position(), captured).order(ByteOrder.BIG_ENDIAN);
            bytes.position(bytes.position() + captured);
            assertThat(captured).isLessThanOrEqualTo(128);
            packets.add(isIpv4 ? readIpv4(timeNs, wire, frame) : readIpv6(timeNs, wire, frame));
        }
        return packets;
    }

    private static Read readIpv4(long timeNs, int wireBytes, ByteBuffer frame) {
        assertThat(frame.getShort(12)).isEqualTo((short) 0x0800);
        assertThat(frame.get(14)).isEqualTo((byte) 0x45);
        int ipBytes = Short.toUnsignedInt(frame.getShort(16));
        assertThat(wireBytes).isEqualTo(14 + ipBytes);
        return readTcp(timeNs, ipBytes, frame, 34, frame.get(15), frame.get(22));
    }

    private static Read readIpv6(long timeNs, int wireBytes, ByteBuffer frame) {
        assertThat(frame.getShort(12)).isEqualTo((short) 0x86dd);
        assertThat(frame.get(20)).isEqualTo((byte) 6);
        int ipBytes = 40 + Short.toUnsignedInt(frame.getShort(18));
        assertThat(wireBytes).isEqualTo(14 + ipBytes);
        return readTcp(timeNs, ipBytes, frame, 54, (byte) (frame.getInt(14) >>> 20), frame.get(21));
    }

    private static Read readTcp(
            long timeNs, int ipBytes, ByteBuffer frame, int tcp, byte trafficClass, byte timeToLive) {
        int tcpHeaderBytes = (frame.get(tcp + 12) >>> 4 & 15) * 4;
        int headerBytes = tcp - 14 + tcpHeaderBytes;
        assertThat(frame.capacity()).isEqualTo(14 + headerBytes);
        byte[] options = new byte[tcpHeaderBytes - 20];
        frame.get(tcp + 20, options);
        return new Read(
                timeNs,
                Short.toUnsignedInt(frame.getShort(tcp)),
                frame.getInt(tcp + 4),
                frame.getInt(tcp + 8),
                Byte.toUnsignedInt(frame.get(tcp + 13)),
                Short.toUnsignedInt(frame.getShort(tcp + 14)),
                Byte.toUnsignedInt(trafficClass),
                Byte.toUnsignedInt(timeToLive),
                headerBytes,
                ipBytes - headerBytes,
                options);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCaptureHoldsWhatTheTapSaw(boolean isIpv4) throws IOException {
        PathScenario scenario = isIpv4 ? small("v4") : small("v6").ipv6();
        SimulatedFlow flow =
                PathSimulator.run(scenario.loss(0.01).serverSends()).get(0);
        Path file = folder.resolve("capture.pcap");
        SimulatedDataset.writeCapture(
                file,
                new TapCapture(scenario, TapCapture.Joining.NONE)
                        .records(List.of(flow.flow()), List.of(flow.after()), TimestampQuality.EXACT));

        List<Read> read = read(file, isIpv4);
        assertThat(read).hasSameSizeAs(flow.after());
        for (int i = 0; i < read.size(); i++) {
            Packet saw = flow.after().get(i);
            Read told = read.get(i);
            assertThat(told.timeNs()).isEqualTo(saw.timeNs());
            assertThat(told.sourcePort())
                    .isEqualTo((saw.fromA() ? flow.flow().a() : flow.flow().b()).getPort());
            assertThat(told.sequenceNumber()).isEqualTo(saw.sequenceNumber());
            assertThat(told.acknowledgmentNumber()).isEqualTo(saw.acknowledgmentNumber());
            assertThat(told.flags()).isEqualTo(saw.flags());
            assertThat(told.windowField()).isEqualTo(saw.windowField());
            assertThat(told.trafficClass()).isEqualTo(saw.ip().trafficClass());
            assertThat(told.timeToLive()).isEqualTo(saw.ip().timeToLive());
            assertThat(told.headerBytes()).isEqualTo(saw.headerBytes());
            assertThat(told.payloadBytes()).isEqualTo(saw.payloadBytes());
            assertThat(readOptions(told.options())).isEqualTo(saw.options());
        }
        assertThat(flow.after())
                .anyMatch(packet -> packet.options().sackBlocks().size() > 1);
    }

    private static TcpOptions readOptions(byte[] bytes) {
        ByteBuffer options = ByteBuffer.wrap(bytes);
        TcpOptions read = TcpOptions.NONE;
        int mss = 0;
        boolean sackPermitted = false;
        while (options.hasRemaining()) {
            int kind = options.get();
            if (kind == 1) {
                continue;
            }
            int length = options.get();
            switch (kind) {
                case 2 -> mss = Short.toUnsignedInt(options.getShort());
                case 3 -> {
                    TcpOptions.Timestamps stamps = read.timestamps();
                    TcpOptions ofSyn = TcpOptions.ofSyn(mss, options.get(), sackPermitted);
                    read = stamps == null ? ofSyn : ofSyn.withTimestamps(stamps.value(), stamps.echo());
                }
                case 4 -> sackPermitted = true;
                case 5 -> {
                    List<TcpOptions.SackBlock> blocks = new ArrayList<>();
                    for (int i = 0; i < (length - 2) / 8; i++) {
                        blocks.add(new TcpOptions.SackBlock(options.getInt(), options.getInt()));
                    }
                    read = read.withSackBlocks(blocks);
                }
                default -> read = read.withTimestamps(options.getInt(), options.getInt());
            }
        }
        return read;
    }

    @Test
    void aCaseIsTheSameBytesEachTime() throws IOException {
        SimulatedDataset.write(SimulatedCase.unshared(small("alone")), folder.resolve("one"));
        SimulatedDataset.write(SimulatedCase.unshared(small("alone")), folder.resolve("two"));

        for (String name :
                List.of("alone-before.pcap", "alone-after.pcap", "truth.json", "waits.csv", "queue.csv", "link.csv")) {
            assertThat(folder.resolve("one").resolve(name))
                    .hasSameBinaryContentAs(folder.resolve("two").resolve(name));
        }
        assertThat(folder.resolve("one/truth.json"))
                .content()
                .contains("\"root_cause\": \"unshared_bottleneck\"", "\"rate_mbit\": 100.0", "\"interval_ms\": 20");
    }

    @Test
    void theTablesCoverTheLifeOfTheFlow() throws IOException {
        SimulatedDataset.write(SimulatedCase.unshared(small("alone")), folder);

        List<String> waits = Files.readAllLines(folder.resolve("waits.csv"));
        assertThat(waits).hasSize(1 + 98); // the handshake takes the first 2 ms
        assertThat(waits.get(50)).endsWith(",f1,0,0,0,1000000");
        List<String> queue = Files.readAllLines(folder.resolve("queue.csv"));
        assertThat(queue.get(50)).matches("1767225600049000000,\\d+,\\d+,1000000,\\d+");
        assertThat(Files.readAllLines(folder.resolve("link.csv")).get(50)).matches("\\d+,f1,8,12112,\\d+");
    }

    @Test
    void aCaseThatIsNotWhatItClaimsIsNotWritten() {
        SimulatedCase wrong = SimulatedCase.unshared(small("half").crossTraffic(50));

        assertThatThrownBy(() -> SimulatedDataset.write(wrong, folder.resolve("half")))
                .isInstanceOf(SimulatedDataset.WrongLabel.class)
                .hasMessageContaining("half: share of the link is 0.");
        assertThat(folder.resolve("half")).doesNotExist();
    }

    @Test
    void casesHaveNamesOfTheirOwn() {
        assertThat(SimulatedCases.all()).extracting(SimulatedCase::name).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource(TimestampQuality.class)
    void noClockRunsBackwardsOrStampsAheadOfTime(TimestampQuality quality) {
        long[] times = new long[1_000];
        for (int i = 0; i < times.length; i++) {
            times[i] = i * 1_211L;
        }
        long[] stamps = quality.stamps(times, 1);

        assertThat(stamps).isSorted();
        for (int i = 0; i < times.length; i++) {
            assertThat(stamps[i]).isGreaterThan(times[i] - 1_000);
        }
    }

    @Test
    void anInterruptStampsAllThatCameSinceTheFirst() {
        assertThat(TimestampQuality.COALESCED_50_US.stamps(new long[] {0, 10_000, 50_000, 50_001, 200_000}, 1))
                .containsExactly(50_000, 50_000, 50_000, 100_001, 250_000);
        assertThat(TimestampQuality.MICROSECOND.stamps(new long[] {999, 1_000, 2_500}, 1))
                .containsExactly(0, 1_000, 2_000);
    }

    @Test
    void addressesAreThoseOfTheHosts() throws IOException {
        PathScenario scenario = small("hosts").flows(3).apart(0).ownHosts();
        List<InetAddress> senders = new ArrayList<>();
        for (SimulatedFlow flow : PathSimulator.run(scenario)) {
            senders.add(flow.flow().a().getAddress());
        }

        assertThat(senders).doesNotHaveDuplicates().doesNotContain(InetAddress.getByName("10.0.0.2"));
    }
}
