// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Packet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The side that takes the data: reassembly, delayed ACKs, SACK and D-SACK, a buffer that someone reads. */
final class Receiver {
    private static final long DELAYED_ACK_NS = 40_000_000;
    private static final long READ_PERIOD_NS = 5_000_000;
    static final long AGGREGATION_NS = 20_000; // of one poll of the interface
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int MAX_SACK_BLOCKS = 3; // beside timestamps

    private final EventQueue events;
    private final PathScenario scenario;
    private final Application application;
    private final Consumer<Segment> out;
    private final TreeMap<Long, Long> outOfOrder = new TreeMap<>(); // start -> end
    private final List<long[]> recentBlocks = new ArrayList<>();
    private long next = 1;
    private long read = 1;
    private long advertisedEdge;
    private int unacknowledgedSegments;
    private long ackTimer; // only the timer set last may fire
    private long lastTimestamp;
    private long requestNext = 1;
    private long aggregatedBytes;
    private long aggregateEnd;
    private boolean aggregateTouchesHoles;
    private long aggregate; // only the one begun last may end
    private boolean echoesMark;

    Receiver(EventQueue events, PathScenario scenario, Application application, Consumer<Segment> out) {
        this.events = events;
        this.scenario = scenario;
        this.application = application;
        this.out = out;
        advertisedEdge = 1 + Math.min(PathScenario.MAX_UNSCALED_WINDOW, scenario.receiveBufferBytes);
        if (isSlow()) {
            events.after(readPeriodNs(), this::readSome);
        }
    }

    /** A slow reader comes often enough to see the buffer neither run full nor empty between two visits. */
    private long readPeriodNs() {
        double quarterNs = scenario.receiveBufferBytes / 4.0 / scenario.readBytesPerSecond * NANOS_PER_SECOND;
        return (long) Math.min(READ_PERIOD_NS, quarterNs);
    }

    private boolean isSlow() {
        return scenario.readBytesPerSecond < Long.MAX_VALUE;
    }

    /** Asks for the next answer. */
    void request(long timestamp) {
        lastTimestamp = Math.max(lastTimestamp, timestamp);
        answer(List.of(), Application.REQUEST_BYTES, Packet.PSH);
        requestNext += Application.REQUEST_BYTES;
    }

    /** Takes a segment with payload or FIN; its mark is echoed until the sender tells that it gave way (RFC 3168). */
    void onSegment(Segment segment, boolean marked) {
        if (aggregatedBytes > 0 && segment.sequence() != aggregateEnd) {
            endAggregate();
        }
        echoesMark = marked || (echoesMark && (segment.flags() & Packet.CWR) == 0);
        lastTimestamp = segment.timestampValue();
        long before = next;
        boolean repeats = segment.bytes() > 0 && (segment.end() <= next || covers(segment));
        long[] duplicate = repeats ? new long[] {segment.sequence(), segment.end()} : null;
        if (segment.bytes() > 0 && !repeats) {
            store(segment);
        }
        if ((segment.flags() & Packet.FIN) != 0) {
            next = segment.end() + 1; // it is sent when all data are acknowledged, or again
            acknowledge(duplicate, Packet.FIN);
            return;
        }
        unacknowledgedSegments++;
        boolean inOrder = next > before && outOfOrder.isEmpty() && segment.end() == next;
        if (duplicate == null && scenario.superSegmentBytes > 0) {
            aggregate(segment, inOrder);
        } else {
            acknowledgeNowOrLater(!inOrder, duplicate);
        }
        long asked = (requestNext - 1) / Application.REQUEST_BYTES * application.bytes();
        if (application.answers() && next > before && next - 1 == asked) {
            events.after(application.pauseNs(), () -> request(lastTimestamp));
        }
    }

    /** Generic receive offload: what arrives in one poll of the interface is one segment to TCP. */
    private void aggregate(Segment segment, boolean inOrder) {
        aggregatedBytes += segment.bytes();
        aggregateEnd = segment.end();
        aggregateTouchesHoles |= !inOrder;
        long mine = aggregatedBytes == segment.bytes() ? ++aggregate : aggregate;
        boolean isFull = aggregatedBytes + scenario.mss > scenario.superSegmentBytes;
        if (isFull || (segment.flags() & Packet.PSH) != 0) {
            endAggregate();
        } else if (aggregatedBytes == segment.bytes()) {
            events.after(AGGREGATION_NS, () -> {
                if (mine == aggregate && aggregatedBytes > 0) {
                    endAggregate();
                }
            });
        }
    }

