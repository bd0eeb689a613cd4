// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a tap writes down of several flows: in the order of its clock, and joined as its host's card joins segments. */
final class TapCapture {
    /** How a host's interface joins the segments of a flow. */
    enum Joining {
        NONE,
        /** They still are one when the tap sees them (TSO): the first one's time. */
        BEFORE_SENDING,
        /** They are joined when the tap sees them (GRO): the last one's time. */
        AFTER_RECEIVING
    }

    private static final double BACK_TO_BACK = 1.5; // packet times
    private static final double BITS_PER_BYTE_NANOS = 8e9;

    private final PathScenario scenario;
    private final Joining joining;

    TapCapture(PathScenario scenario, Joining joining) {
        this.scenario = scenario;
        this.joining = joining;
    }

    /** The lines of a capture of one flow each, by the clock of the tap. */
    List<TapRecord> records(List<Flow> flows, List<List<Packet>> packets, TimestampQuality quality) {
        List<TapRecord> records = new ArrayList<>();
        for (int i = 0; i < flows.size(); i++) {
            for (Packet packet : joined(packets.get(i))) {
                records.add(new TapRecord(flows.get(i), packet));
            }
        }
        records.sort(Comparator.comparingLong(TapRecord::timeNs));
        long[] stamps =
                quality.stamps(records.stream().mapToLong(TapRecord::timeNs).toArray(), scenario.seed);
        for (int i = 0; i < stamps.length; i++) {
            TapRecord exact = records.get(i);
            records.set(i, new TapRecord(exact.flow(), exact.packet().at(stamps[i])));
        }
        return records;
    }

    private List<Packet> joined(List<Packet> packets) {
        if (joining == Joining.NONE) {
            return packets;
        }
        List<Packet> joined = new ArrayList<>();
        @Nullable Packet open = null;
        long firstNs = 0;
        long lastNs = 0;
        for (Packet packet : packets) {
            boolean isData = packet.payloadBytes() > 0;
            if (isData && open != null && continues(open, packet, firstNs, lastNs)) {
                open = join(open, packet);
            } else if (isData) {
                addIfAny(joined, open);
                open = packet;
                firstNs = packet.timeNs();
            } else {
                joined.add(packet);
            }
            lastNs = isData ? packet.timeNs() : lastNs;
        }
        addIfAny(joined, open);
        return PathSimulator.inOrder(joined);
    }

    private static void addIfAny(List<Packet> joined, @Nullable Packet open) {
        if (open != null) {
            joined.add(open);
        }
    }

    private boolean continues(Packet open, Packet next, long firstNs, long lastNs) {
        double packetNs = (next.payloadBytes() + next.headerBytes() + Frame.LAYER_2_BYTES)
                * BITS_PER_BYTE_NANOS
                / scenario.accessBitsPerSecond;
        boolean isNear = joining == Joining.BEFORE_SENDING
                ? next.timeNs() - lastNs <= BACK_TO_BACK * packetNs
                : next.timeNs() - firstNs <= Receiver.AGGREGATION_NS;
        return isNear
                && open.fromA() == next.fromA()
                && open.nextSequenceNumber() == next.sequenceNumber()
                && open.acknowledgmentNumber() == next.acknowledgmentNumber()
                && open.flags() == (next.flags() & ~Packet.PSH)
                && open.options().equals(next.options())
                && open.ip().trafficClass() == next.ip().trafficClass()
                && open.payloadBytes() + next.payloadBytes() <= scenario.superSegmentBytes;
    }

    private Packet join(Packet open, Packet next) {
        return new Packet(
                joining == Joining.BEFORE_SENDING ? open.timeNs() : next.timeNs(),
                open.fromA(),
                open.sequenceNumber(),
                open.acknowledgmentNumber(),
                open.payloadBytes() + next.payloadBytes(),
                open.headerBytes(),
                next.flags(),
                next.windowField(),
                open.ip(),
                open.options());
    }
}
