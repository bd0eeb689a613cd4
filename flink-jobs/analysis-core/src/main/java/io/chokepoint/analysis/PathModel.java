// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.capacity.CapacityEstimator;
import io.chokepoint.analysis.capacity.DeliveryRate;
import io.chokepoint.analysis.rtt.RoundMinimum;
import io.chokepoint.analysis.window.SenderClock;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What the packets of one direction say about the path: delays of both half paths, standing queues, the rate of the
 * narrowest link, and whether the flow fills it.
 *
 * <p>The sender's side is the way tap → sender → tap, the receiver's side tap → receiver → tap. A queue in the receiver's
 * side lies behind the tap: the spacing of ACKs shows its link. One in the sender's side lies before the tap: there the
 * spacing of data does. Never the other way round: data spacing before a bottleneck shows the sender's own bursts.
 */
final class PathModel {
    private static final double PROOF_BY_STRETCH = 1.2;
    private static final double FULL = 0.9;
    private static final double USED_UP = 0.97;
    private static final double LEAST_AGREEMENT = 0.2; // of the samples; below they are jitter
    private static final double TOO_LOW = 1.1;
    private static final double LONG_GAP = 1.4; // packet times: somebody else's packet fitted in
    private static final long FLOOR_NANOS = 20_000;
    private static final long RATE_WINDOW_NANOS = 30_000_000;
    private static final long MAX_ACKED_SEGMENTS = 64;
    private static final long DATA_DRIVEN_SEGMENTS = 2;
    private static final long NEAR_NANOS = 100_000;
    private static final int NEAR_SENDER = 8; // of the round trip
    private static final int NEAR_AT_MOST = 4; // of the round trip
    private static final double RISE = 1.018; // nine falls make up for one rise
    private static final double FALL = 0.998;
    private static final double FORGOTTEN = 0.98; // in a row: a link may become slower
    private static final long USUAL_FRAME_BYTES = 1_500;
    private static final long JUMBO_FRAMES = 6;
    private static final int EVEN_SHARE = 100; // of a gap
    private static final int EVEN_GAPS = 16;
    private static final int EVEN_STEPS = 50;
    private static final long STRETCH_FLOOR_NANOS = 10_000;
    private static final int FRESH_ROUNDS = 8;
    private static final long FRESH_NANOS = 200_000_000;
    private static final int SMOOTHING = 8; // RFC 6298 §2
    private static final long USUAL_FLOOR_NANOS = 200_000; // hosts answer no more steadily
    private static final int USUAL_SHARE = 16; // of the round trip
    private static final int USUAL_PACKETS = 4; // a flow's own bursts
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    private final RoundMinimum receiverSide = new RoundMinimum();
    private final RoundMinimum senderSide = new RoundMinimum();
    private final CapacityEstimator ackSpacing = new CapacityEstimator();
    private final CapacityEstimator dataSpacing = new CapacityEstimator();
    private final DeliveryRate acked = new DeliveryRate();
    private final DeliveryRate passed = new DeliveryRate();

    private long smoothedRttNanos;
    private long rttVariationNanos;
    private long timedNanos; // when the newest delay of the receiver's side was measured
    private long usualSenderNanos; // smoothed delay of the sender's side; 0 if unknown
    private long usualRttNanos; // smoothed, without what may be a delayed ACK's wait; 0 if unknown
    private boolean grown;
    private double bestAcked;
    private double bestPassed;
    private double highQueued; // rate that a tenth of the waits in a queue exceed
    private double highestQueued; // at the ends of the last rows

    // What follows from the estimators and the best rate: see conclude().
    private boolean judgedByData;
    private double capacity;
    private long packetTimeNanos;

    private long lastAckNanos;
    private boolean ackChain;
    private long lastAckSegments;
    private long lastDataNanos;
    private boolean dataChain;
    private long evenGapNanos; // at which data have come for evenNanos, in packets of evenBytes
    private long evenBytes;
    private long evenNanos;

    private final SenderClock clock = new SenderClock();

    private long resolutionNanos = 1;
    private long segmentLayerBytes = 1;

