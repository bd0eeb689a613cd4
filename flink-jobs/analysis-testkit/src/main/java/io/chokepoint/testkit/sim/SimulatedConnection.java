// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One flow of a simulation: its two hosts, its way over the path, and what the taps note down. */
final class SimulatedConnection {
    private static final long HOST_TO_TAP_NS = 50_000;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long SYN_TIMEOUT_NS = 1_000 * NANOS_PER_MILLI;
    private static final int ACK_IP_BYTES = 52; // with timestamps; SACK blocks only cross the way without queue
    private static final int SYN_IP_BYTES = 60;
    private static final int SERVER_PORT = 443;
    private static final int FIRST_CLIENT_PORT = 40_000;
    private static final int TTL_AT_ITS_HOST = 64;
    private static final int HOPS_BETWEEN_TAPS = 4;
    private static final int SENDER_WINDOW_SCALE = 7;
    private static final int TIMESTAMP_BYTES = 12;

    private final PathScenario scenario;
    private final EventQueue events;
    private final Random random;
    private final Flow flow;
    private final int senderIsn;
    private final int receiverIsn;
    private final List<Packet> before = new ArrayList<>();
    private final List<Packet> after = new ArrayList<>();
    private final Truth truth;
    private final Sender sender;
    private final Receiver receiver;
    private final Link<Segment> access;
    private final Link<Runnable> bottleneck;
    private final int[] ipId = new int[2];
    private final long[] lastArrivalNs = new long[2];
    private boolean started;

    SimulatedConnection(PathScenario scenario, EventQueue events, Random random, Link<Runnable> bottleneck, int index) {
        this.scenario = scenario;
        this.events = events;
        this.random = random;
        this.bottleneck = bottleneck;
        flow = Flow.between(
                new InetSocketAddress("10.0.0.1", FIRST_CLIENT_PORT + index),
                new InetSocketAddress("10.0.0.2", SERVER_PORT));
        senderIsn = -random.nextInt(1 << 20); // the first megabyte crosses the wrap
        receiverIsn = random.nextInt();
        truth = new Truth();
        sender = new Sender(events, scenario, truth, this::leaveSender);
        receiver = new Receiver(events, scenario, this::leaveReceiver);
        access = new Link<>(events, scenario.accessBitsPerSecond, Long.MAX_VALUE, this::crossFirstTap);
    }

    SimulatedFlow seen() {
        truth.end(events.nowNs());
        return new SimulatedFlow(flow, PathSimulator.inOrder(before), PathSimulator.inOrder(after), truth);
    }

    /** The client sends its SYN, and again until it is answered. */
    void connect() {
        connect(SYN_TIMEOUT_NS);
    }

    private void connect(long timeoutNs) {
        if (started) {
            return;
        }
        if (scenario.serverSends) {
            leaveReceiver(handshake(false, Packet.SYN, 0, 0));
        } else {
            leaveSender(handshake(true, Packet.SYN, 0, 0));
        }
        events.after(timeoutNs, () -> connect(2 * timeoutNs));
    }

    private Segment handshake(boolean fromSender, int flags, long sequence, long echo) {
        long window = fromSender
                ? PathScenario.SENDER_WINDOW_BYTES
                : Math.min(PathScenario.MAX_UNSCALED_WINDOW, scenario.receiveBufferBytes);
        long nowMs = events.nowNs() / NANOS_PER_MILLI;
        return new Segment(fromSender, sequence, 0, 1, window, flags, nowMs, echo, List.of());
    }

    private void leaveSender(Segment segment) {
        access.offer(segment, ipBytes(segment));
    }

    private void crossFirstTap(Segment segment) {
        boolean isLate = segment.bytes() > 0 && random.nextDouble() < scenario.reorderProbability;
        Packet left = packet(segment); // numbered in the order of sending, whatever overtakes it
        events.after(HOST_TO_TAP_NS + (isLate ? scenario.reorderDelayNs : 0), () -> {
            Packet packet = left.at(events.nowNs());
            before.add(packet);
            if (!bottleneck.offer(() -> leaveBottleneck(segment, packet), ipBytes(segment))) {
                truth.countDrop();
            }
        });
    }

    private void leaveBottleneck(Segment segment, Packet packet) {
        if (segment.bytes() > 0 && random.nextDouble() < scenario.lossProbability) {
            truth.countDrop();
            return;
        }
        events.after(delayNs(0), () -> {
            after.add(atOtherTap(packet));
            events.after(HOST_TO_TAP_NS, () -> arriveAtReceiver(segment));
        });
    }

