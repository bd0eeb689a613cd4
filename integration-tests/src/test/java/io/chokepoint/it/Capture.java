// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import io.chokepoint.testkit.PcapWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A capture of Ethernet frames as a pcap file with nanoseconds, to be read, spoiled and written.
 *
 * @param linkType type of its frames, 1 is Ethernet
 */
record Capture(int linkType, List<Frame> frames) {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int MAGIC_NANOS = 0xa1b23c4d;
    private static final int MAGIC_MICROS = 0xa1b2c3d4;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int SNAP_LENGTH = 262_144;
    private static final int ETHER_TYPE_OFFSET = 12;
    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86dd;
    private static final int VLAN = 0x8100;
    private static final int VLAN_TAG_BYTES = 4;
    private static final int IP_OFFSET = 14;
    private static final int IP_HEADER_BYTES = 20;
    private static final int TCP_OFFSET = IP_OFFSET + IP_HEADER_BYTES;

    /**
     * One frame.
     *
     * @param wireLength its length on the wire, of which {@code bytes} were captured
     */
    record Frame(long seconds, int nanos, int wireLength, byte[] bytes) {
        /** The same frame with other bytes. */
        Frame with(byte[] other) {
            return new Frame(seconds, nanos, other.length, other);
        }

        /** The same frame at another second. */
        Frame at(long otherSeconds) {
            return new Frame(otherSeconds, nanos, wireLength, bytes);
        }
    }

    /** Reads a pcap file of this byte order. */
    static Capture read(Path file) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int magic = in.getInt();
        if (magic != MAGIC_NANOS && magic != MAGIC_MICROS) {
            throw new AssertionError(file + " has the magic number " + Integer.toHexString(magic));
        }
        int linkType = in.getInt(FILE_HEADER_BYTES - Integer.BYTES);
        in.position(FILE_HEADER_BYTES);
        List<Frame> frames = new ArrayList<>();
        while (in.hasRemaining()) {
            long seconds = Integer.toUnsignedLong(in.getInt());
            int fraction = in.getInt();
            byte[] bytes = new byte[in.getInt()];
            int wireLength = in.getInt();
            in.get(bytes);
            frames.add(new Frame(seconds, magic == MAGIC_NANOS ? fraction : fraction * 1000, wireLength, bytes));
        }
        return new Capture(linkType, frames);
    }

    /** Writes it. */
    Path write(Path file) throws IOException {
        try (PcapWriter writer = new PcapWriter(file, linkType, SNAP_LENGTH)) {
            for (Frame frame : frames) {
                writer.write(
                        frame.seconds() * NANOS_PER_SECOND + frame.nanos(),
                        ByteBuffer.wrap(frame.bytes()),
                        frame.wireLength());
            }
        }
        return file;
    }

    /** This capture with a frame, made from a good one, before each of its first {@code count} tenth frames. */
    Capture withBad(int count, Spoiler spoiler) {
        List<Frame> all = new ArrayList<>();
        int added = 0;
        for (int i = 0; i < frames.size(); i++) {
            if (i % 10 == 9 && added < count) {
                all.add(spoiler.spoil(frames.get(i)));
                added++;
            }
            all.add(frames.get(i));
        }
        if (added < count) {
            throw new AssertionError("only " + frames.size() + " frames, too few for " + count + " bad ones");
        }
        return new Capture(linkType, all);
    }

    /** This capture, of Ethernet and IPv4 without options, with each packet inside another one of protocol IP in IP. */
    Capture inTunnel() {
        return new Capture(linkType, frames.stream().map(Capture::inTunnel).toList());
    }

    /** The same packets between other hosts, of which there are 256 times as many; checksums stay as they are. */
    Capture betweenOthers(int which) {
        return new Capture(
                linkType,
                frames.stream().map(frame -> betweenOthers(frame, which)).toList());
    }

    private static Frame betweenOthers(Frame frame, int which) {
        byte[] bytes = frame.bytes().clone();
        boolean isTagged = ByteBuffer.wrap(bytes).getShort(ETHER_TYPE_OFFSET) == (short) VLAN;
        int tag = isTagged ? VLAN_TAG_BYTES : 0;
        int ip = IP_OFFSET + tag;
        int etherType = ByteBuffer.wrap(bytes).getShort(ETHER_TYPE_OFFSET + tag) & 0xffff;
        if (etherType == IPV4) {
            bytes[ip + 13] ^= (byte) which;
            bytes[ip + 17] ^= (byte) which;
        } else if (etherType == IPV6) {
            bytes[ip + 9] ^= (byte) which;
            bytes[ip + 25] ^= (byte) which;
        }
        return new Frame(frame.seconds(), frame.nanos(), frame.wireLength(), bytes);
    }

    private static Frame inTunnel(Frame frame) {
        byte[] bytes = frame.bytes();
        ByteBuffer out = ByteBuffer.allocate(bytes.length + IP_HEADER_BYTES);
        out.put(bytes, 0, TCP_OFFSET).put(bytes, IP_OFFSET, bytes.length - IP_OFFSET);
        int innerBytes = Short.toUnsignedInt(out.getShort(IP_OFFSET + 2));
        out.putShort(IP_OFFSET + 2, (short) (innerBytes + IP_HEADER_BYTES)).put(IP_OFFSET + 9, (byte) 4);
        return new Frame(frame.seconds(), frame.nanos(), frame.wireLength() + IP_HEADER_BYTES, out.array());
    }

    /** Makes a bad frame out of a good one of Ethernet, IPv4 without options, TCP. */
    enum Spoiler {
        NOT_IP("frames_not_ip") {
            @Override
            void spoil(ByteBuffer frame) {
                frame.putShort(12, (short) 0x0806); // ARP
            }
        },
        NOT_TCP("frames_not_tcp") {
            @Override
            void spoil(ByteBuffer frame) {
                frame.put(IP_OFFSET + 9, (byte) 17); // UDP
            }
        },
        LATER_FRAGMENT("frames_fragment_not_first") {
            @Override
            void spoil(ByteBuffer frame) {
                frame.putShort(IP_OFFSET + 6, (short) 100);
            }
        },
        IP_HEADER_TOO_SHORT("frames_malformed_ip") {
            @Override
            void spoil(ByteBuffer frame) {
                frame.put(IP_OFFSET, (byte) 0x44); // 16 bytes of header
            }
        },
        TCP_HEADER_TOO_SHORT("frames_malformed_tcp") {
            @Override
            void spoil(ByteBuffer frame) {
                frame.put(TCP_OFFSET + 12, (byte) 0x40); // 16 bytes of header
            }
        },
        CUT_IN_HEADER("frames_truncated") {
            @Override
            Frame spoil(Frame frame) {
                byte[] cut = Arrays.copyOf(frame.bytes(), TCP_OFFSET + 4);
                return new Frame(frame.seconds(), frame.nanos(), frame.wireLength(), cut);
            }
        };

        /** The counter that must count it. */
        final String counter;

        Spoiler(String counter) {
            this.counter = counter;
        }

        Frame spoil(Frame frame) {
            byte[] copy = frame.bytes().clone();
            spoil(ByteBuffer.wrap(copy));
            return new Frame(frame.seconds(), frame.nanos(), frame.wireLength(), copy);
        }

        void spoil(ByteBuffer frame) {
            throw new UnsupportedOperationException(name());
        }
    }
}