    // Since the last row: read and reset by it.
    private long interleavedNanos;
    private long gapsNanos;

    /** From now on rates and spacing are followed, too; before only delays are: mice pay for no more. */
    void growUp() {
        grown = true;
    }

    /** Smallest step of the packet times, in ns. */
    void setResolution(long nanos) {
        resolutionNanos = Math.max(1, nanos);
    }

    /** Size of a full segment on the layer of the rates, in bytes. */
    void setSegmentLayerBytes(long bytes) {
        if (bytes != segmentLayerBytes) {
            segmentLayerBytes = Math.max(1, bytes);
            conclude();
        }
    }

    /** The sender's clock, as its timestamps show it. */
    SenderClock clock() {
        return clock;
    }

    RoundMinimum receiverSide() {
        return receiverSide;
    }

    RoundMinimum senderSide() {
        return senderSide;
    }

    // ---- delays ----

    /** Lowest round trip of the flow's life in ns; 0 if unknown. */
    long lowestRttNanos() {
        long sum = known(receiverSide.lifeMinimum()) + known(senderSide.lifeMinimum());
        return sum;
    }

    /** Round trip at present, queues included, in ns; 0 if unknown. */
    long rttNanos() {
        if (smoothedRttNanos > 0) {
            return smoothedRttNanos;
        }
        return lowestRttNanos();
    }

    private static long known(long delayNanos) {
        return delayNanos == RoundMinimum.NONE ? 0 : delayNanos;
    }

    /** A segment was acknowledged {@code delayNanos} after it passed the tap. Returns the whole round trip in ns. */
    long onReceiverDelay(long now, long delayNanos, boolean showsQueue) {
        timedNanos = now;
        if (showsQueue) {
            receiverSide.add(now, delayNanos, Math.max(rttNanos(), delayNanos));
        } else {
            receiverSide.bound(delayNanos);
        }
        long rtt = delayNanos + (usualSenderNanos > 0 ? usualSenderNanos : known(senderSide.lifeMinimum()));
        smooth(rtt);
        if (showsQueue) {
            usualRttNanos += usualRttNanos == 0 ? rtt : (rtt - usualRttNanos) / SMOOTHING;
        }
        return rtt;
    }

    /** Data answered an acknowledgment that had passed the tap {@code delayNanos} before. */
    void onSenderDelay(long now, long delayNanos) {
        senderSide.add(now, delayNanos, rttNanos());
        usualSenderNanos += usualSenderNanos == 0 ? delayNanos : (delayNanos - usualSenderNanos) / SMOOTHING;
    }

    /** RFC 6298 §2. */
    private void smooth(long rtt) {
        if (smoothedRttNanos == 0) {
            smoothedRttNanos = rtt;
            rttVariationNanos = rtt / 2;
            return;
        }
        rttVariationNanos += (Math.abs(smoothedRttNanos - rtt) - rttVariationNanos) / 4;
        smoothedRttNanos += (rtt - smoothedRttNanos) / SMOOTHING;
    }

    /** Retransmission timeout in ns without its floor (RFC 6298 §2.3); 0 if unknown. */
    long timeoutNanos() {
        return smoothedRttNanos == 0 ? 0 : smoothedRttNanos + 4 * rttVariationNanos;
    }

    /**
     * Delay of the queue: how far the lowest delay of the last round lies above that of the flow's life, on the side where it is
     * larger, or how far the usual round trip does if that queues, too.
     */
    long queueNanos() {
        long standing = Math.max(queueBehindTapNanos(), queueBeforeTapNanos());
        return isQueueUsual() ? Math.max(standing, usualRttNanos - lowestRttNanos()) : standing;
    }

    /** Two full segments, as one ACK acknowledges, take two packet times longer than the handshake's empty ones. */
    private long queueBehindTapNanos() {
        return receiverSide.queueNanos(2 * packetTimeNanos);
    }

    private long queueBeforeTapNanos() {
        return senderSide.queueNanos(packetTimeNanos);
    }