    private void leaveReceiver(Segment segment) {
        events.after(HOST_TO_TAP_NS, () -> {
            Packet packet = packet(segment);
            after.add(packet);
            events.after(delayNs(1), () -> {
                before.add(atOtherTap(packet));
                events.after(HOST_TO_TAP_NS, () -> arriveAtSender(segment));
            });
        });
    }

    /** Delay between the taps: half of what the hosts leave of the round trip, with jitter that keeps the order. */
    private long delayNs(int way) {
        long delayNs = Math.max(0, scenario.roundTripNs / 2 - 2 * HOST_TO_TAP_NS);
        long jitterNs = scenario.jitterNs == 0 ? 0 : (long) (random.nextDouble() * scenario.jitterNs);
        lastArrivalNs[way] = Math.max(lastArrivalNs[way], events.nowNs() + delayNs + jitterNs);
        return lastArrivalNs[way] - events.nowNs();
    }

    private void arriveAtReceiver(Segment segment) {
        if ((segment.flags() & Packet.SYN) == 0) {
            if (segment.bytes() > 0 || (segment.flags() & Packet.FIN) != 0) {
                receiver.onSegment(segment);
            }
        } else if (scenario.serverSends) {
            leaveReceiver(handshake(false, Packet.ACK, 1, segment.timestampValue()));
        } else {
            leaveReceiver(handshake(false, Packet.SYN | Packet.ACK, 0, segment.timestampValue()));
        }
    }

    private void arriveAtSender(Segment segment) {
        if ((segment.flags() & Packet.SYN) == 0) {
            if (started) {
                sender.onAck(segment);
            } else {
                start(segment);
            }
        } else if (scenario.serverSends) {
            leaveSender(handshake(true, Packet.SYN | Packet.ACK, 0, segment.timestampValue()));
        } else {
            leaveSender(handshake(true, Packet.ACK, 1, segment.timestampValue()));
            if (!started) {
                start(segment);
            }
        }
    }

    private void start(Segment segment) {
        started = true;
        sender.start(segment.windowBytes(), segment.timestampValue());
    }

    private static int ipBytes(Segment segment) {
        return segment.bytes() + ((segment.flags() & Packet.SYN) != 0 ? SYN_IP_BYTES : ACK_IP_BYTES);
    }

    /** What the tap at its own host sees of a segment. */
    private Packet packet(Segment segment) {
        boolean isSyn = (segment.flags() & Packet.SYN) != 0;
        int isn = segment.fromSender() ? senderIsn : receiverIsn;
        int peerIsn = segment.fromSender() ? receiverIsn : senderIsn;
        int scale = segment.fromSender() ? SENDER_WINDOW_SCALE : scenario.windowScale;
        TcpOptions options = options(segment, isSyn, scale, peerIsn);
        int side = segment.fromSender() ? 0 : 1;
        ipId[side] = (ipId[side] + 1) & 0xffff;
        return new Packet(
                events.nowNs(),
                segment.fromSender() != scenario.serverSends,
                isn + (int) segment.sequence(),
                (segment.flags() & Packet.ACK) == 0 ? 0 : peerIsn + (int) segment.ack(),
                segment.bytes(),
                Packet.headerBytes(flow, options),
                segment.flags(),
                (int) (isSyn ? segment.windowBytes() : segment.windowBytes() >> scale),
                new Packet.Ip(ipId[side], TTL_AT_ITS_HOST, 0),
                options);
    }

    private TcpOptions options(Segment segment, boolean isSyn, int scale, int peerIsn) {
        TcpOptions options = isSyn ? TcpOptions.ofSyn(scenario.mss + TIMESTAMP_BYTES, scale, true) : TcpOptions.NONE;
        return options.withTimestamps((int) segment.timestampValue(), (int) segment.timestampEcho())
                .withSackBlocks(segment.sackBlocks().stream()
                        .map(block -> new TcpOptions.SackBlock(peerIsn + (int) block[0], peerIsn + (int) block[1]))
                        .toList());
    }

    /** The same packet at the other tap. */
    private Packet atOtherTap(Packet packet) {
        return new Packet(
                events.nowNs(),
                packet.fromA(),
                packet.sequenceNumber(),
                packet.acknowledgmentNumber(),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                new Packet.Ip(packet.ip().id(), TTL_AT_ITS_HOST - HOPS_BETWEEN_TAPS, 0),
                packet.options());
    }
}
