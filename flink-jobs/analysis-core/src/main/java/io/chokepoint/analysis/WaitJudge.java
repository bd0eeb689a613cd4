// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.rtt.RoundMinimum;
import io.chokepoint.analysis.verdict.BulkPeriods;
import io.chokepoint.analysis.verdict.Cause;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.window.AckHistory;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Splits the time of one direction into waits, from one packet of new data to the next, and blames each on one cause.
 *
 * <p>The first line that is true owns the whole wait; a wait that reaches past the end of an interval is cut there and
 * judged by the state so far.
 *
 * <ol>
 *   <li>unknown: a hole, or a direction that is needed is missing
 *   <li>application: the sender has run dry within the last round trip, window was left, and the link is not used up
 *   <li>unshared bottleneck: the flow delivers at least 0.9 of a proven capacity; below 0.97 not if the window is full and no
 *       queue stands
 *   <li>receiver window: after the opening packet less than 2 MSS of window were left, or a zero window; see line 8
 *   <li>application: everything was acknowledged before the closing packet left, or the opener was a short segment that ended
 *       a burst; never while a loss is pending
 *   <li>send buffer: a fifth of the flight was acknowledged and released nothing
 *   <li>shared bottleneck: a queue stands, or comes and goes, or lost what is being repaired
 *   <li>receiver window or send buffer: it held the sender twice of late, and the flight comes back to where it was held
 *   <li>transport: the rest; unknown, if a queue may hide before the tap or no delay was measured of late
 * </ol>
 */
final class WaitJudge {
    private static final int WINDOW_MARGIN_SEGMENTS = 2;
    private static final int SCORE_MARGIN_SEGMENTS = 3; // [SIE08] receiver-window score
    private static final double HELD_FLIGHT = 0.8;
    private static final int HELD_SEGMENTS = 4;
    private static final int HELD_ROUNDS = 8; // round trips between two holds
    private static final int SHORTEST_HOLD = 16; // of the round trip
    private static final double SLOW_START_GROWTH = 1.5;
    private static final double AFTER_RECOVERY_RTTS = 1.2;
    private static final double BACK_TO_BACK = 1.08; // packet times
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long REACTION_NANOS = 150_000;
    private static final long NANOS_PER_MICRO = 1_000;

    private final PathModel path;
    private final AckHistory acks;
    private final Tally tally;
    private final BulkPeriods periods;
    private long resolutionNanos = 1;

    private long bookedUntilNanos;
    private long openNanos;
    private boolean open;
    private boolean windowFull;
    private boolean scoreWindowFull;
    private boolean openerShort;
    private boolean beforeOpenerShort;
    private boolean openerDrains; // short and with PSH: its sender may have had no more
    private long openerViewNanos = AckHistory.NONE;
    private long openEnd; // sequence number after the opener
    private long openedWithoutQueueNanos;
    private long drainedEnd; // after the newest segment that certainly emptied its sender's buffer; 0 if there is none
    private long openFlight;
    private long openWindow;
    private boolean peerSentPayload;
    private boolean lossInWait;
    private boolean queueLossInWait;
    private boolean blindInWait;
    private Cause beforeLoss = Cause.TRANSPORT;
    private Cause lastBooked = Cause.TRANSPORT;

    private long heldNanos; // when a full window or send buffer last held the sender; 0 if none did
    private Cause heldBy = Cause.SEND_BUFFER;
    private boolean heldAgain; // soon after the time before
    private long heldFlight; // bytes in flight then
    private long heldSegments; // acknowledged then, before any was released

    private long serialisedNanos;
    private long bookedDeliveredBytes;

    private long roundStartNanos;
    private long roundFlight;
    private long lastRoundFlight;
    private boolean slowStart = true;

    WaitJudge(PathModel path, AckHistory acks, Tally tally) {
        this.path = path;
        this.acks = acks;
        this.tally = tally;
        this.periods = new BulkPeriods(tally);
    }

    void setResolution(long nanos) {
        resolutionNanos = nanos;
    }

    /** The direction begins to exist. */
    void start(long now) {
        bookedUntilNanos = now;
        openNanos = now;
    }

    /** The receiver sent payload: what the sender does next may be the answer to it. */
    void onPeerPayload() {
        peerSentPayload = true;
    }

    /** A loss or its repair shows: the wait is never the application's. */
    void onLoss(boolean fromQueue) {
        lossInWait = true;
        queueLossInWait |= fromQueue;
    }

    /** Packets are missing: nothing can be said of the wait. */
    void onBlindness() {
        blindInWait = true;
    }