    /** Whether the standing queue lies between sender and tap. */
    boolean isQueueBeforeTap() {
        return queueBeforeTapNanos() > queueBehindTapNanos();
    }

    /** Whether a queue stands on either side, or comes and goes. */
    boolean isQueueStanding() {
        return standsBehindTap() || standsBeforeTap() || isQueueUsual();
    }

    boolean isQueueInEachRound() {
        return standsBehindTap() || standsBeforeTap();
    }

    /**
     * A queue that others fill, too, drains now and then, and flows of few packets a round seldom see its least: it shows in the
     * round trip that is usual (RFC 6298 §2). It proves no gap, since the packets in it need not be the flow's.
     */
    private boolean isQueueUsual() {
        long least = Math.max(USUAL_FLOOR_NANOS, lowestRttNanos() / USUAL_SHARE);
        return usualRttNanos - lowestRttNanos() > Math.max(threshold(USUAL_PACKETS * packetTimeNanos), least);
    }

    /** Until the capacity is known a twelfth of the lowest round trip stands for the packet time, more for jumbo frames. */
    private boolean standsBehindTap() {
        long frames = Math.max(1, Math.min(segmentLayerBytes / USUAL_FRAME_BYTES, JUMBO_FRAMES));
        return queueBehindTapNanos()
                > threshold(packetTimeNanos > 0 ? packetTimeNanos : frames * lowestRttNanos() / 12);
    }

    /**
     * A sender's own pauses also delay what answers an ACK; the least of a round's pauses is below the mean gap, so until the
     * capacity is known the threshold counts gaps instead of packet times.
     */
    private boolean standsBeforeTap() {
        long queue = queueBeforeTapNanos();
        if (queue <= threshold(packetTimeNanos)) {
            return false;
        }
        double rate =
                dataSpacing.capacityBitsPerSecond() > 0 ? bestRate() : passed.bitsPerSecond(lastDataNanos, window());
        return rate > 0 && queue > threshold(packetTimeOr(rate));
    }

    /** Whether a queue of the last round trips would have shown: their delays were measured. */
    boolean isTimed(long now) {
        return now - timedNanos <= Math.max(FRESH_ROUNDS * rttNanos(), FRESH_NANOS);
    }

    /**
     * Whether the sender's side is too long to be overlooked, but its delay cannot be followed: without timestamps, or with those
     * of a clock that steps once in more than a round trip.
     */
    boolean mayHideQueueBeforeTap() {
        long lowest = senderSide.lifeMinimum();
        long rtt = lowestRttNanos();
        boolean isNear = lowest <= Math.max(Math.min(NEAR_NANOS, rtt / NEAR_AT_MOST), rtt / NEAR_SENDER);
        boolean isFollowed = clock.isShown() && clock.tickNanos() <= rtt;
        return grown && !isFollowed && !isNear && capacity == 0;
    }

    private long threshold(long packetTimeNanos) {
        long jitter = FLOOR_NANOS + lowestRttNanos() / 32;
        return Math.max(Math.max(packetTimeNanos * 3 / 2, 4 * resolutionNanos), jitter);
    }

    /** Time a full segment takes on the narrowest link, in ns; 0 if its rate is unknown. */
    long packetTimeNanos() {
        return packetTimeNanos;
    }

    private long packetTimeOr(double fallbackRate) {
        return packetTimeNanos > 0 ? packetTimeNanos : packetTimeAt(fallbackRate);
    }

    // ---- rates ----

    /** Time over which the rate is compared with the capacity: max(RTT, 10 packet times, 30 ms or 4 RTT if less). */
    private long window() {
        long rtt = Math.max(rttNanos(), resolutionNanos);
        return Math.max(Math.max(rtt, 10 * packetTimeOr(bestRate())), Math.min(RATE_WINDOW_NANOS, 4 * rtt));
    }

