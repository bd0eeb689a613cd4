// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/** What a sender has in flight, what of it arrived or is lost, and what was sent again (RFC 6675). */
final class LossDetector {
    private static final int DUPLICATE_THRESHOLD = 3;

    private enum State {
        ON_ITS_WAY,
        SACKED,
        /** And not sent again yet. */
        LOST
    }

    private static final class Sent {
        final long sequence;
        final int bytes;
        long sentNs;
        State state = State.ON_ITS_WAY;
        boolean resent;

        Sent(long sequence, int bytes, long sentNs) {
            this.sequence = sequence;
            this.bytes = bytes;
            this.sentNs = sentNs;
        }

        long end() {
            return sequence + bytes;
        }
    }

    /** What has to be sent again. */
    record Lost(long sequence, int bytes) {}

    private final Deque<Sent> flight = new ArrayDeque<>();
    private final long[] bytesIn = new long[State.values().length];
    private long arrivedBytes;
    private boolean lossFound;
    private long lostAgainSentNs;

    boolean isEmpty() {
        return flight.isEmpty();
    }

    void sent(long sequence, int bytes, long nowNs) {
        flight.addLast(new Sent(sequence, bytes, nowNs));
        bytesIn[State.ON_ITS_WAY.ordinal()] += bytes;
    }

    private void move(Sent sent, State to) {
        bytesIn[sent.state.ordinal()] -= sent.bytes;
        bytesIn[to.ordinal()] += sent.bytes;
        sent.state = to;
    }

    /** Books an ACK and returns the bytes that it tells to have arrived. */
    long onAck(long acknowledged, List<long[]> sackBlocks, RetransmissionTimer timer, long nowNs) {
        long arrivedBefore = arrivedBytes;
        long newestNs = 0;
        for (Sent first = flight.peekFirst();
                first != null && first.end() <= acknowledged;
                first = flight.peekFirst()) {
            flight.removeFirst();
            bytesIn[first.state.ordinal()] -= first.bytes;
            arrivedBytes += first.state == State.SACKED ? 0 : first.bytes;
            newestNs = Math.max(newestNs, delivered(first, timer, nowNs));
        }
        if (!sackBlocks.isEmpty()) {
            for (Sent sent : flight) {
                if (sent.state != State.SACKED && isCovered(sent, sackBlocks)) {
                    move(sent, State.SACKED);
                    arrivedBytes += sent.bytes;
                    newestNs = Math.max(newestNs, delivered(sent, timer, nowNs));
                }
            }
        }
        lossFound = bytesIn[State.SACKED.ordinal()] > 0 && markLost(newestNs, timer.smoothedRttNs());
        return arrivedBytes - arrivedBefore;
    }

    /** When the youngest retransmission that was lost had left. */
    long lostAgainSentNs() {
        return lostAgainSentNs;
    }

    /** Whether the last ACK showed that something was lost. */
    boolean lossFound() {
        return lossFound;
    }

    private static long delivered(Sent sent, RetransmissionTimer timer, long nowNs) {
        if (!sent.resent) {
            timer.sample(nowNs - sent.sentNs); // Karn: no sample of what was sent twice
        }
        return sent.sentNs;
    }

    private static boolean isCovered(Sent sent, List<long[]> blocks) {
        for (long[] block : blocks) {
            if (block[0] <= sent.sequence && sent.end() <= block[1]) {
                return true;
            }
        }
        return false;
    }

    /** Three segments above it arrived, or, if it was sent again, one that left a quarter RTT after it. */
    private boolean markLost(long newestDeliveredNs, double smoothedRttNs) {
        boolean found = false;
        int sackedAbove = 0;
        for (Iterator<Sent> i = flight.descendingIterator(); i.hasNext(); ) {
            Sent sent = i.next();
            if (sent.state == State.SACKED) {
                sackedAbove++;
            } else if (sent.state == State.ON_ITS_WAY) {
                boolean isLost = sent.resent
                        ? sent.sentNs + smoothedRttNs / 4 < newestDeliveredNs
                        : sackedAbove >= DUPLICATE_THRESHOLD;
                if (isLost) {
                    move(sent, State.LOST);
                    found = true;
                    lostAgainSentNs = sent.resent ? Math.max(lostAgainSentNs, sent.sentNs) : lostAgainSentNs;
                }
            }
        }
        return found;
    }

    void loseAll() {
        flight.stream().filter(sent -> sent.state == State.ON_ITS_WAY).forEach(sent -> move(sent, State.LOST));
    }

    boolean hasLost() {
        return bytesIn[State.LOST.ordinal()] > 0;
    }

    int firstLostBytes() {
        return firstLost().bytes;
    }

    Lost resendFirstLost(long nowNs) {
        Sent lost = firstLost();
        move(lost, State.ON_ITS_WAY);
        lost.resent = true;
        lost.sentNs = nowNs;
        return new Lost(lost.sequence, lost.bytes);
    }

    private Sent firstLost() {
        return flight.stream()
                .filter(sent -> sent.state == State.LOST)
                .findFirst()
                .orElseThrow();
    }

    /** Bytes that are believed to be on their way. */
    long pipeBytes() {
        return bytesIn[State.ON_ITS_WAY.ordinal()];
    }

    long outstandingBytes() {
        return bytesIn[0] + bytesIn[1] + bytesIn[2];
    }
}