    /** The direction ends. */
    void finish() {
        periods.finish();
    }

    /** What is known at the end of a wait. */
    record Moment(
            long now,
            long passedWithoutQueueNanos,
            long sndMax,
            long una,
            int mss,
            boolean zeroWindow,
            boolean lossPending,
            boolean lossFromQueue,
            long recoveredNanos) {}

    /** Packets of new data end the wait; the view of {@link AckHistory} is already that of this packet. */
    void close(Moment moment, long layerBytes) {
        followDrains(moment);
        Cause cause = judge(moment, true);
        if (isSerialisation(moment, cause)) {
            serialisedNanos += pass(moment, true);
        } else {
            bookSerialised(cause);
        }
        bookDraining(cause);
        long waited = moment.now() - openNanos;
        if (isPause(cause)) {
            periods.onPause(waited, layerBytes);
        } else {
            periods.onBusy(open ? waited : 0, layerBytes);
        }
        book(moment, cause);
    }

    /**
     * Behind a bottleneck the packets of one burst come one packet time apart although they left at once. That time belongs to
     * whatever the sender waits for after the burst.
     */
    private boolean isSerialisation(Moment moment, Cause cause) {
        long packetTime = path.packetTimeNanos();
        return (cause == Cause.TRANSPORT || cause == Cause.SLOW_START)
                && path.isJudgedByData()
                && packetTime > 0
                && moment.now() - openNanos <= BACK_TO_BACK * packetTime;
    }

    private void bookSerialised(Cause after) {
        if (serialisedNanos > 0) {
            tally.book(after, serialisedNanos);
            tally.add(Sum.STEADY_FULL_NS, after.isFullPath() ? serialisedNanos : 0);
            serialisedNanos = 0;
        }
    }

    /**
     * What passes last before a pause waited in the queue before the tap while its sender had nothing more to send: that time is
     * the application's, too.
     */
    private void bookDraining(Cause cause) {
        if (!open || !isPause(cause) || !lastBooked.isFullPath()) {
            return;
        }
        long nanos = Math.min(openNanos - openedWithoutQueueNanos, tally.get(lastBooked.share()));
        tally.book(lastBooked, -nanos);
        tally.book(cause, nanos);
        lastBooked = cause;
    }

    private static boolean isPause(Cause cause) {
        return cause == Cause.APPLICATION_IDLE || cause == Cause.APPLICATION_WAITS;
    }

    /**
     * A sender with more to send fills its segments: a short one with PSH, not because the window ended and not at once followed by
     * the next, took the last bytes that the application had given it. One that pauses after a full segment, until an ACK comes,
     * has more again.
     */
    private void followDrains(Moment moment) {
        if (!open || windowFull) {
            return;
        }
        long gap = moment.now() - openNanos;
        long sentGap = moment.passedWithoutQueueNanos() - openedWithoutQueueNanos;
        double pause = Math.max(BACK_TO_BACK * path.packetTimeNanos(), (double) reactionNanos());
        if (openerDrains && Math.max(gap, sentGap) > pause) {
            drainedEnd = openEnd;
        } else if (!openerShort && Math.min(gap, sentGap) > pause && isReleased(moment)) {
            drainedEnd = 0;
        }
    }

    /** Whether a new acknowledgment had just reached the sender when it sent what passes now. */
    private boolean isReleased(Moment moment) {
        if (acks.viewTimeNanos() == openerViewNanos) {
            return false;
        }
        long lowest = path.senderSide().lifeMinimum();
        long sent = moment.passedWithoutQueueNanos() - (lowest == RoundMinimum.NONE ? 0 : lowest);
        long sinceReached = Math.min(moment.now() - reachedSenderNanos(), sent - acks.viewTimeNanos());
        return sinceReached <= reactionNanos() + path.clock().tickNanos();
    }

    /**
     * Whether the sender has run dry within the last round trip and was not seen to wait for an ACK since: no window keeps it from
     * sending more.
     */
    boolean hasDrained() {
        return acks.hasView() && drainedEnd > acks.viewAck();
    }

    /** A new wait begins after a packet of new data. */
    void open(long now, long withoutQueueNanos, long sndMax, int mss, boolean isShort, boolean isPushed) {
        open = true;
        openNanos = now;
        openedWithoutQueueNanos = withoutQueueNanos;
        openEnd = sndMax;
        openerViewNanos = acks.viewTimeNanos();
        beforeOpenerShort = openerShort;
        openerShort = isShort;
        openerDrains = isShort && isPushed;
        openFlight = acks.hasView() ? sndMax - acks.viewAck() : 0;
        openWindow = acks.hasView() ? acks.viewEdge() - acks.viewAck() : 0;
        long room = acks.viewEdge() - sndMax;
        windowFull = acks.hasView() && room < margin(WINDOW_MARGIN_SEGMENTS, mss);
        scoreWindowFull = acks.hasView() && room < margin(SCORE_MARGIN_SEGMENTS, mss);
        peerSentPayload = false;
        lossInWait = false;
        queueLossInWait = false;
        blindInWait = false;
        followRounds(now);
    }