    /**
     * New data pass the tap.
     *
     * @param clean in order, and no loss is pending
     * @param ranDry its sender waits for its application: what its side takes longer need not be a queue
     */
    void onData(long now, Packet packet, long layerBytes, boolean clean, boolean ranDry) {
        if (!grown) {
            passed.skip(layerBytes);
            return;
        }
        passed.add(now, layerBytes, window());
        long gap = now - lastDataNanos;
        boolean usable = clean && dataChain && gap > 0 && gap < longestGap();
        if (usable) {
            boolean proven = (standsBeforeTap() && !ranDry)
                    || clock.wasStretched(now, packet)
                    || (!clock.isShown() && isEven(gap, packet, layerBytes));
            sample(dataSpacing, proven, now, layerBytes, gap, 1);
        } else {
            evenNanos = 0;
            dataSpacing.breakChain();
        }
        dataChain = clean;
        lastDataNanos = now;
        clock.observe(now, packet);
    }

    /**
     * Whether full segments have come at one distance for a round trip, as from a link that never rests: bursts at the rate of the
     * sender's own link end sooner. A sender that paces by a timer may come as evenly, so this counts only where no timestamps
     * could tell, and its verdicts are less sure.
     */
    private boolean isEven(long gap, Packet packet, long layerBytes) {
        long slack = Math.max(2 * resolutionNanos, evenGapNanos / EVEN_SHARE);
        if (layerBytes >= segmentLayerBytes && layerBytes == evenBytes && Math.abs(gap - evenGapNanos) <= slack) {
            evenNanos += packet.has(Packet.PSH) ? 0 : gap; // a writer's rhythm shows it often
        } else {
            evenNanos = 0;
            evenGapNanos = gap;
            evenBytes = layerBytes;
        }
        return evenNanos >= Math.max(EVEN_GAPS * evenGapNanos, rttNanos())
                && EVEN_STEPS * resolutionNanos <= evenGapNanos;
    }

    /** More than an RTT or so of silence is the sender's pause, not a queue's spacing. */
    private long longestGap() {
        long rtt = rttNanos();
        return rtt == 0 ? RATE_WINDOW_NANOS : Math.max(rtt / 2, 4 * packetTimeNanos);
    }

    /**
     * An ACK advances.
     *
     * @param layerBytes bytes it newly acknowledges, cumulatively or by SACK, on the layer of the rates
     * @param segments segments that the cumulative acknowledgment advances by
     * @param dataGapNanos gap between the ends of what this and the previous ACK acknowledge, when they passed the tap; -1 if unknown
     * @param usable pure, without SACK, outside recovery
     */
    void onAck(long now, long layerBytes, long segments, long dataGapNanos, boolean usable) {
        if (!grown) {
            acked.skip(layerBytes);
            return;
        }
        acked.add(now, layerBytes, window());
        if (segments == 0) {
            ackChain = false;
            return;
        }
        long gap = now - lastAckNanos;
        if (usable && ackChain && gap > 0 && gap < longestGap() && segments <= MAX_ACKED_SEGMENTS) {
            boolean proven = standsBehindTap() || (isDataDriven(segments) && wasStretched(gap, segments, dataGapNanos));
            sample(ackSpacing, proven, now, layerBytes, gap, segments);
        } else {
            ackSpacing.breakChain();
        }
        ackChain = usable;
        lastAckNanos = now;
        lastAckSegments = segments;
    }

    /** A receiver acknowledges two segments at once; one or many wait for a timer or for its application to read. */
    private boolean isDataDriven(long segments) {
        return segments == DATA_DRIVEN_SEGMENTS && lastAckSegments == DATA_DRIVEN_SEGMENTS;
    }

    /** Data that came closer together than one of their packet times can only have left the link without a pause. */
    private boolean wasStretched(long ackGap, long segments, long dataGap) {
        return dataGap >= 0
                && ackGap >= Math.max(PROOF_BY_STRETCH, (double) segments) * dataGap
                && ackGap - dataGap >= Math.max(STRETCH_FLOOR_NANOS, 4 * resolutionNanos); // what a host may take
    }

