// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One flow of a simulation: its two hosts, its way over the path, and what the taps note down. */
final class SimulatedConnection {
    private static final long SYN_TIMEOUT_NS = 1_000_000_000;
    private static final int ACK_IP_BYTES = 52; // with timestamps; SACK blocks only cross the way without queue
    private static final int SYN_IP_BYTES = 60;
    private static final int IPV6_MORE_BYTES = 20;
    private static final int RECEIVER_HOST = 2;
    private static final int FIRST_SENDER_HOST = 1;
    private static final int SERVER_PORT = 443;
    private static final int FIRST_CLIENT_PORT = 40_000;
    private static final int TTL_AT_ITS_HOST = 64;
    private static final int HOPS_BETWEEN_TAPS = 4;
    private static final int SENDER_WINDOW_SCALE = 7;
    private static final long LEAST_ACK_GAP_NS = 50; // no host sends or takes them faster
    private static final long MORE_ACK_GAP_NS = 150;
    private static final int ECT_0 = 2;
    private static final int CE = 3;
    private static final int TIMESTAMP_BYTES = 12;

    private final PathScenario scenario;
    private final EventQueue events;
    private final Random random;
    private final int index;
    private final Flow flow;
    private final int senderIsn;
    private final int receiverIsn;
    private final List<Packet> before = new ArrayList<>();
    private final List<Packet> after = new ArrayList<>();
    private final Truth truth;
    private final Application application;
    private final Sender sender;
    private final Receiver receiver;
    private final Link access;
    private final Path path;
    private final int[] ipId = new int[2];
    private final long[] lastArrivalNs = new long[2];
    private final long[] lastNoiseNs = new long[2];
    private boolean started;
    private boolean requested;

    /**
     * The links that all flows share.
     *
     * @param upstream before the tap before the bottleneck
     * @param downstream behind the tap behind it
     */
    record Path(
            @Nullable Link upstream,
            Link bottleneck,
            @Nullable Link downstream) {}

    SimulatedConnection(
            PathScenario scenario, EventQueue events, Random random, Path path, Application application, int index) {
        this.scenario = scenario;
        this.events = events;
        this.random = random;
        this.path = path;
        this.application = application;
        this.index = index;
        flow = scenario.serverSends
                ? between(RECEIVER_HOST, FIRST_CLIENT_PORT + index, senderHost(), SERVER_PORT)
                : between(senderHost(), FIRST_CLIENT_PORT + index, RECEIVER_HOST, SERVER_PORT);
        senderIsn = -random.nextInt(1 << 20); // the first megabyte crosses the wrap
        receiverIsn = random.nextInt();
        truth = new Truth(scenario.slotNs);
        sender = new Sender(events, scenario, application, truth, this::leaveSender);
        receiver = new Receiver(events, scenario, application, this::leaveReceiver);
        access = new Link(
                events,
                scenario.accessBitsPerSecond,
                new DropTail(Long.MAX_VALUE),
                null,
                new LinkBooks(scenario.startNs, scenario.durationNs));
    }

    private int senderHost() {
        return scenario.ownHosts && index > 0 ? RECEIVER_HOST + index : FIRST_SENDER_HOST;
    }

    private Flow between(int clientHost, int clientPort, int serverHost, int serverPort) {
        String network = scenario.ipv6 ? "2001:db8::" : "10.0.0.";
        String base = scenario.ipv6 ? "%s%x" : "%s%d";
        return Flow.between(
                new InetSocketAddress(String.format(Locale.ROOT, base, network, clientHost), clientPort),
                new InetSocketAddress(String.format(Locale.ROOT, base, network, serverHost), serverPort));
    }

