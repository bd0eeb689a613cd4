// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Writes the table of columns in schemas/README.md down as plainly as it reads: one method a coding, no speed. */
final class ColumnEncoder {
    private static final int BITS_PER_BYTE = 8;

    private final Flow flow;
    private final List<Packet> packets;
    private final SortedMap<Integer, byte[]> columns = new TreeMap<>();

    private ColumnEncoder(Flow flow, List<Packet> packets) {
        this.flow = flow;
        this.packets = packets;
    }

    /** The columns of a run by ascending id; empty ones are left out. */
    static SortedMap<Integer, byte[]> encode(Flow flow, List<Packet> packets) {
        ColumnEncoder encoder = new ColumnEncoder(flow, packets);
        encoder.encodeAll();
        encoder.columns.values().removeIf(data -> data.length == 0);
        return encoder.columns;
    }

    private void encodeAll() {
        columns.put(1, times());
        columns.put(2, directions());
        columns.put(3, zigzags(sequenceDifferences()));
        columns.put(4, zigzags(differences(packets, Packet::acknowledgmentNumber)));
        columns.put(5, varints(packets, Packet::payloadBytes));
        columns.put(6, runsOf(differences(packets, Packet::headerBytes)));
        columns.put(7, runsOf(differences(packets, Packet::flags)));
        columns.put(8, zigzags(differences(packets, Packet::windowField)));
        if (flow.isIpv4()) {
            columns.put(9, runsOf(ipIdDifferences()));
        }
        columns.put(10, runsOf(differences(packets, packet -> packet.ip().timeToLive())));
        columns.put(11, runsOf(differences(packets, packet -> packet.ip().trafficClass())));
        columns.put(12, runsOf(differences(packets, packet -> packet.options().presentBits())));
        List<Packet> stamped = packets.stream()
                .filter(packet -> packet.options().timestamps() != null)
                .toList();
        columns.put(13, zigzags(differences(stamped, packet -> stampOf(packet).value())));
        columns.put(14, zigzags(differences(stamped, packet -> stampOf(packet).echo())));
        columns.put(15, optional(TcpOptions::mss));
        columns.put(16, optional(TcpOptions::windowScale));
        columns.put(17, sackBlocks());
    }

    private static TcpOptions.Timestamps stampOf(Packet packet) {
        TcpOptions.Timestamps stamps = packet.options().timestamps();
        if (stamps == null) {
            throw new IllegalArgumentException("no timestamps in " + packet);
        }
        return stamps;
    }

    private int direction(Packet packet) {
        return packet.fromA() == flow.isALow() ? 0 : 1;
    }

    private byte[] times() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long before = 0;
        for (Packet packet : packets) {
            putZigzag(out, packet.timeNs() - before);
            before = packet.timeNs();
        }
        return out.toByteArray();
    }

    private byte[] directions() {
        byte[] bitmap = new byte[(packets.size() + BITS_PER_BYTE - 1) / BITS_PER_BYTE];
        for (int i = 0; i < packets.size(); i++) {
            bitmap[i / BITS_PER_BYTE] |= (byte) (direction(packets.get(i)) << (i % BITS_PER_BYTE));
        }
        return bitmap;
    }

    private List<Integer> differences(List<Packet> of, ToIntFunction<Packet> value) {
        List<Integer> differences = new ArrayList<>();
        int[] before = new int[2];
        for (Packet packet : of) {
            differences.add(value.applyAsInt(packet) - before[direction(packet)]);
            before[direction(packet)] = value.applyAsInt(packet);
        }
        return differences;
    }

    private List<Integer> sequenceDifferences() {
        List<Integer> differences = new ArrayList<>();
        int[] predicted = new int[2];
        for (Packet packet : packets) {
            differences.add(packet.sequenceNumber() - predicted[direction(packet)]);
            predicted[direction(packet)] = packet.nextSequenceNumber();
        }
        return differences;
    }

    private List<Integer> ipIdDifferences() {
        List<Integer> differences = new ArrayList<>();
        int[] before = {0xffff, 0xffff};
        for (Packet packet : packets) {
            differences.add((int) (short) (packet.ip().id() - (before[direction(packet)] + 1)));
            before[direction(packet)] = packet.ip().id();
        }
        return differences;
    }

    private byte[] optional(Function<TcpOptions, @Nullable Integer> option) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Packet packet : packets) {
            Integer value = option.apply(packet.options());
            if (value != null) {
                putVarint(out, value);
            }
        }
        return out.toByteArray();
    }

    private byte[] sackBlocks() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Packet packet : packets) {
            List<TcpOptions.SackBlock> blocks = packet.options().sackBlocks();
            if (!blocks.isEmpty()) {
                putVarint(out, blocks.size());
            }
            for (TcpOptions.SackBlock block : blocks) {
                putZigzag(out, block.left() - packet.acknowledgmentNumber());
                putZigzag(out, block.right() - block.left());
            }
        }
        return out.toByteArray();
    }

    private static byte[] varints(List<Packet> of, ToIntFunction<Packet> value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        of.forEach(packet -> putVarint(out, value.applyAsInt(packet)));
        return out.toByteArray();
    }

    private static byte[] zigzags(List<Integer> values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        values.forEach(value -> putZigzag(out, value));
        return out.toByteArray();
    }

    /** Pairs (value, how often), the longest possible ones. */
    private static byte[] runsOf(List<Integer> values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < values.size(); ) {
            int stop = i + 1;
            while (stop < values.size() && values.get(stop).equals(values.get(i))) {
                stop++;
            }
            putZigzag(out, values.get(i));
            putVarint(out, stop - i);
            i = stop;
        }
        return out.toByteArray();
    }

    static void putZigzag(ByteArrayOutputStream out, long value) {
        putVarint(out, (value << 1) ^ (value >> 63));
    }

    static void putVarint(ByteArrayOutputStream out, long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