    private void sample(
            CapacityEstimator estimator, boolean proven, long now, long layerBytes, long gap, long segments) {
        if (proven) {
            estimator.add(now, (double) layerBytes * BITS_PER_BYTE, gap);
            if (estimator.isDue()) {
                estimator.estimate(resolutionNanos);
                conclude();
            }
        } else {
            estimator.breakChain();
        }
        if (packetTimeNanos > 0 && estimator == judged()) {
            gapsNanos += gap;
            interleavedNanos += gap > LONG_GAP * segments * packetTimeNanos ? gap : 0;
        }
    }

    /** Nothing may be timed across what happened here. */
    void breakChains() {
        ackChain = false;
        dataChain = false;
        clock.breakChain();
        ackSpacing.breakChain();
        dataSpacing.breakChain();
    }

    /** The stream whose spacing shows the narrowest link: the one with more proof, weighed by how well it agrees. */
    private CapacityEstimator judged() {
        return judgedByData ? dataSpacing : ackSpacing;
    }

    /** Draws the conclusions of a new estimate or best rate. */
    private void conclude() {
        judgedByData = weight(dataSpacing) > weight(ackSpacing);
        double estimate = judged().capacityBitsPerSecond();
        capacity = rateInQueue() > TOO_LOW * estimate || judged().bellShare() < LEAST_AGREEMENT ? 0 : estimate;
        packetTimeNanos = capacity > 0 ? packetTimeAt(capacity) : 0;
    }

    private long packetTimeAt(double rate) {
        return rate > 0 ? (long) (segmentLayerBytes * BITS_PER_BYTE * NANOS_PER_SECOND / rate) : 0;
    }

    private static double weight(CapacityEstimator estimator) {
        return estimator.provenSamples() * estimator.bellShare() * estimator.bellShare();
    }

    /** Whether the narrowest link is judged by the data that come from it, i.e. it lies before the tap. */
    boolean isJudgedByData() {
        return judgedByData;
    }

    /** Rate of the narrowest link in bit/s, from proven samples; 0 if there is none. */
    double capacityBitsPerSecond() {
        return capacity;
    }

    /** Gaps with a proven queue. */
    long provenSamples() {
        return judged().provenSamples();
    }

    /** Share of the samples that agree with the capacity, 0..1. */
    double capacityAgreement() {
        return judged().bellShare();
    }

    private DeliveryRate delivered() {
        return isJudgedByData() ? passed : acked;
    }

    /** Bytes so far that got past the bottleneck, on the layer of the rates. */
    long deliveredBytes() {
        return delivered().totalBytes();
    }

    /**
     * Whether this flow fills the narrowest link alone at {@code now}: it delivers at least 0.9 of a proven capacity.
     *
     * @param settled no repair of a loss is under way or just over: what an ACK then frees at once was not delivered at once
     */
    boolean isFull(long now, boolean settled) {
        double rate = delivered().bitsPerSecond(now, window());
        if (settled && rate > bestRate()) {
            bestAcked = judgedByData ? bestAcked : rate;
            bestPassed = judgedByData ? rate : bestPassed;
            conclude();
        }
        if (rate > 0 && isQueueStanding()) {
            highQueued = highQueued == 0 ? rate : highQueued * (rate > highQueued ? RISE : FALL);
        }
        return capacity > 0 && rate >= FULL * capacity;
    }

    /** Whether next to nothing of a proven capacity is left. */
    boolean isUsedUp(long now) {
        return capacity > 0 && delivered().bitsPerSecond(now, window()) >= USED_UP * capacity;
    }

    /**
     * Rate that a tenth of the waits in a queue exceed: on a link of one rate at most the capacity, since neither the burst that a
     * shaper lets pass before nor one late ACK makes it. Without a queue so far, the highest rate.
     */
    double rateInQueue() {
        return highQueued > 0 ? highQueued : bestRate();
    }

    /** The highest such rate of the last rows: what a link did deliver, it can, unless it has become slower. */
    double highestRateInQueue() {
        return Math.max(highestQueued, rateInQueue());
    }

    private double bestRate() {
        return judgedByData ? bestPassed : bestAcked;
    }

    /** Highest rate ever delivered over a window, in bit/s. */
    double bestBitsPerSecond() {
        return bestRate();
    }

