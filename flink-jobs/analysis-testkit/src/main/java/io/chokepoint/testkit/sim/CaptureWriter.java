// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes a pcap file with nanoseconds: Ethernet, IP and TCP headers of each packet, and the length it had on the wire.
 * Checksums are zero.
 */
final class CaptureWriter implements AutoCloseable {
    private static final int MAGIC_NANOSECONDS = 0xa1b23c4d;
    private static final short MAJOR = 2;
    private static final short MINOR = 4;
    private static final int SNAP_BYTES = 128;
    private static final int LINK_TYPE_ETHERNET = 1;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private static final byte[] LOCAL_MAC = {2, 0, 0, 0, 0, 0};
    private static final short ETHERTYPE_IPV4 = 0x0800;
    private static final short ETHERTYPE_IPV6 = (short) 0x86dd;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int PROTOCOL_TCP = 6;

    private static final byte NOP = 1;
    private static final byte MSS = 2;
    private static final byte WINDOW_SCALE = 3;
    private static final byte SACK_PERMITTED = 4;
    private static final byte SACK = 5;
    private static final byte TIMESTAMPS = 8;

    private final OutputStream out;

    CaptureWriter(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
        out.write(ByteBuffer.allocate(FILE_HEADER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(MAGIC_NANOSECONDS)
                .putShort(MAJOR)
                .putShort(MINOR)
                .putInt(0)
                .putInt(0)
                .putInt(SNAP_BYTES)
                .putInt(LINK_TYPE_ETHERNET)
                .array());
    }

    void write(TapRecord tapped) throws IOException {
        Packet packet = tapped.packet();
        ByteBuffer frame = ByteBuffer.allocate(SNAP_BYTES);
        boolean isIpv4 = tapped.flow().isIpv4();
        putEthernet(frame, packet.fromA(), isIpv4);
        putIp(frame, tapped.flow(), packet);
        putTcp(frame, tapped.flow(), packet, isIpv4 ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES);
        out.write(ByteBuffer.allocate(RECORD_HEADER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt((int) (packet.timeNs() / NANOS_PER_SECOND))
                .putInt((int) (packet.timeNs() % NANOS_PER_SECOND))
                .putInt(frame.position())
                .putInt(Frame.LAYER_2_BYTES + packet.headerBytes() + packet.payloadBytes())
                .array());
        out.write(frame.array(), 0, frame.position());
    }

    private static void putEthernet(ByteBuffer frame, boolean fromA, boolean isIpv4) {
        byte[] destination = LOCAL_MAC.clone();
        byte[] source = LOCAL_MAC.clone();
        (fromA ? source : destination)[LOCAL_MAC.length - 1] = 1;
        frame.put(destination).put(source).putShort(isIpv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
    }

    private static void putIp(ByteBuffer frame, Flow flow, Packet packet) {
        InetSocketAddress source = packet.fromA() ? flow.a() : flow.b();
        InetSocketAddress destination = packet.fromA() ? flow.b() : flow.a();
        Packet.Ip ip = packet.ip();
        int ipBytes = packet.headerBytes() + packet.payloadBytes();
        if (flow.isIpv4()) {
            frame.put((byte) ((4 << 4) | (IPV4_HEADER_BYTES / 4)))
                    .put((byte) ip.trafficClass())
                    .putShort((short) ipBytes)
                    .putShort((short) ip.id())
                    .putShort((short) DO_NOT_FRAGMENT)
                    .put((byte) ip.timeToLive())
                    .put((byte) PROTOCOL_TCP)
                    .putShort((short) 0);
        } else {
            frame.putInt((6 << 28) | (ip.trafficClass() << 20))
                    .putShort((short) (ipBytes - IPV6_HEADER_BYTES))
                    .put((byte) PROTOCOL_TCP)
                    .put((byte) ip.timeToLive());
        }
        frame.put(source.getAddress().getAddress());
        frame.put(destination.getAddress().getAddress());
    }

    private static void putTcp(ByteBuffer frame, Flow flow, Packet packet, int ipHeaderBytes) {
        int end = frame.position() + packet.headerBytes() - ipHeaderBytes;
        InetSocketAddress source = packet.fromA() ? flow.a() : flow.b();
        InetSocketAddress destination = packet.fromA() ? flow.b() : flow.a();
        frame.putShort((short) source.getPort())
                .putShort((short) destination.getPort())
                .putInt(packet.sequenceNumber())
                .putInt(packet.acknowledgmentNumber())
                .put((byte) (((packet.headerBytes() - ipHeaderBytes) / 4) << 4))
                .put((byte) packet.flags())
                .putShort((short) packet.windowField())
                .putShort((short) 0)
                .putShort((short) 0);
        putOptions(frame, packet.options());
        while (frame.position() < end) {
            frame.put(NOP);
        }
    }

    private static void putOptions(ByteBuffer frame, TcpOptions options) {
        if (options.mss() != null) {
            frame.put(MSS).put((byte) 4).putShort(options.mss().shortValue());
        }
        if (options.sackPermitted()) {
            frame.put(SACK_PERMITTED).put((byte) 2);
        }
        if (options.timestamps() != null) {
            frame.put(TIMESTAMPS)
                    .put((byte) 10)
                    .putInt(options.timestamps().value())
                    .putInt(options.timestamps().echo());
        }
        if (options.windowScale() != null) {
            frame.put(WINDOW_SCALE).put((byte) 3).put(options.windowScale().byteValue());
        }
        if (!options.sackBlocks().isEmpty()) {
            frame.put(SACK).put((byte) (2 + 8 * options.sackBlocks().size()));
            for (TcpOptions.SackBlock block : options.sackBlocks()) {
                frame.putInt(block.left()).putInt(block.right());
            }
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