    Sender sender() {
        return sender;
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
            leaveReceiver(handshake(false, Packet.SYN | offer(), 0, 0));
        } else {
            leaveSender(handshake(true, Packet.SYN | offer(), 0, 0));
        }
        events.after(timeoutNs, () -> connect(2 * timeoutNs));
    }

    private Segment handshake(boolean fromSender, int flags, long sequence, long echo) {
        long window = fromSender
                ? PathScenario.SENDER_WINDOW_BYTES
                : Math.min(PathScenario.MAX_UNSCALED_WINDOW, scenario.receiveBufferBytes);
        long timestamp = events.nowNs() / scenario.timestampTickNs;
        return new Segment(fromSender, sequence, 0, 1, window, flags, timestamp, echo, List.of());
    }

    private void leaveSender(Segment segment) {
        access.offer(frame(segment, ignored -> crossAccess(segment)));
    }

    private Frame frame(Segment segment, Consumer<Frame> onDelivered) {
        return new Frame(index, ipBytes(segment), scenario.ecn && segment.bytes() > 0, onDelivered, truth::countDrop);
    }

    private void crossAccess(Segment segment) {
        boolean isLate = segment.bytes() > 0 && random.nextDouble() < scenario.reorderProbability;
        Packet left = packet(segment); // numbered in the order of sending, whatever overtakes it
        events.after(scenario.hostToTapNs + (isLate ? scenario.reorderDelayNs : 0), () -> {
            if (path.upstream() == null) {
                crossFirstTap(segment, left);
            } else {
                path.upstream().offer(frame(segment, ignored -> crossFirstTap(segment, left)));
            }
        });
    }

    private void crossFirstTap(Segment segment, Packet left) {
        Packet packet = left.at(events.nowNs());
        before.add(packet);
        path.bottleneck().offer(frame(segment, frame -> leaveBottleneck(segment, packet, frame.isMarked())));
    }

    private void leaveBottleneck(Segment segment, Packet packet, boolean marked) {
        if (segment.bytes() > 0 && random.nextDouble() < scenario.lossProbability) {
            truth.countDrop();
            truth.countRandomLoss();
            return;
        }
        events.after(delayNs(0), () -> {
            after.add(atOtherTap(packet, marked));
            if (path.downstream() == null) {
                events.after(scenario.hostToTapNs, () -> arriveAtReceiver(segment, marked));
            } else {
                path.downstream()
                        .offer(frame(
                                segment,
                                ignored ->
                                        events.after(scenario.hostToTapNs, () -> arriveAtReceiver(segment, marked))));
            }
        });
    }

    private void leaveReceiver(Segment segment) {
        events.after(scenario.hostToTapNs + noiseNs(1), () -> {
            Packet packet = packet(segment);
            after.add(packet);
            events.after(delayNs(1), () -> {
                before.add(atOtherTap(packet, false));
                events.after(scenario.hostToTapNs + noiseNs(0), () -> arriveAtSender(segment));
            });
        });
    }

    /** Delay between the taps: half of what the hosts leave of the round trip, with jitter that keeps the order. */
    private long delayNs(int way) {
        long delayNs = Math.max(0, scenario.roundTripNs / 2 - 2 * scenario.hostToTapNs);
        long jitterNs = scenario.jitterNs == 0 ? 0 : (long) (random.nextDouble() * scenario.jitterNs);
        lastArrivalNs[way] = Math.max(lastArrivalNs[way], events.nowNs() + delayNs + jitterNs);
        return lastArrivalNs[way] - events.nowNs();
    }

    /** What the host of a side takes for an ACK, in order. */
    private long noiseNs(int side) {
        if (scenario.hostNoiseNs == 0) {
            return 0;
        }
        long afterLastNs = lastNoiseNs[side] + LEAST_ACK_GAP_NS + exponentialNs(MORE_ACK_GAP_NS);
        lastNoiseNs[side] = Math.max(afterLastNs, events.nowNs() + exponentialNs(scenario.hostNoiseNs));
        return lastNoiseNs[side] - events.nowNs();
    }

    private long exponentialNs(long meanNs) {
        return Math.round(-StrictMath.log(1 - random.nextDouble()) * meanNs);
    }

    private void arriveAtReceiver(Segment segment, boolean marked) {
        if ((segment.flags() & Packet.SYN) == 0) {
            if (segment.bytes() > 0 || (segment.flags() & Packet.FIN) != 0) {
                receiver.onSegment(segment, marked);
            }
        } else if (scenario.serverSends) {
            leaveReceiver(handshake(false, Packet.ACK, 1, segment.timestampValue()));
            if (application.answers() && !requested) {
                requested = true;
                receiver.request(segment.timestampValue());
            }
        } else {
            leaveReceiver(handshake(false, Packet.SYN | Packet.ACK | agreement(), 0, segment.timestampValue()));
        }
    }

    private void arriveAtSender(Segment segment) {
        if ((segment.flags() & Packet.SYN) == 0) {
            if (started) {
                sender.onAck(segment);
            } else {
                start(segment);
            }
            if (segment.bytes() > 0) {
                sender.onRequest(segment);
            }
        } else if (scenario.serverSends) {
            leaveSender(handshake(true, Packet.SYN | Packet.ACK | agreement(), 0, segment.timestampValue()));
        } else {
            leaveSender(handshake(true, Packet.ACK, 1, segment.timestampValue()));
            if (!started) {
                start(segment);
            }
        }
    }

    /** Flags by which a server agrees to ECN. */
    private int agreement() {
        return scenario.ecn ? Packet.ECE : 0;
    }

    /** Flags by which a client offers it. */
    private int offer() {
        return scenario.ecn ? Packet.ECE | Packet.CWR : 0;
    }

    private void start(Segment segment) {
        started = true;
        sender.start(segment.windowBytes(), segment.timestampValue());
    }

    private int ipBytes(Segment segment) {
        return segment.bytes()
                + (scenario.ipv6 ? IPV6_MORE_BYTES : 0)
                + ((segment.flags() & Packet.SYN) != 0 ? SYN_IP_BYTES : ACK_IP_BYTES);
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
                new Packet.Ip(ipId[side], TTL_AT_ITS_HOST, isEct(segment) ? ECT_0 : 0),
                options);
    }

    private TcpOptions options(Segment segment, boolean isSyn, int scale, int peerIsn) {
        TcpOptions options = isSyn ? TcpOptions.ofSyn(scenario.mss + TIMESTAMP_BYTES, scale, true) : TcpOptions.NONE;
        return options.withTimestamps((int) segment.timestampValue(), (int) segment.timestampEcho())
                .withSackBlocks(segment.sackBlocks().stream()
                        .map(block -> new TcpOptions.SackBlock(peerIsn + (int) block[0], peerIsn + (int) block[1]))
                        .toList());
    }

    private boolean isEct(Segment segment) {
        return scenario.ecn && segment.fromSender() && segment.bytes() > 0;
    }

    /** The same packet at the other tap. */
    private Packet atOtherTap(Packet packet, boolean marked) {
        return new Packet(
                events.nowNs(),
                packet.fromA(),
                packet.sequenceNumber(),
                packet.acknowledgmentNumber(),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                new Packet.Ip(
                        packet.ip().id(),
                        TTL_AT_ITS_HOST - HOPS_BETWEEN_TAPS,
                        marked ? CE : packet.ip().trafficClass()),
                packet.options());
    }
}