    private void endAggregate() {
        aggregatedBytes = 0;
        acknowledgeNowOrLater(aggregateTouchesHoles, null);
    }

    private void acknowledgeNowOrLater(boolean now, long @Nullable [] duplicate) {
        if (now || unacknowledgedSegments >= 2) {
            acknowledge(duplicate, 0);
        } else {
            long timer = ++ackTimer;
            events.after(DELAYED_ACK_NS, () -> {
                if (timer == ackTimer) {
                    acknowledge(null, 0);
                }
            });
        }
    }

    private boolean covers(Segment segment) {
        Map.Entry<Long, Long> range = outOfOrder.floorEntry(segment.sequence());
        return range != null && range.getValue() >= segment.end();
    }

    private void store(Segment segment) {
        long from = segment.sequence();
        long to = segment.end();
        Map.Entry<Long, Long> before = outOfOrder.floorEntry(from);
        if (before != null && before.getValue() >= from) {
            from = before.getKey();
            to = Math.max(to, before.getValue());
        }
        for (Map.Entry<Long, Long> after = outOfOrder.ceilingEntry(from);
                after != null && after.getKey() <= to;
                after = outOfOrder.ceilingEntry(from)) {
            to = Math.max(to, after.getValue());
            outOfOrder.remove(after.getKey());
        }
        if (from <= next) {
            next = Math.max(next, to);
            if (!isSlow()) {
                read = next;
            }
            recentBlocks.clear();
        } else {
            outOfOrder.put(from, to);
            recentBlocks.add(0, new long[] {from, to});
        }
    }

    private void readSome() {
        long perPeriod = scenario.readBytesPerSecond * readPeriodNs() / NANOS_PER_SECOND;
        long windowBefore = advertisedEdge - next;
        read = Math.min(next, read + perPeriod);
        boolean opens = read + scenario.receiveBufferBytes - advertisedEdge >= scenario.receiveBufferBytes / 4;
        if (opens && windowBefore < scenario.receiveBufferBytes / 4) {
            acknowledge(null, 0);
        }
        events.after(readPeriodNs(), this::readSome);
    }

    private void acknowledge(long @Nullable [] duplicate, int flags) {
        answer(duplicate == null ? List.of() : List.<long[]>of(duplicate), 0, flags);
    }

    private void answer(List<long[]> duplicates, int bytes, int flags) {
        unacknowledgedSegments = 0;
        aggregatedBytes = 0;
        aggregateTouchesHoles = false;
        ackTimer++;
        long offered = Math.max(advertisedEdge, read + scenario.receiveBufferBytes) - next;
        long window =
                Math.min(offered >> scenario.windowScale, PathScenario.MAX_UNSCALED_WINDOW) << scenario.windowScale;
        advertisedEdge = Math.max(advertisedEdge, next + window);
        out.accept(new Segment(
                false,
                requestNext,
                bytes,
                next,
                window,
                Packet.ACK | flags | (echoesMark ? Packet.ECE : 0),
                events.nowNs() / scenario.timestampTickNs,
                lastTimestamp,
                sackBlocks(duplicates)));
    }

    /** A duplicate first (RFC 2883), then the blocks that changed last (RFC 2018). */
    private List<long[]> sackBlocks(List<long[]> duplicates) {
        List<long[]> blocks = new ArrayList<>(duplicates);
        List<Long> seen = new ArrayList<>();
        for (long[] recent : recentBlocks) {
            Map.Entry<Long, Long> range = outOfOrder.floorEntry(recent[0]);
            if (range != null && !seen.contains(range.getKey()) && blocks.size() < MAX_SACK_BLOCKS) {
                seen.add(range.getKey());
                blocks.add(new long[] {range.getKey(), range.getValue()});
            }
        }
        return blocks;
    }
}
