// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
        long arrivedAtSendBytes;
        long arrivedAtSendNs;
        long firstSentNs;
        boolean applicationLimited;

        Sent(long sequence, int bytes) {
            this.sequence = sequence;
            this.bytes = bytes;
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
    private long lastArrivalNs;
    private long firstSentNs;
    private long applicationLimitedUntilBytes;
    private @Nullable Sent newestArrived;
    private @Nullable DeliverySample lastSample;

    boolean isEmpty() {
        return flight.isEmpty();
    }

    void sent(long sequence, int bytes, long nowNs) {
        Sent sent = new Sent(sequence, bytes);
        leaves(sent, nowNs);
        flight.addLast(sent);
        bytesIn[State.ON_ITS_WAY.ordinal()] += bytes;
    }

    private void leaves(Sent sent, long nowNs) {
        if (pipeBytes() == 0) {
            firstSentNs = nowNs;
            lastArrivalNs = nowNs;
        }
        sent.sentNs = nowNs;
        sent.arrivedAtSendBytes = arrivedBytes;
        sent.arrivedAtSendNs = lastArrivalNs;
        sent.firstSentNs = firstSentNs;
        sent.applicationLimited = arrivedBytes < applicationLimitedUntilBytes;
    }

    /** The sender has nothing more to send: what is in flight does not show what the path could deliver. */
    void ranDry() {
        applicationLimitedUntilBytes = arrivedBytes + pipeBytes() + 1;
    }

    /** What the last ACK told of the delivery; null if it told nothing. */
    @Nullable
    DeliverySample lastSample() {
        return lastSample;
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
        newestArrived = null;
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
        lastSample = newestArrived == null ? null : sample(newestArrived, arrivedBytes - arrivedBefore, nowNs);
        return arrivedBytes - arrivedBefore;
    }

    private DeliverySample sample(Sent sent, long newlyArrivedBytes, long nowNs) {
        lastArrivalNs = nowNs;
        firstSentNs = sent.sentNs;
        long tookNs = Math.max(sent.sentNs - sent.firstSentNs, nowNs - sent.arrivedAtSendNs);
        return new DeliverySample(
                arrivedBytes,
                sent.arrivedAtSendBytes,
                newlyArrivedBytes,
                tookNs == 0 ? 0 : (arrivedBytes - sent.arrivedAtSendBytes) / (double) tookNs,
                sent.resent ? 0 : nowNs - sent.sentNs,
                sent.applicationLimited);
    }

    /** When the youngest retransmission that was lost had left. */
    long lostAgainSentNs() {
        return lostAgainSentNs;
    }

    /** Whether the last ACK showed that something was lost. */
    boolean lossFound() {
        return lossFound;
    }

    private long delivered(Sent sent, RetransmissionTimer timer, long nowNs) {
        if (!sent.resent) {
            timer.sample(nowNs - sent.sentNs); // Karn: no sample of what was sent twice
        }
        if (newestArrived == null || sent.sentNs >= newestArrived.sentNs) {
            newestArrived = sent;
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
        leaves(lost, nowNs);
        move(lost, State.ON_ITS_WAY);
        lost.resent = true;
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
