// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.loss.Holes;
import io.chokepoint.analysis.loss.SackScoreboard;
import io.chokepoint.analysis.loss.SentHistory;
import io.chokepoint.analysis.rtt.RoundMinimum;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.SequenceSpace;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What one direction lost, what was sent again and why, and whether a repair is under way.
 *
 * <p>We sit in the middle: a loss behind the tap shows as a second copy, one before it as a hole that is filled late; what
 * the receiver holds shows in its SACK blocks. Any of them means that a loss is pending.
 */
final class LossTracker {
    private static final long NEVER = Long.MIN_VALUE;
    private static final int FAST_DUPLICATES = 3; // RFC 5681 §3.2
    private static final long RANDOM_LOSS_PACKET_TIMES = 8;
    private static final int QUEUE_SHARE = 8; // of the round trip
    private static final int JITTER_SHARE = 16;

    private final Tally tally;
    private final PathModel path;
    private final SentHistory sent;
    private final Holes holes = new Holes();
    private final SackScoreboard sacked = new SackScoreboard();
    private int duplicateAcks;
    private long recover = NEVER;
    private boolean recovering;
    private long recoveredNanos;
    private boolean fromQueue; // the newest loss: a queue was full
    private Sum lastResent = Sum.RETRANSMITTED_OTHER_BYTES;
    private boolean lastLostBefore; // the tap had not seen what was sent again

    LossTracker(Tally tally, PathModel path, SentHistory sent) {
        this.tally = tally;
        this.path = path;
        this.sent = sent;
    }

    /** Whether something is lost, or may be, and not yet repaired. */
    boolean isPending() {
        return recovering || holes.any() || sacked.bytes() > 0;
    }

    /** Whether an ACK's time tells of more than the path: something is missing, or its sender said so. */
    boolean disturbs(Packet ack) {
        return isPending() || ack.sackBlocks > 0 || duplicateAcks > 0;
    }

    /** When the last repair was complete, in flow time; 0 if there was none. */
    long recoveredNanos() {
        return recoveredNanos;
    }

    /** New data begin at {@code to} although {@code from} was expected. */
    void onGap(long now, long from, long to, Packet opener) {
        holes.open(now, from, to, opener);
    }

    /**
     * Data below the expected number pass: late, or sent again.
     *
     * @param una lowest number not acknowledged
     * @param sndMax number expected next
     * @return whether it was sent again
     */
    boolean onOldData(long now, Packet packet, long sequence, long end, long una, long sndMax) {
        Holes.Filling filling = holes.fill(now, sequence, end, packet, path.lowestRttNanos());
        if (filling == Holes.Filling.REORDERED) {
            tally.add(Sum.REORDERED_PACKETS, 1);
            return false;
        }
        boolean seenBefore = filling == Holes.Filling.NONE;
        lastResent = kindOfResent(now, sequence, end, una, sndMax, seenBefore);
        tally.add(lastResent, packet.payloadBytes);
        sent.markResent(sequence, end);
        lastLostBefore = !seenBefore;
        if (lastResent != Sum.RETRANSMITTED_SPURIOUS_BYTES) {
            tally.add(lostAt(), packet.payloadBytes);
            beginRecovery(sequence, sndMax);
        }
        return true;
    }

    private Sum lostAt() {
        return lastLostBefore ? Sum.LOST_BEFORE_TAP_BYTES : Sum.LOST_AFTER_TAP_BYTES;
    }

    private Sum kindOfResent(long now, long sequence, long end, long una, long sndMax, boolean seenBefore) {
        if (end <= una) {
            return Sum.RETRANSMITTED_SPURIOUS_BYTES;
        }
        boolean evidence = duplicateAcks >= FAST_DUPLICATES || sacked.bytes() > 0;
        if (evidence) {
            boolean isFirst = !recovering || sequence >= recover || sequence <= una;
            return isFirst ? Sum.RETRANSMITTED_FAST_BYTES : Sum.RETRANSMITTED_OTHER_BYTES;
        }
        long sentAt = seenBefore ? sent.timeAtOrAfter(end) : SentHistory.NONE;
        long age = sentAt == SentHistory.NONE ? path.timeoutNanos() : now - sentAt;
        boolean isProbe = end == sndMax && !recovering; // no probes during a repair (RFC 8985 §7.2)
        if (isProbe) {
            return Sum.RETRANSMITTED_TAIL_PROBE_BYTES;
        }
        boolean isTimeout = sequence == una && age >= path.timeoutNanos();
        return isTimeout ? Sum.RETRANSMITTED_TIMEOUT_BYTES : Sum.RETRANSMITTED_OTHER_BYTES;
    }