    /** Bytes in flight after the last packet of new data, as its sender knew; 0 before the first ACK. */
    long flightBytes() {
        return openFlight;
    }

    /** In windows of few segments a fixed margin would always be reached (at least one segment). */
    private long margin(int segments, int mss) {
        return Math.max(mss, Math.min((long) segments * mss, openWindow / 10));
    }

    private void followRounds(long now) {
        if (now - roundStartNanos >= path.rttNanos()) {
            slowStart = roundFlight >= SLOW_START_GROWTH * lastRoundFlight;
            lastRoundFlight = roundFlight;
            roundFlight = 0;
            roundStartNanos = now;
        }
        roundFlight = Math.max(roundFlight, openFlight);
    }

    /** The interval ends at {@code moment.now()}: books the part of the open wait before it. */
    void cut(Moment moment) {
        Cause cause = judge(moment, false);
        bookSerialised(cause);
        bookDraining(cause);
        book(moment, cause);
    }

    private void book(Moment moment, Cause cause) {
        long nanos = pass(moment, !isPause(cause));
        tally.book(cause, nanos);
        lastBooked = cause;
        if (cause == Cause.SEND_BUFFER) {
            tally.add(Sum.SEND_BUFFER_BURSTS, 1);
            tally.add(Sum.SEND_BUFFER_SEGMENTS, heldSegments);
        }
        long delivered = path.deliveredBytes();
        boolean steady = !moment.lossPending() && !lossInWait;
        beforeLoss = steady ? cause : beforeLoss;
        if (cause.isFullPath()) {
            long bytes = Math.max(0, delivered - bookedDeliveredBytes);
            tally.add(Sum.FULL_BYTES, bytes);
            tally.add(Sum.STEADY_FULL_NS, steady ? nanos : 0);
            tally.add(Sum.STEADY_FULL_BYTES, steady ? bytes : 0);
        }
        bookedDeliveredBytes = delivered;
    }

    /** Moves time on to the end of the wait; {@code weigh}: what was in flight counts, for all of it. */
    private long pass(Moment moment, boolean weigh) {
        long nanos = moment.now() - bookedUntilNanos;
        if (nanos <= 0) {
            return 0;
        }
        long micros = nanos / NANOS_PER_MICRO;
        if (weigh && acks.hasView()) {
            tally.add(Sum.WEIGHT_MICROS, micros);
            tally.add(Sum.OUTSTANDING_BYTE_MICROS, openFlight / Tally.MEAN_UNIT_BYTES * micros);
            tally.add(Sum.WINDOW_BYTE_MICROS, openWindow / Tally.MEAN_UNIT_BYTES * micros);
        }
        if (scoreWindowFull) {
            tally.add(Sum.WINDOW_FULL_NS, nanos);
        }
        bookQueue(micros);
        bookedUntilNanos = moment.now();
        return nanos;
    }

    private void bookQueue(long micros) {
        if (!path.isQueueStanding()) {
            return;
        }
        tally.add(Sum.QUEUE_MICRO_MICROS, path.queueNanos() / NANOS_PER_MICRO * micros);
        tally.add(Sum.QUEUE_MICROS, micros);
        tally.add(path.isQueueBeforeTap() ? Sum.QUEUE_BEFORE_TAP_MICROS : Sum.QUEUE_AFTER_TAP_MICROS, micros);
    }

