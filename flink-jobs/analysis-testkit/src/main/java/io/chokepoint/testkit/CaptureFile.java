// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Packets as a capture of Ethernet: pcap with nanoseconds, of each frame the headers, but not less than the
 * {@value #MIN_FRAME_BYTES} bytes to which Ethernet pads. Header bytes beyond the usual become IP options of IPv4 or a
 * header of destination options of IPv6; checksums are 0, as on a host that leaves them to its card.
 */
public final class CaptureFile {
    private static final int MIN_FRAME_BYTES = 60;
    private static final int MAX_CAPTURED_BYTES = 160;

    private static final int TYPE_VLAN = 0x8100;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int TCP_HEADER_BYTES = 20;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_DESTINATION_OPTIONS = 60;
    private static final int OPTION_PAD_N = 1;

    private static final int OPTION_NOP = 1;
    private static final int OPTION_MSS = 2;
    private static final int OPTION_WINDOW_SCALE = 3;
    private static final int OPTION_SACK_PERMITTED = 4;
    private static final int OPTION_SACK = 5;
    private static final int OPTION_TIMESTAMPS = 8;

    private record Frame(long timeNs, ByteBuffer captured, int wireBytes) {}

    private final List<Frame> frames = new ArrayList<>();

    /** Adds packets of a flow of domain 0 outside of tunnels; flows may be added in any order. */
    public CaptureFile add(Flow flow, List<Packet> packets) {
        packets.forEach(packet -> add(flow, packet));
        return this;
    }

    /** Adds one packet of a flow of domain 0 outside of tunnels. */
    public CaptureFile add(Flow flow, Packet packet) {
        if (flow.domain() != 0 || flow.tunnelId() != null) {
            throw new IllegalArgumentException("a capture knows no domain and, as yet, no tunnel: " + flow);
        }
        frames.add(frame(flow, packet));
        return this;
    }

    /** Writes the frames by their times; those of one time in the order in which they were added. */
    public Path write(Path file) throws IOException {
        try (PcapWriter writer = new PcapWriter(file, PcapWriter.ETHERNET, MAX_CAPTURED_BYTES)) {
            frames.sort(Comparator.comparingLong(Frame::timeNs));
            for (Frame frame : frames) {
                writer.write(frame.timeNs, frame.captured, frame.wireBytes);
            }
        }
        return file;
    }

    private static Frame frame(Flow flow, Packet packet) {
        ByteBuffer headers = headers(flow, packet);
        int wireBytes = Math.max(headers.position() + packet.payloadBytes(), MIN_FRAME_BYTES);
        headers.position(Math.max(headers.position(), MIN_FRAME_BYTES)).flip();
        return new Frame(packet.timeNs(), headers, wireBytes);
    }

    /** What is captured, up to the position. */
    private static ByteBuffer headers(Flow flow, Packet packet) {
        ByteBuffer out = ByteBuffer.allocate(MAX_CAPTURED_BYTES);
        out.put(new byte[] {2, 0, 0, 0, 0, (byte) (packet.fromA() ? 2 : 1)});
        out.put(new byte[] {2, 0, 0, 0, 0, (byte) (packet.fromA() ? 1 : 2)});
        Integer vlanId = flow.vlanId();
        if (vlanId != null) {
            out.putShort((short) TYPE_VLAN).putShort(vlanId.shortValue());
        }
        putIp(out, flow, packet);
        putTcp(out, packet, packet.fromA() ? flow.a() : flow.b(), packet.fromA() ? flow.b() : flow.a());
        return out;
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
            out.putShort((short) totalBytes).putShort((short) ip.id()).putShort((short) DO_NOT_FRAGMENT);
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
