// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What the sender waited for, slot by slot of the simulated clock: the ground truth of a flow. */
public final class Truth {
    /** Why the next byte has not left yet. */
    public enum Wait {
        /** The application has written nothing more. */
        APPLICATION,
        /** The application would write, but the send buffer is full. */
        SEND_BUFFER,
        /** The receiver's window is full. */
        RECEIVER_WINDOW,
        /** The congestion window is full, or the pace of congestion control forbids it yet. */
        CONGESTION_WINDOW
    }

    /**
     * A stretch of time, a second unless the scenario says otherwise.
     *
     * @param startNs multiple of the slot's length since the epoch
     * @param waitNs time by what was waited for; sums to the part of the slot in which the flow lived
     * @param retransmittedBytes payload sent again
     * @param droppedPackets of this flow, by a full queue or by chance
     */
    public record Slot(long startNs, Map<Wait, Long> waitNs, long retransmittedBytes, long droppedPackets) {
        /** Share of the flow's time in this slot that it spent waiting for this. */
        public double share(Wait wait) {
            long livedNs = waitNs.values().stream().mapToLong(Long::longValue).sum();
            return livedNs == 0 ? 0 : waitNs.getOrDefault(wait, 0L) / (double) livedNs;
        }
    }

    private final List<Slot> slots = new ArrayList<>();
    private final Map<Wait, Long> waitNs = new EnumMap<>(Wait.class);
    private final long slotNs;
    private boolean begun;
    private long beganNs;
    private long endedNs;
    private long slotStartNs;
    private long bookedUntilNs;
    private Wait wait = Wait.APPLICATION;
    private long retransmittedBytes;
    private long droppedPackets;
    private long randomLosses;
    private long sentSegments;
    private long acknowledgedBytes;
    private long lowestRoundTripNs;

    Truth(long slotNs) {
        this.slotNs = slotNs;
    }

    /** Share of the flow's life that it spent waiting for this. */
    public double share(Wait of) {
        return share(of, Long.MIN_VALUE);
    }

    /** The same since the slot that holds an instant. */
    double share(Wait of, long fromNs) {
        long livedNs = 0;
        long waitedNs = 0;
        for (Slot slot : slots) {
            if (slot.startNs() + slotNs > fromNs) {
                livedNs += slot.waitNs().values().stream()
                        .mapToLong(Long::longValue)
                        .sum();
                waitedNs += slot.waitNs().getOrDefault(of, 0L);
            }
        }
        return livedNs == 0 ? 0 : waitedNs / (double) livedNs;
    }

    /** Payload that was sent again. */
    public long retransmittedBytes() {
        return slots.stream().mapToLong(Slot::retransmittedBytes).sum();
    }

    /** Packets of this flow that the path lost. */
    public long droppedPackets() {
        return slots.stream().mapToLong(Slot::droppedPackets).sum();
    }

    long slotNs() {
        return slotNs;
    }

    /** Segments with payload, repeated ones too. */
    long sentSegments() {
        return sentSegments;
    }

    long acknowledgedBytes() {
        return acknowledgedBytes;
    }

    long lowestRoundTripNs() {
        return lowestRoundTripNs;
    }

    /** Time between the end of the handshake and the last acknowledgement, or the end of the simulation. */
    long lifeNs() {
        return endedNs - beganNs;
    }

    /** The flow may send from now on. */
    void begin(long nowNs) {
        begun = true;
        beganNs = nowNs;
        bookedUntilNs = nowNs;
        slotStartNs = Math.floorDiv(nowNs, slotNs) * slotNs;
    }

    /** Books the last slot as far as it got. */
    void end(long nowNs) {
        if (begun) {
            change(nowNs, wait);
            if (nowNs > slotStartNs) {
                closeSlot();
            }
            begun = false;
            endedNs = nowNs;
        }
    }

    boolean hasBegun() {
        return begun;
    }

    /** The slots of the flow, the first and the last as far as it lived in them. */
    public List<Slot> slots() {
        return List.copyOf(slots);
    }

    /** Books the time up to now for the state so far, and starts a new one. */
    void change(long nowNs, Wait next) {
        while (slotStartNs + slotNs <= nowNs) {
            book(slotStartNs + slotNs);
            closeSlot();
        }
        book(nowNs);
        wait = next;
    }

    private void closeSlot() {
        slots.add(new Slot(slotStartNs, Map.copyOf(waitNs), retransmittedBytes, droppedPackets));
        waitNs.clear();
        retransmittedBytes = 0;
        droppedPackets = 0;
        slotStartNs += slotNs;
    }

    private void book(long untilNs) {
        waitNs.merge(wait, untilNs - bookedUntilNs, Long::sum);
        bookedUntilNs = untilNs;
    }

    void countSent() {
        sentSegments++;
    }

    void countAcknowledged(long bytes, long newLowestRoundTripNs) {
        acknowledgedBytes += bytes;
        lowestRoundTripNs = newLowestRoundTripNs;
    }

    void countRetransmission(int bytes) {
        retransmittedBytes += bytes;
    }

    void countRandomLoss() {
        randomLosses++;
    }

    /** Those of the dropped packets that no queue dropped. */
    long randomLosses() {
        return randomLosses;
    }

    void countDrop() {
        droppedPackets++;
    }
}