    private Cause judge(Moment moment, boolean closing) {
        if (blindInWait) {
            return Cause.UNKNOWN;
        }
        boolean lossy = lossInWait || moment.lossPending();
        boolean settled = !lossy && moment.now() - moment.recoveredNanos() > AFTER_RECOVERY_RTTS * path.rttNanos();
        boolean full = path.isFull(moment.now(), settled);
        if (hasDrained() && !lossy && !windowFull && !moment.zeroWindow() && !path.isUsedUp(moment.now())) {
            return openerShort && beforeOpenerShort ? Cause.APPLICATION_SMALL : Cause.APPLICATION_PACED;
        }
        boolean standing = path.isQueueStanding() && !(slowStart && !path.isQueueInEachRound());
        boolean atWindow = windowFull || moment.zeroWindow();
        if (full && (!atWindow || standing || path.isUsedUp(moment.now()))) {
            return Cause.UNSHARED_BOTTLENECK;
        }
        if (atWindow) {
            if (closing && settled) {
                onHold(moment, Cause.RECEIVER_WINDOW);
            }
            return Cause.RECEIVER_WINDOW;
        }
        if (!lossy) {
            Cause application = judgeApplication(moment, closing);
            if (application != Cause.UNKNOWN) {
                return application;
            }
        }
        boolean mayQueue = path.mayHideQueueBeforeTap(); // then ACKs may be older than they look, and holds none
        if (closing && settled && !mayQueue && isHeldBySendBuffer(moment)) {
            onHold(moment, Cause.SEND_BUFFER);
            return Cause.SEND_BUFFER;
        }
        if (standing) {
            return path.capacityBitsPerSecond() > 0 ? Cause.SHARED_BOTTLENECK : Cause.QUEUE_UNDECIDED;
        }
        if (lossy && beforeLoss.isFullPath()) {
            return beforeLoss;
        }
        if (moment.lossFromQueue() || queueLossInWait) {
            return path.capacityBitsPerSecond() > 0 ? Cause.SHARED_BOTTLENECK : Cause.QUEUE_UNDECIDED;
        }
        if (!lossy && !mayQueue && isRefilling(moment)) {
            return heldBy;
        }
        if (slowStart) {
            return Cause.SLOW_START;
        }
        return path.isTimed(moment.now()) && !mayQueue ? Cause.TRANSPORT : Cause.UNKNOWN;
    }

    /**
     * A congestion window hands out at once what an ACK frees. A sender that lets ACKs go by waits for its writer: Linux wakes it
     * when a third of the buffer is free. Of ACKs in one step of the receiver's clock any may have released the segment: then they
     * show a hold only if the flight does not grow, as that of a congestion window would.
     */
    private boolean isHeldBySendBuffer(Moment moment) {
        if (!open || !acks.hasView()) {
            return false;
        }
        boolean isConstant = 2 * Math.abs(roundFlight - lastRoundFlight) < moment.mss();
        long before = isConstant ? acks.viewAck() - acks.viewAdvance() : acks.earlierAck();
        long flightBefore = moment.sndMax() - before;
        return flightBefore <= HELD_FLIGHT * openFlight
                && openFlight - flightBefore >= (long) HELD_SEGMENTS * moment.mss()
                && moment.now() - openNanos >= Math.max(2 * reactionNanos(), path.lowestRttNanos() / SHORTEST_HOLD);
    }

    /**
     * Whether the time between two holds is what holds it, too: what a window or a writer hands out a sender that paces spreads, and
     * its flight comes back to where it was held. No congestion window forbids that: it let as much out before, and nothing was
     * lost since.
     */
    private boolean isRefilling(Moment moment) {
        return heldAgain
                && heldNanos > moment.recoveredNanos()
                && moment.now() - heldNanos <= HELD_ROUNDS * path.rttNanos()
                && openFlight <= heldFlight + moment.mss();
    }

    /** A buffer or a window holds at about the same flight each time; whoever else pauses seldom does. */
    private void onHold(Moment moment, Cause by) {
        heldAgain = by == heldBy
                && heldNanos > moment.recoveredNanos()
                && moment.now() - heldNanos <= HELD_ROUNDS * path.rttNanos()
                && Math.abs(openFlight - heldFlight) <= Math.max(moment.mss(), heldFlight / 4);
        heldBy = by;
        heldFlight = openFlight;
        heldSegments = (acks.viewAck() + openFlight - moment.sndMax()) / moment.mss();
        heldNanos = moment.now();
    }

    private Cause judgeApplication(Moment moment, boolean closing) {
        long now = moment.now();
        boolean drained = closing ? acks.viewAck() >= moment.sndMax() : moment.una() >= moment.sndMax();
        if (drained && peerSentPayload) {
            return Cause.APPLICATION_WAITS;
        }
        if (drained && now - reachedSenderNanos() > pauseNanos()) {
            return Cause.APPLICATION_IDLE;
        }
        if (openerShort && open && now - openNanos > path.lowestRttNanos() / 4) {
            return Cause.APPLICATION_SMALL;
        }
        return Cause.UNKNOWN;
    }

    /** When the newest acknowledgment the sender had seen reached it, in tap time. */
    private long reachedSenderNanos() {
        return acks.hasView() ? acks.viewTimeNanos() + senderDelayNanos() : openNanos;
    }

