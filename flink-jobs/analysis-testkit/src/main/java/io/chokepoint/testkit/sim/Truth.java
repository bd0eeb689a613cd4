// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What the sender waited for, second by second of the simulated clock: the ground truth of a flow. */
public final class Truth {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** Why the next byte has not left yet. */
    public enum Wait {
        /** The application has written nothing more. */
        APPLICATION,
        /** The application would write, but the send buffer is full. */
        SEND_BUFFER,
        /** The receiver's window is full. */
        RECEIVER_WINDOW,
        /** The congestion window is full. */
        CONGESTION_WINDOW
    }

    /**
     * One second.
     *
     * @param startNs whole second since the epoch
     * @param waitNs time by what was waited for; sums to the part of the second in which the flow lived
     * @param retransmittedBytes payload sent again
     * @param droppedPackets of this flow, by a full queue or by chance
     */
    public record Second(long startNs, Map<Wait, Long> waitNs, long retransmittedBytes, long droppedPackets) {
        /** Share of the flow's time in this second that it spent waiting for this. */
        public double share(Wait wait) {
            long livedNs = waitNs.values().stream().mapToLong(Long::longValue).sum();
            return livedNs == 0 ? 0 : waitNs.getOrDefault(wait, 0L) / (double) livedNs;
        }
    }

    private final List<Second> seconds = new ArrayList<>();
    private final Map<Wait, Long> waitNs = new EnumMap<>(Wait.class);
    private boolean begun;
    private long secondStartNs;
    private long bookedUntilNs;
    private Wait wait = Wait.APPLICATION;
    private long retransmittedBytes;
    private long droppedPackets;

    /** Share of the flow's life that it spent waiting for this. */
    public double share(Wait of) {
        long livedNs = 0;
        long waitedNs = 0;
        for (Second second : seconds) {
            livedNs +=
                    second.waitNs().values().stream().mapToLong(Long::longValue).sum();
            waitedNs += second.waitNs().getOrDefault(of, 0L);
        }
        return livedNs == 0 ? 0 : waitedNs / (double) livedNs;
    }

    /** Payload that was sent again. */
    public long retransmittedBytes() {
        return seconds.stream().mapToLong(Second::retransmittedBytes).sum();
    }

    /** Packets of this flow that the path lost. */
    public long droppedPackets() {
        return seconds.stream().mapToLong(Second::droppedPackets).sum();
    }

    /** The flow may send from now on. */
    void begin(long nowNs) {
        begun = true;
        bookedUntilNs = nowNs;
        secondStartNs = Math.floorDiv(nowNs, NANOS_PER_SECOND) * NANOS_PER_SECOND;
    }

    /** Books the last second as far as it got. */
    void end(long nowNs) {
        if (begun) {
            change(nowNs, wait);
            if (nowNs > secondStartNs) {
                closeSecond();
            }
            begun = false;
        }
    }

    boolean hasBegun() {
        return begun;
    }

    /** The seconds of the flow, the first and the last as far as it lived in them. */
    public List<Second> seconds() {
        return List.copyOf(seconds);
    }

    /** Books the time up to now for the state so far, and starts a new one. */
    void change(long nowNs, Wait next) {
        while (secondStartNs + NANOS_PER_SECOND <= nowNs) {
            book(secondStartNs + NANOS_PER_SECOND);
            closeSecond();
        }
        book(nowNs);
        wait = next;
    }

    private void closeSecond() {
        seconds.add(new Second(secondStartNs, Map.copyOf(waitNs), retransmittedBytes, droppedPackets));
        waitNs.clear();
        retransmittedBytes = 0;
        droppedPackets = 0;
        secondStartNs += NANOS_PER_SECOND;
    }

    private void book(long untilNs) {
        waitNs.merge(wait, untilNs - bookedUntilNs, Long::sum);
        bookedUntilNs = untilNs;
    }

    void countRetransmission(int bytes) {
        retransmittedBytes += bytes;
    }

    void countDrop() {
        droppedPackets++;
    }
}
