// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Rate of the narrowest link from the spacing of packets that a queue has pushed together: PPrate [BAU20 §III-D] on
 * samples whose queue is proven.
 *
 * <p>Each sample is the rate of a gap: bits of the packets that end it ÷ its length. The density of their logarithms has
 * modes: one at the capacity C (packets back to back in the queue), further ones at C·n/(n+j) (j foreign packets between
 * n own ones). The estimate is the highest mode whose sub-multiples hold the tallest, or, half as tall, at most
 * twice its rate (foreign packets need not be as long); a lone higher one is a token burst.
 * Inside the mode's bell C = Σ bits ÷ Σ time, which averages clock quantisation out.
 *
 * <p>Departs from PPrate: no sample counts without proof of a queue, so that a sender's own rate is never taken for the
 * path's; the asymptotic dispersion rate is not used, since it lies far below C under cross traffic. When jitter spreads
 * the pairs, trains of {@link #TRAIN} gaps take their place.
 */
public final class CapacityEstimator {
    /** Proven samples needed for an estimate; fewer do if most of them agree. */
    public static final int ENOUGH = 50;

    /** Gaps in a train. */
    public static final int TRAIN = 16;

    private static final int PAIRS = 384;
    private static final int TRAINS = 96;
    private static final int ENOUGH_TRAINS = 12;
    /** Once the ring is full one gap in so many is taken, or one in so long if that is less. */
    private static final int SPACING_GAPS = 8;

    private static final long SPACING_NANOS = 2_000_000;

    private static final int FEW = 24;
    private static final int STEPS_PER_GAP = 25;
    private static final int SMOOTHING = 16;
    private static final double AGREED = 0.5;
    private static final double STEADY = 0.05;
    private static final double WEIGHT_OF_NEW = 0.25;
    private static final int CHECKS_TO_REPLACE = 3;
    private static final double NANOS_PER_SECOND = 1e9;

    private final RateRing pairs = new RateRing(PAIRS);
    private final RateRing trains = new RateRing(TRAINS);
    private long lastAccepted;
    private double trainBits;
    private long trainNanos;
    private int trainGaps;
    private long usualGapNanos;

    private double capacity;
    private double candidate;
    private int candidateChecks;
    private int newSamples;
    private long provenSamples;
    private double bellShare;

    /** A proven gap: {@code bits} arrived in the {@code gapNanos} up to {@code now}. */
    public void add(long now, double bits, long gapNanos) {
        newSamples++;
        provenSamples++;
        trainBits += bits;
        trainNanos += gapNanos;
        usualGapNanos += usualGapNanos == 0 ? gapNanos : (gapNanos - usualGapNanos) / SMOOTHING;
        if (++trainGaps == TRAIN) {
            trains.add(trainBits * NANOS_PER_SECOND / trainNanos);
            breakChain();
        }
        // By when it began: by when it ended long gaps would be taken more often.
        if (pairs.isFull() && now - gapNanos - lastAccepted < Math.min(SPACING_NANOS, SPACING_GAPS * usualGapNanos)) {
            return;
        }
        lastAccepted = now;
        pairs.add(bits * NANOS_PER_SECOND / gapNanos);
    }

    /** No train may span what happened here: loss, silence, a hole. */
    public void breakChain() {
        trainBits = 0;
        trainNanos = 0;
        trainGaps = 0;
    }

    /** Whether enough new samples came for another {@link #estimate}. */
    public boolean isDue() {
        return newSamples >= (capacity == 0 ? FEW : ENOUGH);
    }

    /**
     * Looks for the capacity anew; a mode that differs from the last must hold for some checks before it replaces it.
     *
     * @param resolutionNanos step of the clock that stamps the packets
     */
    public void estimate(long resolutionNanos) {
        newSamples = 0;
        if (usualGapNanos < STEPS_PER_GAP * resolutionNanos) {
            estimateByTrains();
            return;
        }
        if (pairs.size() < FEW) {
            return;
        }
        RateModes modes = new RateModes(pairs);
        double found = modes.capacity();
        if (pairs.size() < ENOUGH && modes.bellShare() < AGREED) {
            return;
        }
        if (modes.isSpread() && trains.size() >= ENOUGH_TRAINS) {
            modes = new RateModes(trains);
            found = modes.capacity();
        }
        accept(found);
        bellShare = modes.bellShare();
    }

    /** In steps that coarse a pair's gap says little; trains count if they agree, for foreign packets make them long. */
    private void estimateByTrains() {
        if (trains.size() < ENOUGH_TRAINS) {
            return;
        }
        RateModes modes = new RateModes(trains);
        double found = modes.capacity();
        if (modes.bellShare() >= AGREED) {
            accept(found);
            bellShare = modes.bellShare();
        }
    }

    private void accept(double found) {
        if (found <= 0) {
            return;
        }
        if (capacity == 0) {
            capacity = found;
        } else if (Math.abs(found / capacity - 1) <= STEADY) {
            capacity *= Math.pow(found / capacity, WEIGHT_OF_NEW);
            candidateChecks = 0;
        } else if (candidateChecks > 0 && Math.abs(found / candidate - 1) <= STEADY) {
            candidate = found;
            if (++candidateChecks >= CHECKS_TO_REPLACE) {
                capacity = found;
                candidateChecks = 0;
            }
        } else {
            candidate = found;
            candidateChecks = 1;
        }
    }

    /** The capacity in bit/s on the layer of the samples; 0 if none is proven. */
    public double capacityBitsPerSecond() {
        return capacity;
    }

    /** Number of gaps with a proven queue so far. */
    public long provenSamples() {
        return provenSamples;
    }

    /** Share of the newest samples inside the mode of the estimate, 0..1. */
    public double bellShare() {
        return bellShare;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        pairs.writeTo(out);
        trains.writeTo(out);
        Varint.write(out, lastAccepted);
        out.writeDouble(trainBits);
        Varint.write(out, trainNanos);
        Varint.write(out, trainGaps);
        Varint.write(out, usualGapNanos);
        out.writeDouble(capacity);
        out.writeDouble(candidate);
        Varint.write(out, candidateChecks);
        Varint.write(out, newSamples);
        Varint.write(out, provenSamples);
        out.writeDouble(bellShare);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        pairs.readFrom(in);
        trains.readFrom(in);
        lastAccepted = Varint.read(in);
        trainBits = in.readDouble();
        trainNanos = Varint.read(in);
        trainGaps = Varint.readInt(in);
        usualGapNanos = Varint.read(in);
        capacity = in.readDouble();
        candidate = in.readDouble();
        candidateChecks = Varint.readInt(in);
        newSamples = Varint.readInt(in);
        provenSamples = Varint.read(in);
        bellShare = in.readDouble();
    }
}