    private long senderDelayNanos() {
        long recent = path.senderSide().recentMinimum();
        long delay = recent == RoundMinimum.NONE ? path.senderSide().lifeMinimum() : recent;
        return delay == RoundMinimum.NONE ? 0 : delay;
    }

    /** Shortest silence with nothing in flight that is the application's. */
    private long pauseNanos() {
        return Math.max(Math.max(4 * resolutionNanos, SHORTEST_PAUSE_NANOS), path.lowestRttNanos() / 4);
    }

    /** What a sender may take from an ACK to the data that it releases, in ns. */
    private long reactionNanos() {
        long lowest = path.lowestRttNanos();
        return Math.max(Math.max(4 * resolutionNanos, Math.min(REACTION_NANOS, lowest / 8)), lowest / 128);
    }

    void writeTo(DataOutput out) throws IOException {
        periods.writeTo(out);
        Varint.write(out, bookedUntilNanos);
        Varint.write(out, bookedUntilNanos - openNanos);
        int bits = (open ? 1 : 0)
                | (windowFull ? 2 : 0)
                | (scoreWindowFull ? 4 : 0)
                | (openerShort ? 8 : 0)
                | (peerSentPayload ? 16 : 0)
                | (lossInWait ? 32 : 0)
                | (blindInWait ? 64 : 0)
                | (slowStart ? 128 : 0)
                | (openerDrains ? 256 : 0)
                | (beforeOpenerShort ? 512 : 0)
                | (queueLossInWait ? 1024 : 0)
                | (heldAgain ? 2048 : 0)
                | (heldBy == Cause.RECEIVER_WINDOW ? 4096 : 0);
        Varint.write(out, bits);
        Varint.write(out, openNanos - openedWithoutQueueNanos);
        Varint.write(out, openEnd);
        Varint.write(out, openerViewNanos == AckHistory.NONE ? 0 : openerViewNanos);
        Varint.write(out, openEnd - drainedEnd);
        Varint.write(out, openFlight);
        Varint.write(out, openWindow);
        out.writeByte(beforeLoss.ordinal());
        out.writeByte(lastBooked.ordinal());
        Varint.write(out, heldNanos == 0 ? 0 : bookedUntilNanos - heldNanos + 1);
        Varint.write(out, heldFlight);
        Varint.write(out, heldSegments);
        Varint.write(out, serialisedNanos);
        Varint.write(out, path.deliveredBytes() - bookedDeliveredBytes);
        Varint.write(out, roundStartNanos);
        Varint.write(out, roundFlight);
        Varint.write(out, lastRoundFlight);
        Varint.write(out, resolutionNanos);
    }

    void readFrom(DataInput in) throws IOException {
        periods.readFrom(in);
        bookedUntilNanos = Varint.read(in);
        openNanos = bookedUntilNanos - Varint.read(in);
        long bits = Varint.read(in);
        open = (bits & 1) != 0;
        windowFull = (bits & 2) != 0;
        scoreWindowFull = (bits & 4) != 0;
        openerShort = (bits & 8) != 0;
        peerSentPayload = (bits & 16) != 0;
        lossInWait = (bits & 32) != 0;
        blindInWait = (bits & 64) != 0;
        slowStart = (bits & 128) != 0;
        openerDrains = (bits & 256) != 0;
        beforeOpenerShort = (bits & 512) != 0;
        queueLossInWait = (bits & 1024) != 0;
        heldAgain = (bits & 2048) != 0;
        heldBy = (bits & 4096) != 0 ? Cause.RECEIVER_WINDOW : Cause.SEND_BUFFER;
        openedWithoutQueueNanos = openNanos - Varint.read(in);
        openEnd = Varint.read(in);
        openerViewNanos = Varint.read(in);
        openerViewNanos = openerViewNanos == 0 ? AckHistory.NONE : openerViewNanos;
        drainedEnd = openEnd - Varint.read(in);
        openFlight = Varint.read(in);
        openWindow = Varint.read(in);
        beforeLoss = Cause.values()[in.readByte()];
        lastBooked = Cause.values()[in.readByte()];
        long sinceHeld = Varint.read(in);
        heldNanos = sinceHeld == 0 ? 0 : bookedUntilNanos - sinceHeld + 1;
        heldFlight = Varint.read(in);
        heldSegments = Varint.read(in);
        serialisedNanos = Varint.read(in);
        bookedDeliveredBytes = path.deliveredBytes() - Varint.read(in);
        roundStartNanos = Varint.read(in);
        roundFlight = Varint.read(in);
        lastRoundFlight = Varint.read(in);
        resolutionNanos = Varint.read(in);
    }
}
