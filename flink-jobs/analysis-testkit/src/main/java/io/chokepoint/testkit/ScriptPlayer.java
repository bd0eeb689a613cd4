// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes packets of lines: keeps the clock and where both sides are. */
final class ScriptPlayer {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long DEFAULT_START_NS = 1_767_225_600_000_000_000L; // 2026-01-01T00:00:00Z
    private static final Pattern ENDPOINT = Pattern.compile("(?:\\[([0-9a-fA-F:.]+)\\]|([0-9.]+)):(\\d+)");

    private final List<Packet> packets = new ArrayList<>();
    private Side a = new Side();
    private Side b = new Side();
    private Flow flow = Flow.between(endpoint("10.0.0.1:40000"), endpoint("10.0.0.2:443"));
    private long timeNs = DEFAULT_START_NS;
    private int mss = 1460;
    private int extensionBytes;
    private boolean stampsAll;

    /** One end of the flow as a sender. */
    private static final class Side {
        int initialSequenceNumber;
        long next; // relative: SYN is 0, the first payload byte 1
        int window = 65_535;
        int ipId;
        int timeToLive = 64;
        int trafficClass;
        int lastTimestampValue;
    }

    static Flow flow(Matcher m) {
        return new Flow(
                m.group("domain") == null ? 0 : Integer.parseInt(m.group("domain")),
                endpoint(m.group("a")),
                endpoint(m.group("b")),
                m.group("vlan") == null ? null : Integer.valueOf(m.group("vlan")),
                m.group("tunnel") == null ? null : Long.valueOf(m.group("tunnel")));
    }

    private static InetSocketAddress endpoint(String text) {
        Matcher m = ENDPOINT.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException("expected ADDRESS:PORT or [ADDRESS]:PORT, got " + text);
        }
        try {
            InetAddress address = InetAddress.getByName(m.group(1) != null ? m.group(1) : m.group(2));
            return new InetSocketAddress(address, Integer.parseInt(m.group(3)));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("no address: " + text, e);
        }
    }

    Flow flow() {
        return flow;
    }

    void flow(Flow newFlow) {
        flow = newFlow;
    }

    void startAt(long startNs) {
        timeNs = startNs;
    }

    void cutAt(int segmentBytes) {
        mss = segmentBytes;
    }

    void extendHeaders(int bytes) {
        extensionBytes = bytes;
    }

    void startAnew() {
        a = new Side();
        b = new Side();
    }

    void stampAll() {
        stampsAll = true;
    }

    void initialSequenceNumber(boolean ofA, int number) {
        (ofA ? a : b).initialSequenceNumber = number;
    }

    List<Packet> packets() {
        return List.copyOf(packets);
    }

    void play(PacketLine line) {
        timeNs += line.gapNs();
        Side sender = line.fromA() ? a : b;
        adopt(sender, line.overrides());
        Long sequence = line.sequence();
        if (sequence != null) {
            boolean standsForNext = sequence == 0 && line.bytes() == 0 && (line.flags() & Packet.SYN) == 0;
            send(line, standsForNext ? sender.next : sequence, line.bytes(), line.flags());
            return;
        }
        for (int left = line.bytes(); left > 0; left -= mss) {
            int flags = left > mss ? line.flags() & ~Packet.PSH : line.flags();
            send(line, sender.next, Math.min(left, mss), flags);
        }
    }

    private static void adopt(Side sender, PacketLine.Overrides overrides) {
        sender.window = or(overrides.window(), sender.window);
        sender.timeToLive = or(overrides.timeToLive(), sender.timeToLive);
        sender.trafficClass = or(overrides.trafficClass(), sender.trafficClass);
        sender.ipId = or(overrides.ipId(), sender.ipId + 1) - 1;
    }

    private static int or(@Nullable Integer value, int otherwise) {
        return value == null ? otherwise : value;
    }

    private void send(PacketLine line, long sequence, int bytes, int flags) {
        Side sender = line.fromA() ? a : b;
        Side receiver = line.fromA() ? b : a;
        TcpOptions options = options(line, sender, receiver);
        sender.ipId = (sender.ipId + 1) & 0xffff;
        packets.add(new Packet(
                timeNs,
                line.fromA(),
                sender.initialSequenceNumber + (int) sequence,
                acknowledgment(line, receiver),
                bytes,
                Packet.headerBytes(flow, options) + extensionBytes,
                flags,
                sender.window,
                new Packet.Ip(flow.isIpv4() ? sender.ipId : 0, sender.timeToLive, sender.trafficClass),
                options));
        int numbersTaken = bytes + ((flags & Packet.SYN) != 0 ? 1 : 0) + ((flags & Packet.FIN) != 0 ? 1 : 0);
        sender.next = Math.max(sender.next, sequence + numbersTaken);
    }

    private static int acknowledgment(PacketLine line, Side receiver) {
        if ((line.flags() & Packet.ACK) == 0 && line.ack() == null) {
            return 0;
        }
        Long ack = line.ack();
        boolean isRelative = ack == null || line.ackIsRelative();
        long number = (isRelative ? receiver.next : 0) + (ack == null ? 0 : ack);
        return receiver.initialSequenceNumber + (int) number;
    }

    private TcpOptions options(PacketLine line, Side sender, Side receiver) {
        PacketLine.Options wanted = line.overrides().options();
        if (wanted == null) {
            return stampsAll ? stamped(TcpOptions.NONE, null, null, sender, receiver) : TcpOptions.NONE;
        }
        List<TcpOptions.SackBlock> blocks = wanted.sackBlocks().stream()
                .map(edges -> new TcpOptions.SackBlock(
                        receiver.initialSequenceNumber + (int) edges[0],
                        receiver.initialSequenceNumber + (int) edges[1]))
                .toList();
        TcpOptions options =
                new TcpOptions(null, wanted.mss(), wanted.windowScale(), wanted.sackPermitted(), blocks, false);
        return wanted.stamped() || stampsAll
                ? stamped(options, wanted.timestampValue(), wanted.timestampEcho(), sender, receiver)
                : options;
    }

    private TcpOptions stamped(
            TcpOptions options, @Nullable Long value, @Nullable Long echo, Side sender, Side receiver) {
        sender.lastTimestampValue = value == null ? (int) (timeNs / NANOS_PER_MILLI) : value.intValue();
        return options.withTimestamps(
                sender.lastTimestampValue, echo == null ? receiver.lastTimestampValue : echo.intValue());
    }
}
