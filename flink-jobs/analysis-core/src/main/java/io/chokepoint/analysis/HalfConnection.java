// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.group.DelaySeries;
import io.chokepoint.analysis.loss.SentHistory;
import io.chokepoint.analysis.rtt.LogHistogram;
import io.chokepoint.analysis.rtt.RoundMinimum;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.window.AckHistory;
import io.chokepoint.analysis.window.ReceiverWindow;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.SequenceSpace;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * One direction of a flow: the data of its sender X, and the acknowledgments of its receiver Y. Sequence numbers are
 * unwrapped to 64 bits above {@link #BASE}; their low 32 bits are those on the wire.
 */
final class HalfConnection {
    /** Data packets from which a direction is an elephant: it gets interval rows. */
    static final int ELEPHANT_PACKETS = 50;

    /**
     * Parts of a super-segment whose ACKs are timed, beside its end: an ACK every other segment hits one of them. Those between
     * leave too much later than their capture says.
     */
    private static final int TIMED_OF_SUPER_SEGMENT = 2;

    private static final long UNSEEN = Long.MIN_VALUE;
    private static final long BASE = 1L << 33;
    private static final int MOUSE_ACKS = 16;
    private static final long DELAYED_ACK_SEGMENTS = 2;
    private static final long CONTROL_BYTES = 1;
    private static final long FOREIGN_SLACK_BYTES = 1 << 22;
    private static final long SILENT_PEER_PACKETS = 10;

    private final Tally interval = new Tally();
    private final Tally total = new Tally();
    private final LogHistogram rttInterval = new LogHistogram();
    private final LogHistogram rttTotal = new LogHistogram();
    private final LogHistogram gapInterval = new LogHistogram();
    private final LogHistogram gapTotal = new LogHistogram();
    private final PathModel path = new PathModel();
    private final AckHistory acks = new AckHistory();
    private final SentHistory sent = new SentHistory();
    private final LossTracker losses = new LossTracker(interval, path, sent);
    private final ReceiverWindow window = new ReceiverWindow();
    private final SegmentSize segmentSize = new SegmentSize();
    private final WaitJudge waits = new WaitJudge(path, acks, interval);
    private final DelaySeries series = new DelaySeries();

    private final int layerBytesBeyondIp;
    private long sndMax = UNSEEN;
    private long una = UNSEEN;
    private long initial = UNSEEN;
    private long afterFin = UNSEEN;
    private long probeEnd = UNSEEN;
    private boolean ackSeen;
    private boolean resuming; // after a hole, until data show how far the sender is
    private int overheadBytes;
    private long lastDataNanos;
    private long zeroSinceNanos; // 0 while the window is open
    private long foreignAck; // not believed yet; 0 if there is none
    private long previousAck = UNSEEN;

    /** @param layerBytesBeyondIp bytes per packet that the layer of the rates adds to the IP packet */
    HalfConnection(int layerBytesBeyondIp) {
        this.layerBytesBeyondIp = layerBytesBeyondIp;
    }

    void start(long now, long resolutionNanos) {
        setResolution(resolutionNanos);
        waits.start(now);
    }

    /** The step of the clock that stamps the packets, in ns. */
    void setResolution(long nanos) {
        path.setResolution(nanos);
        waits.setResolution(nanos);
    }

    // ---- what the handshake tells ----

    /** Y announced an MSS. */
    void announceMss(int maximumSegmentSize) {
        segmentSize.announce(maximumSegmentSize);
    }

    /** Both SYNs were seen: Y's windows are shifted by this much, 0 if scaling was not agreed. */
    void agreeWindowShift(int shift) {
        window.agreeShift(shift);
    }

    /** Delays of the handshake, in ns; of segments without payload, so shorter than those of data. */
    void onHandshake(long senderSideNanos, long receiverSideNanos) {
        path.senderSide().bound(senderSideNanos);
        path.receiverSide().bound(receiverSideNanos);
    }

    // ---- packets of X ----

    /** A packet of X, whether it carries data or not. */
    void onSegment(long now, Packet packet) {
        boolean started = sndMax != UNSEEN;
        long sequence = SequenceSpace.unwrap(packet.sequence, started ? sndMax : una != UNSEEN ? una : BASE);
        long end = sequence + packet.sequenceLength();
        if (packet.has(Packet.SYN)) {
            sndMax = started ? Math.max(sndMax, end) : end;
            una = una == UNSEEN ? sequence : una;
            initial = sequence;
            return;
        }
        if (packet.has(Packet.FIN)) {
            afterFin = end;
        }
        boolean missedStart = initial == UNSEEN && lastDataNanos == 0 && sequence > sndMax;
        if (!started || missedStart || (resuming && sequence > sndMax)) {
            // What was in flight before the capture, or passed while runs are missing, the tap did not miss.
            sndMax = sequence;
            una = una == UNSEEN ? sequence : Math.min(una, sequence);
        }
        if (packet.payloadBytes == 0) {
            sndMax = packet.has(Packet.FIN) ? Math.max(sndMax, end) : sndMax;
            return;
        }
        onData(now, packet, sequence, end);
    }

    private void onData(long now, Packet packet, long sequence, long end) {
        if (isControl(packet, end)) {
            probeEnd = end;
            return;
        }
        if (segmentSize.add(packet.payloadBytes, packet.has(Packet.PSH))) {
            interval.add(Sum.SUPER_SEGMENTS, 1);
        }
        overheadBytes = packet.ipBytes - packet.payloadBytes + layerBytesBeyondIp;
        long layerBytes = onLayer(packet.payloadBytes, Math.max(1, segmentSize.bytes()));
        path.setSegmentLayerBytes(segmentSize.bytes() + overheadBytes);
        interval.add(Sum.DATA_PACKETS, 1);
        interval.add(Sum.DATA_BYTES, packet.payloadBytes);
        interval.add(Sum.LAYER_BYTES, layerBytes);
        interval.add(Sum.WITHOUT_TIMESTAMPS, packet.hasTimestamps ? 0 : 1);
        interval.add(Sum.ECN_CE_PACKETS, packet.isCongestionExperienced() ? 1 : 0);
        moveView(now, packet);
        boolean grown = isElephant();
        if (grown) {
            path.growUp();
            series.addBytes(layerBytes);
        }
        if (grown && lastDataNanos > 0) {
            gapInterval.add(now - lastDataNanos);
        }
        lastDataNanos = now;
        resuming = false;
        if (sequence >= sndMax) {
            onNewData(now, packet, sequence, end, layerBytes);
        } else {
            if (losses.onOldData(now, packet, sequence, end, una, sndMax)) {
                waits.onLoss(losses.isFromQueue());
            }
            path.onData(now, packet, layerBytes, false, false);
            if (end > sndMax) {
                sndMax = end;
            }
        }
    }

    /** Keep-alives and zero-window probes test the peer, they carry nothing (RFC 9293 §3.8.4, §3.8.6.1). */
    private boolean isControl(Packet packet, long end) {
        return packet.payloadBytes <= CONTROL_BYTES
                && ((end == sndMax && end <= una) || (window.isZero() && end > window.rightEdge()));
    }

    /** What X knew when it sent this packet, and the delay of its side of the path. */
    private void moveView(long now, Packet packet) {
        long shortest = path.senderSide().lifeMinimum();
        long senderDelay = shortest == RoundMinimum.NONE ? 0 : shortest;
        if (!packet.hasTimestamps) {
            acks.advanceByTime(now - senderDelay);
            return;
        }
        long echoed = acks.advanceByEcho(now, packet.timestampEcho, senderDelay);
        boolean hadNothingToSend = acks.viewAck() >= sndMax;
        if (echoed == AckHistory.NONE || hadNothingToSend) {
            return;
        }
        if (isElephant()) {
            series.addBeforeTap(now, now - echoed);
        }
        if (!losses.isPending()) {
            path.onSenderDelay(now, now - echoed);
            bookSide(Sum.SENDER_SIDE_SUM_NS, Sum.SENDER_SIDE_SAMPLES, now - echoed);
        }
    }

    private void onNewData(long now, Packet packet, long sequence, long end, long layerBytes) {
        if (!ackSeen && total.get(Sum.DATA_PACKETS) + interval.get(Sum.DATA_PACKETS) > SILENT_PEER_PACKETS) {
            waits.onBlindness();
        }
        long withoutQueueNanos = path.clock().passedWithoutQueueNanos(now, packet);
        waits.close(moment(now, withoutQueueNanos), layerBytes);
        boolean gap = sequence > sndMax;
        if (gap) {
            losses.onGap(now, sndMax, sequence, packet);
        }
        boolean undisturbed = !gap && !losses.isPending();
        boolean isSuper = packet.payloadBytes > segmentSize.bytes();
        sndMax = end;
        long flight = sndMax - una;
        long flightSegments = isElephant() ? flight / Math.max(1, segmentSize.bytes()) : 0;
        for (long i = 1; isSuper && i <= TIMED_OF_SUPER_SEGMENT && sequence + i * segmentSize.bytes() < end; i++) {
            sent.add(now, sequence + i * segmentSize.bytes(), undisturbed, flightSegments);
        }
        sent.add(now, end, undisturbed, flightSegments);
        path.onData(now, packet, layerBytes, undisturbed && !isSuper, waits.hasDrained());
        boolean isShort = !segmentSize.isFull(packet.payloadBytes, packet.sackBlocks);
        waits.open(now, withoutQueueNanos, sndMax, segmentSize.bytes(), isShort, packet.has(Packet.PSH));
        interval.raise(Sum.OUTSTANDING_MAX_BYTES, waits.flightBytes());
    }

    // ---- packets of Y ----

    /** An acknowledgment of Y. */
    void onAck(long now, Packet packet) {
        long acknowledged = SequenceSpace.unwrap(packet.acknowledgment, una != UNSEEN ? una : BASE);
        if (una == UNSEEN) {
            una = acknowledged;
            sndMax = acknowledged;
        }
        boolean pure = packet.payloadBytes == 0 && !packet.has(Packet.SYN) && !packet.has(Packet.FIN);
        if (isForeign(acknowledged)) {
            return;
        }
        bookZeroWindow(now);
        long windowBefore = window.bytes();
        window.onAck(packet, acknowledged, largestFlight());
        zeroSinceNanos = window.isZero() ? now : 0;
        if (!packet.has(Packet.SYN)) {
            interval.raise(Sum.WINDOW_MAX_BYTES, window.bytes());
        }
        if (acknowledged > sndMax) {
            onUnseenData(acknowledged);
        }
        long advance = Math.max(0, acknowledged - una);
        if (advance > 0) {
            onAdvance(now, packet, acknowledged, pure);
        } else {
            boolean isUpdate = packet.sackBlocks == 0 && window.bytes() != windowBefore;
            onSackOnly(now, packet, pure && !isUpdate, acknowledged);
        }
        if (!isElephant()) {
            acks.thinBelow(MOUSE_ACKS);
        }
        acks.push(now, packet.timestampValue, Math.max(una, acknowledged), window.rightEdge());
        if (lastDataNanos == 0) {
            acks.forgetPending();
        }
        ackSeen = ackSeen || !packet.has(Packet.SYN);
        if (packet.payloadBytes > 0) {
            waits.onPeerPayload();
        }
    }

    /**
     * A receiver acknowledges nothing beyond what it has allowed. A number far beyond is of another connection, unless a second
     * one confirms it.
     */
    private boolean isForeign(long acknowledged) {
        long slack = 2 * window.bytes() + FOREIGN_SLACK_BYTES;
        boolean plausible = acknowledged <= Math.max(sndMax, window.rightEdge()) + slack;
        boolean confirmed = Math.abs(acknowledged - foreignAck) <= slack;
        foreignAck = plausible ? 0 : acknowledged;
        return !plausible && !confirmed;
    }

    private void bookZeroWindow(long now) {
        if (zeroSinceNanos > 0) {
            interval.add(Sum.ZERO_WINDOW_NS, now - zeroSinceNanos);
            zeroSinceNanos = now;
        }
    }

    private long largestFlight() {
        return Math.max(interval.get(Sum.OUTSTANDING_MAX_BYTES), total.get(Sum.OUTSTANDING_MAX_BYTES));
    }

    /** The receiver's window. */
    ReceiverWindow window() {
        return window;
    }

    /** Y has data that the tap never saw. */
    private void onUnseenData(long acknowledged) {
        if (acknowledged <= probeEnd) {
            sndMax = acknowledged; // the receiver took the byte of a window probe
            return;
        }
        waits.onBlindness();
        if (lastDataNanos > 0 && !resuming) {
            interval.add(Sum.CAPTURE_LOSS_BYTES, acknowledged - sndMax);
        }
        sndMax = acknowledged;
        path.breakChains();
    }

    private void onAdvance(long now, Packet packet, long acknowledged, boolean pure) {
        long advance = acknowledged - una;
        long unseen = losses.unseenBelow(acknowledged);
        if (unseen > 0) {
            interval.add(Sum.CAPTURE_LOSS_BYTES, unseen);
            waits.onBlindness();
        }
        boolean usable = pure && !losses.disturbs(packet);
        long heldBefore = losses.onAdvance(now, acknowledged);
        long sackedNow = losses.onSackBlocks(packet, acknowledged, sndMax);
        int mss = segmentSize.bytes();
        long segments = (advance + mss - 1) / mss;
        long payload = advance - (una == initial ? 1 : 0) - (acknowledged == afterFin ? 1 : 0);
        interval.add(Sum.GOODPUT_BYTES, Math.max(0, payload));
        if (usable) {
            timeRoundTrip(now, acknowledged, segments);
        }
        long delivered = Math.max(0, advance - heldBefore) + sackedNow;
        path.onAck(now, onLayer(delivered, mss), segments, usable ? dataGap(acknowledged) : -1, usable && payload > 0);
        previousAck = acknowledged;
        una = acknowledged;
    }

    private long onLayer(long payloadBytes, int mss) {
        return payloadBytes + (payloadBytes + mss - 1) / mss * overheadBytes;
    }

    /** Gap at the tap between the ends of what this and the previous ACK acknowledge; -1 if unknown. */
    private long dataGap(long acknowledged) {
        if (previousAck == UNSEEN) {
            return -1;
        }
        long to = sent.timeOf(acknowledged);
        long from = sent.timeOf(previousAck);
        return to == SentHistory.NONE || from == SentHistory.NONE ? -1 : to - from;
    }

    /**
     * Times data to ACK, if the segment was sent once, nothing was missing, and the receiver can not have waited: an ACK of
     * two segments is sent at once (RFC 9293 §3.8.6.3), one that leaves nothing outstanding may have been delayed.
     */
    private void timeRoundTrip(long now, long acknowledged, long segments) {
        if (segments > DELAYED_ACK_SEGMENTS || !sent.isClean(acknowledged)) {
            return;
        }
        boolean mayBeDelayed = segments < DELAYED_ACK_SEGMENTS && acknowledged == sndMax;
        long delay = now - sent.timeOf(acknowledged);
        if (delay < 0) {
            return;
        }
        if (segments == DELAYED_ACK_SEGMENTS && isElephant()) {
            series.addAfterTap(now - delay, delay);
        }
        addRoundTrip(path.onReceiverDelay(now, delay, !mayBeDelayed));
        if (!mayBeDelayed) {
            bookSide(Sum.RECEIVER_SIDE_SUM_NS, Sum.RECEIVER_SIDE_SAMPLES, delay);
        }
    }

    /** What arrives out of order is told at once, the newest first (RFC 2018 §4): times the segment, if it was sent once. */
    private void timeSack(long now, long end, long newBytes) {
        boolean isOne = newBytes > 0 && newBytes <= DELAYED_ACK_SEGMENTS * segmentSize.bytes();
        if (isOne && sent.isSentOnce(end)) {
            long passed = sent.timeOf(end);
            if (isElephant()) {
                series.addAfterTap(passed, now - passed);
            }
            addRoundTrip(path.onReceiverDelay(now, now - passed, true));
            bookSide(Sum.RECEIVER_SIDE_SUM_NS, Sum.RECEIVER_SIDE_SAMPLES, now - passed);
        }
    }

    private void bookSide(Sum sum, Sum samples, long delay) {
        if (isElephant()) {
            interval.add(sum, delay);
            interval.add(samples, 1);
        }
    }

    private void addRoundTrip(long rtt) {
        if (isElephant()) {
            rttInterval.add(rtt);
        }
        interval.add(Sum.RTT_SAMPLES, 1);
        interval.add(Sum.RTT_SUM_NS, rtt);
    }

    /** An ACK that advances nothing; one that only moves the window is no duplicate (RFC 5681 §2). */
    private void onSackOnly(long now, Packet packet, boolean mayBeDuplicate, long acknowledged) {
        if (acknowledged < una) {
            return;
        }
        long newest = packet.sackBlocks == 0 ? 0 : SequenceSpace.unwrap(packet.sackRight(0), una);
        boolean isNew = newest > acknowledged
                && !losses.isHeld(newest); // the first block may tell of a duplicate (RFC 2883 §4)
        long sackedNow = losses.onSackBlocks(packet, acknowledged, sndMax);
        if (mayBeDuplicate && sndMax > una && (packet.sackBlocks > 0 || una == previousAck)) {
            losses.onDuplicateAck();
        }
        if (isNew) {
            timeSack(now, newest, sackedNow);
        }
        if (sackedNow > 0) {
            waits.onLoss(losses.isFromQueue());
            path.onAck(now, onLayer(sackedNow, segmentSize.bytes()), 0, -1, false);
        }
    }

    // ---- rows ----

    private WaitJudge.Moment moment(long now, long passedWithoutQueueNanos) {
        return new WaitJudge.Moment(
                now,
                passedWithoutQueueNanos,
                sndMax,
                una,
                segmentSize.bytes(),
                window.isZero(),
                losses.isPending(),
                losses.isFromQueue(),
                losses.recoveredNanos());
    }

    /** The flow ends: nothing more will come. */
    void finish() {
        waits.finish();
    }

    /** Books everything up to the end of an interval. */
    void cut(long now) {
        bookZeroWindow(now);
        waits.cut(moment(now, now));
        // The stream it is read from may change; what was in flight then must not count below zero.
        interval.set(Sum.DELIVERED_BYTES, Math.max(0, path.deliveredBytes() - total.get(Sum.DELIVERED_BYTES)));
        interval.set(Sum.INTERLEAVED_NS, path.interleavedNanos());
        interval.set(Sum.GAPS_NS, path.gapsNanos());
        path.resetGaps();
    }

    /** Moves the interval's sums into the life's, and begins anew. */
    void roll() {
        total.addAll(interval);
        rttTotal.addAll(rttInterval);
        gapTotal.addAll(gapInterval);
        interval.clear();
        rttInterval.clear();
        gapInterval.clear();
    }

    /** No data can be sent again sooner, in ns; 0 if that is not known. */
    long shortestRepeatNanos() {
        return path.lowestRttNanos() / 2;
    }

    boolean isElephant() {
        return total.get(Sum.DATA_PACKETS) + interval.get(Sum.DATA_PACKETS) >= ELEPHANT_PACKETS;
    }

    /** Whether the interval deserves a row: payload was sent, or the receiver's window kept it back. */
    boolean hasIntervalRow() {
        return isElephant() && (interval.get(Sum.DATA_PACKETS) > 0 || interval.get(Sum.ZERO_WINDOW_NS) > 0);
    }

    /** Whether the receiver keeps an elephant from sending anything at all. */
    boolean isKeptByWindow() {
        return window.isZero() && isElephant();
    }

    Tally interval() {
        return interval;
    }

    Tally total() {
        return total;
    }

    LogHistogram rttInterval() {
        return rttInterval;
    }

    LogHistogram rttTotal() {
        return rttTotal;
    }

    LogHistogram gapInterval() {
        return gapInterval;
    }

    LogHistogram gapTotal() {
        return gapTotal;
    }

    PathModel path() {
        return path;
    }

    /** Delays of the running second. */
    DelaySeries series() {
        return series;
    }

    int mss() {
        return segmentSize.bytes();
    }

    boolean isPeerSilent() {
        return !ackSeen;
    }

    /** Packets are missing from the input: what is in flight is unknown. */
    void onHole() {
        waits.onBlindness();
        losses.forget();
        path.restart();
        previousAck = UNSEEN;
        resuming = true;
    }

    void writeTo(DataOutput out) throws IOException {
        interval.writeTo(out);
        total.writeTo(out);
        rttInterval.writeTo(out);
        rttTotal.writeTo(out);
        gapInterval.writeTo(out);
        gapTotal.writeTo(out);
        path.writeTo(out);
        acks.writeTo(out);
        sent.writeTo(out);
        segmentSize.writeTo(out);
        waits.writeTo(out);
        Varint.write(out, sndMax == UNSEEN ? 0 : sndMax);
        writeSequence(out, una, sndMax);
        writeSequence(out, initial, sndMax);
        writeSequence(out, afterFin, sndMax);
        Varint.write(out, probeEnd == UNSEEN ? 0 : probeEnd);
        writeSequence(out, previousAck, sndMax);
        losses.writeTo(out, sndMax);
        window.writeTo(out, sndMax);
        out.writeByte((resuming ? 1 : 0) | (ackSeen ? 2 : 0));
        Varint.write(out, overheadBytes);
        Varint.write(out, lastDataNanos);
        Varint.write(out, zeroSinceNanos);
        Varint.write(out, foreignAck);
        series.writeTo(out);
    }

    void readFrom(DataInput in) throws IOException {
        interval.readFrom(in);
        total.readFrom(in);
        rttInterval.readFrom(in);
        rttTotal.readFrom(in);
        gapInterval.readFrom(in);
        gapTotal.readFrom(in);
        path.readFrom(in);
        acks.readFrom(in);
        sent.readFrom(in);
        segmentSize.readFrom(in);
        waits.readFrom(in);
        long highest = Varint.read(in);
        sndMax = highest == 0 ? UNSEEN : highest;
        una = readSequence(in, sndMax);
        initial = readSequence(in, sndMax);
        afterFin = readSequence(in, sndMax);
        long probed = Varint.read(in);
        probeEnd = probed == 0 ? UNSEEN : probed;
        previousAck = readSequence(in, sndMax);
        losses.readFrom(in, sndMax);
        window.readFrom(in, sndMax);
        int bits = in.readByte();
        resuming = (bits & 1) != 0;
        ackSeen = (bits & 2) != 0;
        overheadBytes = Varint.readInt(in);
        lastDataNanos = Varint.read(in);
        zeroSinceNanos = Varint.read(in);
        foreignAck = Varint.read(in);
        series.readFrom(in);
    }

    /** Sequence numbers lie near the highest one: most distances are short. 0 stands for an unseen one. */
    private static void writeSequence(DataOutput out, long sequence, long reference) throws IOException {
        long distance = sequence - Math.max(0, reference);
        Varint.write(out, sequence == UNSEEN ? 0 : distance >= 0 ? distance + 1 : distance);
    }

    private static long readSequence(DataInput in, long reference) throws IOException {
        long code = Varint.read(in);
        return code == 0 ? UNSEEN : Math.max(0, reference) + (code > 0 ? code - 1 : code);
    }
}