    /** A retransmission at or above {@code recover} is a new loss event (RFC 6675 §2). */
    private void beginRecovery(long sequence, long sndMax) {
        if (recovering && sequence < recover) {
            return;
        }
        recovering = true;
        recover = sndMax;
        tally.add(Sum.LOSS_EVENTS, 1);
        long queue = queueAtLoss();
        long unlikely = path.packetTimeNanos() == 0
                ? path.lowestRttNanos() / QUEUE_SHARE
                : Math.max(RANDOM_LOSS_PACKET_TIMES * path.packetTimeNanos(), path.lowestRttNanos() / JITTER_SHARE);
        fromQueue = queue > unlikely;
        if (path.packetTimeNanos() == 0) {
            return;
        }
        if (queue > RANDOM_LOSS_PACKET_TIMES * path.packetTimeNanos()) {
            tally.add(Sum.QUEUE_AT_LOSS_NS, queue);
            tally.add(Sum.QUEUE_AT_LOSS_EVENTS, 1);
        } else {
            tally.add(Sum.RANDOM_LOSS_EVENTS, 1);
        }
    }

    private long queueAtLoss() {
        return Math.max(path.queueNanos(), Math.max(latestQueue(path.receiverSide()), latestQueue(path.senderSide())));
    }

    private static long latestQueue(RoundMinimum side) {
        boolean known = side.latest() != RoundMinimum.NONE && side.lifeMinimum() != RoundMinimum.NONE;
        return known ? side.latest() - side.lifeMinimum() : 0;
    }

    /** Whether a full queue lost what is being repaired. */
    boolean isFromQueue() {
        return recovering && fromQueue;
    }

    /** The receiver acknowledges up to {@code ack}: returns the bytes it got although the tap never saw them. */
    long unseenBelow(long ack) {
        return holes.acknowledge(ack);
    }

    /** The cumulative acknowledgment reaches {@code ack}: returns the bytes below it that SACK had delivered before. */
    long onAdvance(long now, long ack) {
        duplicateAcks = 0;
        if (recovering && ack >= recover) {
            recovering = false;
            recoveredNanos = now;
        }
        return sacked.removeBelow(ack);
    }

    /** Whether the receiver has said before that it holds what ends there. */
    boolean isHeld(long end) {
        return sacked.holds(end);
    }

    /** An ACK that advances nothing while data are outstanding. */
    void onDuplicateAck() {
        duplicateAcks++;
    }

    /** Returns the bytes that an ACK's blocks newly cover; the first block may tell of a duplicate (DSACK, RFC 2883 §4). */
    long onSackBlocks(Packet packet, long acknowledged, long sndMax) {
        long added = 0;
        for (int i = 0; i < packet.sackBlocks; i++) {
            long left = SequenceSpace.unwrap(packet.sackLeft(i), acknowledged);
            long right = SequenceSpace.unwrap(packet.sackRight(i), acknowledged);
            boolean isBelow = right <= acknowledged;
            boolean isInside = packet.sackBlocks > 1 && isInsideSecond(packet, acknowledged, left, right);
            if (i == 0 && (isBelow || isInside)) {
                onDuplicateReceived(right - left);
            } else if (left >= acknowledged && left < right && right <= sndMax) {
                added += sacked.add(left, right);
            }
        }
        return added;
    }

    private static boolean isInsideSecond(Packet packet, long acknowledged, long left, long right) {
        long outerLeft = SequenceSpace.unwrap(packet.sackLeft(1), acknowledged);
        long outerRight = SequenceSpace.unwrap(packet.sackRight(1), acknowledged);
        return outerLeft <= left && right <= outerRight;
    }

    /** The receiver got bytes twice: what was last sent again was not needed. */
    private void onDuplicateReceived(long bytes) {
        if (lastResent != Sum.RETRANSMITTED_SPURIOUS_BYTES && tally.get(lastResent) >= bytes) {
            tally.add(lastResent, -bytes);
            tally.add(Sum.RETRANSMITTED_SPURIOUS_BYTES, bytes);
            tally.add(lostAt(), -Math.min(bytes, tally.get(lostAt())));
        }
    }

    /** Packets are missing from the input: what is in flight is unknown. */
    void forget() {
        holes.clear();
        sacked.clear();
        recovering = false;
        duplicateAcks = 0;
    }

    /** Writes the state; {@code near} is a sequence number not far from those in it, which makes it short. */
    void writeTo(DataOutput out, long near) throws IOException {
        holes.writeTo(out);
        sacked.writeTo(out);
        Varint.write(out, duplicateAcks);
        Varint.write(out, recover == NEVER ? 0 : recover - near - 1);
        out.writeByte(
                (recovering ? 1 : 0) | (recover == NEVER ? 2 : 0) | (fromQueue ? 4 : 0) | (lastLostBefore ? 8 : 0));
        Varint.write(out, recoveredNanos);
        out.writeByte(lastResent.ordinal());
    }

    /** Reads what {@link #writeTo} wrote. */
    void readFrom(DataInput in, long near) throws IOException {
        holes.readFrom(in);
        sacked.readFrom(in);
        duplicateAcks = Varint.readInt(in);
        long distance = Varint.read(in);
        int bits = in.readByte();
        recovering = (bits & 1) != 0;
        fromQueue = (bits & 4) != 0;
        lastLostBefore = (bits & 8) != 0;
        recover = (bits & 2) != 0 ? NEVER : near + 1 + distance;
        recoveredNanos = Varint.read(in);
        lastResent = Sum.values()[in.readByte()];
    }
}
