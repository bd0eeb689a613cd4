// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Packets as a capture of Ethernet: pcap with nanoseconds, {@value #SNAP_BYTES} bytes of each frame. Frames are padded to
 * the least that Ethernet carries; header bytes beyond the usual become IP options of IPv4 or a header of destination
 * options of IPv6; checksums are 0, as on a host that leaves them to its card.
 */
public final class CaptureFile {
    private static final int MAGIC_NANOS = 0xa1b23c4d;
    private static final int LINK_TYPE_ETHERNET = 1;
    private static final int SNAP_BYTES = 160;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final int MIN_FRAME_BYTES = 60;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private static final int MAX_LINK_BYTES = 18;
    private static final int TYPE_VLAN = 0x8100;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int TCP_HEADER_BYTES = 20;
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_DESTINATION_OPTIONS = 60;
    private static final int OPTION_PAD_N = 1;

    private static final int OPTION_NOP = 1;
    private static final int OPTION_MSS = 2;
    private static final int OPTION_WINDOW_SCALE = 3;
    private static final int OPTION_SACK_PERMITTED = 4;
    private static final int OPTION_SACK = 5;
    private static final int OPTION_TIMESTAMPS = 8;

    private record Frame(long timeNs, ByteBuffer bytes) {}

    private final List<Frame> frames = new ArrayList<>();

    /** Adds packets of a flow of domain 0 outside of tunnels; flows may be added in any order. */
    public CaptureFile add(Flow flow, List<Packet> packets) {
        if (flow.domain() != 0 || flow.tunnelId() != null) {
            throw new IllegalArgumentException("a capture knows no domain and, as yet, no tunnel: " + flow);
        }
        packets.forEach(packet -> frames.add(new Frame(packet.timeNs(), frame(flow, packet))));
        return this;
    }

    /** Writes the frames by their times; those of one time in the order in which they were added. */
    public Path write(Path file) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(littleEndian(FILE_HEADER_BYTES)
                .putInt(MAGIC_NANOS)
                .putShort((short) 2)
                .putShort((short) 4)
                .putLong(0)
                .putInt(SNAP_BYTES)
                .putInt(LINK_TYPE_ETHERNET)
                .array());
        frames.stream().sorted(Comparator.comparingLong(Frame::timeNs)).forEach(frame -> writeFrame(out, frame));
        return Files.write(file, out.toByteArray());
    }

    private static void writeFrame(ByteArrayOutputStream out, Frame frame) {
        int captured = Math.min(frame.bytes.limit(), SNAP_BYTES);
        out.writeBytes(littleEndian(RECORD_HEADER_BYTES)
                .putInt((int) (frame.timeNs / NANOS_PER_SECOND))
                .putInt((int) (frame.timeNs % NANOS_PER_SECOND))
                .putInt(captured)
                .putInt(frame.bytes.limit())
                .array());
        byte[] bytes = new byte[captured];
        frame.bytes.get(0, bytes);
        out.writeBytes(bytes);
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer frame(Flow flow, Packet packet) {
        ByteBuffer out = ByteBuffer.allocate(
                Math.max(MIN_FRAME_BYTES, MAX_LINK_BYTES + packet.headerBytes() + packet.payloadBytes()));
        out.put(new byte[] {2, 0, 0, 0, 0, (byte) (packet.fromA() ? 2 : 1)});
        out.put(new byte[] {2, 0, 0, 0, 0, (byte) (packet.fromA() ? 1 : 2)});
        Integer vlanId = flow.vlanId();
        if (vlanId != null) {
            out.putShort((short) TYPE_VLAN).putShort(vlanId.shortValue());
        }
        putIp(out, flow, packet);
        putTcp(out, packet, packet.fromA() ? flow.a() : flow.b(), packet.fromA() ? flow.b() : flow.a());
        out.position(Math.max(out.position() + packet.payloadBytes(), MIN_FRAME_BYTES));
        return out.flip();
    }

    private static void putIp(ByteBuffer out, Flow flow, Packet packet) {
        InetAddress from = (packet.fromA() ? flow.a() : flow.b()).getAddress();
        InetAddress to = (packet.fromA() ? flow.b() : flow.a()).getAddress();
        Packet.Ip ip = packet.ip();
        int beyond = packet.headerBytes() - Packet.headerBytes(flow, packet.options());
        int totalBytes = packet.headerBytes() + packet.payloadBytes();
        if (flow.isIpv4()) {
            out.putShort((short) TYPE_IPV4);
            out.put((byte) (0x40 | (IPV4_HEADER_BYTES + beyond) / 4)).put((byte) ip.trafficClass());
            out.putShort((short) totalBytes).putShort((short) ip.id()).putShort((short) 0);
            out.put((byte) ip.timeToLive()).put((byte) PROTOCOL_TCP).putShort((short) 0);
            out.put(from.getAddress()).put(to.getAddress());
            for (int i = 0; i < beyond; i++) {
                out.put((byte) OPTION_NOP);
            }
            return;
        }
        out.putShort((short) TYPE_IPV6);
        out.putInt(6 << 28 | ip.trafficClass() << 20).putShort((short) (totalBytes - IPV6_HEADER_BYTES));
        out.put((byte) (beyond > 0 ? PROTOCOL_DESTINATION_OPTIONS : PROTOCOL_TCP))
                .put((byte) ip.timeToLive());
        out.put(from.getAddress()).put(to.getAddress());
        if (beyond > 0) {
            out.put((byte) PROTOCOL_TCP).put((byte) (beyond / 8 - 1));
            out.put((byte) OPTION_PAD_N).put((byte) (beyond - 4)).put(new byte[beyond - 4]);
        }
    }

    private static void putTcp(ByteBuffer out, Packet packet, InetSocketAddress from, InetSocketAddress to) {
        int headerBytes = TCP_HEADER_BYTES + packet.options().wireBytes();
        out.putShort((short) from.getPort()).putShort((short) to.getPort());
        out.putInt(packet.sequenceNumber()).putInt(packet.acknowledgmentNumber());
        out.put((byte) ((headerBytes / 4) << 4)).put((byte) packet.flags());
        out.putShort((short) packet.windowField()).putInt(0);
        int end = out.position() + packet.options().wireBytes();
        putOptions(out, packet.options());
        while (out.position() < end) {
            out.put((byte) OPTION_NOP);
        }
    }

    private static void putOptions(ByteBuffer out, TcpOptions options) {
        Integer mss = options.mss();
        if (mss != null) {
            out.put((byte) OPTION_MSS).put((byte) 4).putShort(mss.shortValue());
        }
        if (options.sackPermitted()) {
            out.put((byte) OPTION_SACK_PERMITTED).put((byte) 2);
        }
        TcpOptions.Timestamps stamps = options.timestamps();
        if (stamps != null) {
            out.put((byte) OPTION_TIMESTAMPS).put((byte) 10);
            out.putInt(stamps.value()).putInt(stamps.echo());
        }
        Integer scale = options.windowScale();
        if (scale != null) {
            out.put((byte) OPTION_WINDOW_SCALE).put((byte) 3).put(scale.byteValue());
        }
        if (!options.sackBlocks().isEmpty()) {
            int count = options.sackBlocks().size();
            out.put((byte) OPTION_SACK).put((byte) (2 + 8 * count));
            options.sackBlocks().forEach(block -> out.putInt(block.left()).putInt(block.right()));
        }
    }
}