    /** Time in gaps into which a foreign packet fits, since the last call of {@link #resetGaps}; in ns. */
    long interleavedNanos() {
        return interleavedNanos;
    }

    /** Time in all gaps since the last call of {@link #resetGaps}; in ns. */
    long gapsNanos() {
        return gapsNanos;
    }

    void resetGaps() {
        interleavedNanos = 0;
        gapsNanos = 0;
        highestQueued = Math.max(FORGOTTEN * highestQueued, highQueued);
    }

    /** Forgets what cannot reach across a hole or a long silence; keeps what belongs to the path. */
    void restart() {
        breakChains();
        receiverSide.restart();
        senderSide.restart();
        usualRttNanos = 0;
        usualSenderNanos = 0;
        acked.restart();
        passed.restart();
    }

    void writeTo(DataOutput out) throws IOException {
        receiverSide.writeTo(out);
        senderSide.writeTo(out);
        Varint.write(out, smoothedRttNanos);
        Varint.write(out, rttVariationNanos);
        Varint.write(out, usualRttNanos - smoothedRttNanos);
        Varint.write(out, timedNanos);
        Varint.write(out, usualSenderNanos);
        Varint.write(out, resolutionNanos);
        Varint.write(out, segmentLayerBytes);
        Varint.write(out, acked.totalBytes());
        Varint.write(out, passed.totalBytes());
        out.writeBoolean(grown);
        if (grown) {
            writeGrown(out);
        }
    }

    private void writeGrown(DataOutput out) throws IOException {
        ackSpacing.writeTo(out);
        dataSpacing.writeTo(out);
        acked.writeTo(out);
        passed.writeTo(out);
        out.writeBoolean(judgedByData);
        out.writeDouble(capacity);
        Varint.write(out, packetTimeNanos);
        out.writeDouble(bestAcked);
        out.writeDouble(bestPassed);
        out.writeDouble(highQueued);
        out.writeDouble(highestQueued);
        Varint.write(out, lastAckNanos);
        Varint.write(out, lastAckSegments);
        Varint.write(out, lastDataNanos);
        Varint.write(out, evenGapNanos);
        Varint.write(out, evenBytes);
        Varint.write(out, evenNanos);
        out.writeBoolean(ackChain);
        out.writeBoolean(dataChain);
        clock.writeTo(out);
        Varint.write(out, interleavedNanos);
        Varint.write(out, gapsNanos);
    }

    void readFrom(DataInput in) throws IOException {
        receiverSide.readFrom(in);
        senderSide.readFrom(in);
        smoothedRttNanos = Varint.read(in);
        rttVariationNanos = Varint.read(in);
        usualRttNanos = smoothedRttNanos + Varint.read(in);
        timedNanos = Varint.read(in);
        usualSenderNanos = Varint.read(in);
        resolutionNanos = Varint.read(in);
        segmentLayerBytes = Varint.read(in);
        acked.skip(Varint.read(in));
        passed.skip(Varint.read(in));
        grown = in.readBoolean();
        if (grown) {
            readGrown(in);
        }
    }

    private void readGrown(DataInput in) throws IOException {
        ackSpacing.readFrom(in);
        dataSpacing.readFrom(in);
        acked.readFrom(in);
        passed.readFrom(in);
        judgedByData = in.readBoolean();
        capacity = in.readDouble();
        packetTimeNanos = Varint.read(in);
        bestAcked = in.readDouble();
        bestPassed = in.readDouble();
        highQueued = in.readDouble();
        highestQueued = in.readDouble();
        lastAckNanos = Varint.read(in);
        lastAckSegments = Varint.read(in);
        lastDataNanos = Varint.read(in);
        evenGapNanos = Varint.read(in);
        evenBytes = Varint.read(in);
        evenNanos = Varint.read(in);
        ackChain = in.readBoolean();
        dataChain = in.readBoolean();
        clock.readFrom(in);
        interleavedNanos = Varint.read(in);
        gapsNanos = Varint.read(in);
    }
}
