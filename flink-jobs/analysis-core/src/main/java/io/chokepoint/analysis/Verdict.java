// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.SubCause;
import io.chokepoint.analysis.verdict.Shares;
import io.chokepoint.analysis.verdict.Sharing;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;
import org.jspecify.annotations.Nullable;

/**
 * The words of a row: cause, confidence, evidence, what it costs and what would fix it.
 *
 * @param cause the cause by time shares
 * @param isShort too few data packets for a verdict: shares and sub-cause stand, the cause is withheld
 */
record Verdict(RootCause cause, boolean isShort) {
    private static final long SHORT_TRANSFER_PACKETS = 130;
    private static final int UNSCALED_WINDOW_BYTES = 60_000;
    private static final double CONSTANT_WINDOW = 0.8;
    private static final double MANY = 0.3;
    private static final double REORDERED = 0.01;
    private static final double WITHOUT_HANDSHAKE = 0.8;
    private static final double UNDECIDED = 0.79; // below what is acted upon
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int KILO = 1_000;
    private static final int PERMILLE = 1_000;
    private static final double BITS_PER_BYTE_NANOS = 8e9;

    /** Whether the published tree may speak: a bulk transfer, not a pause or a short one. */
    boolean isBulk() {
        return !isShort && cause != RootCause.APPLICATION && cause != RootCause.UNKNOWN;
    }

    void write(
            Row row,
            Tally tally,
            Sharing sharing,
            HalfConnection half,
            double dispersion,
            long packets,
            long nanos,
            double capacity) {
        Shares shares = sharing.shares();
        row.set(RowField.ROOT_CAUSE, isShort ? RootCause.SHORT_TRANSFER : cause);
        SubCause sub = subCause(tally, half, shares, packets);
        if (sub != null) {
            row.set(RowField.SUB_CAUSE, sub);
        }
        row.set(RowField.CONFIDENCE, Math.round(PERMILLE * confidence(shares, half)));
        writeEvidence(row, tally, shares, half, dispersion, packets, capacity > 0);
        writeAdvice(row, sub, half, capacity, tally);
        writeCost(row, tally, nanos, capacity);
    }

    private double confidence(Shares shares, HalfConnection half) {
        double clear = switch (cause) {
            case UNKNOWN -> shares.part(shares.unknown());
            case MIXED -> 0.5;
            default -> 0.5 + (shares.part(shares.largest()) - shares.part(shares.secondLargest())) / 2;
        };
        double seen = 1 - shares.part(shares.unknown());
        double known = half.window().isScaleUnknown() ? WITHOUT_HANDSHAKE : 1;
        boolean byLowerBound =
                cause == RootCause.SHARED_BOTTLENECK && half.path().capacityBitsPerSecond() == 0;
        boolean byEvenness =
                cause == RootCause.UNSHARED_BOTTLENECK && !half.path().clock().isShown();
        double decided = cause == RootCause.BOTTLENECK || byLowerBound || byEvenness ? UNDECIDED : 1;
        return isShort
                ? 0
                : Math.max(0, Math.min(1, clear * known * decided * (cause == RootCause.UNKNOWN ? 1 : seen)));
    }

    private @Nullable SubCause subCause(Tally tally, HalfConnection half, Shares shares, long packets) {
        return switch (cause) {
            case APPLICATION -> applicationSubCause(tally);
            case RECEIVER_WINDOW -> windowSubCause(tally, half);
            case BOTTLENECK -> SubCause.SHARING_UNDECIDED;
            case UNSHARED_BOTTLENECK, SHARED_BOTTLENECK ->
                meanQueueNanos(tally) > half.path().lowestRttNanos() ? SubCause.DEEP_BUFFER : null;
            case TRANSPORT -> transportSubCause(tally, shares, packets);
            case UNKNOWN, SEND_BUFFER, MIXED, SHORT_TRANSFER -> null;
        };
    }

    private static SubCause applicationSubCause(Tally tally) {
        long idle = tally.get(Sum.APPLICATION_IDLE_NS);
        long waits = tally.get(Sum.APPLICATION_WAITS_NS);
        long small = tally.get(Sum.APPLICATION_SMALL_NS);
        long paced = tally.get(Sum.APPLICATION_PACED_NS);
        long most = Math.max(Math.max(idle, waits), Math.max(small, paced));
        if (most == idle) {
            return SubCause.IDLE;
        }
        if (most == waits) {
            return SubCause.WAITING_FOR_PEER;
        }
        return most == small ? SubCause.SMALL_WRITES : SubCause.PACED;
    }

    private static SubCause windowSubCause(Tally tally, HalfConnection half) {
        long max = tally.get(Sum.WINDOW_MAX_BYTES);
        if (tally.get(Sum.ZERO_WINDOW_NS) > MANY * tally.get(Sum.RECEIVER_WINDOW_NS)) {
            return SubCause.ZERO_WINDOW;
        }
        if (half.window().isUnscaled() && max >= UNSCALED_WINDOW_BYTES) {
            return SubCause.WINDOW_UNSCALED;
        }
        return tally.mean(Sum.WINDOW_BYTE_MICROS) >= CONSTANT_WINDOW * max
                ? SubCause.WINDOW_CLAMPED
                : SubCause.SLOW_READER;
    }

    private static SubCause transportSubCause(Tally tally, Shares shares, long packets) {
        if (tally.get(Sum.SLOW_START_NS) * 2 >= shares.transport()) {
            return SubCause.SLOW_START;
        }
        if (tally.get(Sum.REORDERED_PACKETS) > REORDERED * packets && tally.get(Sum.LOSS_EVENTS) > 0) {
            return SubCause.REORDERING;
        }
        return tally.get(Sum.RANDOM_LOSS_EVENTS) * 2 > tally.get(Sum.LOSS_EVENTS)
                ? SubCause.RANDOM_LOSS
                : SubCause.CONGESTION_AVOIDANCE;
    }

    private static long meanQueueNanos(Tally tally) {
        long micros = tally.get(Sum.QUEUE_MICROS);
        return micros == 0 ? 0 : tally.get(Sum.QUEUE_MICRO_MICROS) / micros * NANOS_PER_MICRO;
    }

    private void writeEvidence(
            Row row, Tally tally, Shares shares, HalfConnection half, double dispersion, long packets, boolean proven) {
        long rate = Math.round(100 * (1 - dispersion));
        long outstanding = tally.get(Sum.OUTSTANDING_MAX_BYTES) / KILO;
        long queueMicros = meanQueueNanos(tally) / NANOS_PER_MICRO;
        if (isShort) {
            evidence(row, EvidenceRule.SHORT_TRANSFER, packets, SHORT_TRANSFER_PACKETS, 0);
            return;
        }
        switch (cause) {
            case APPLICATION -> {
                long room = tally.mean(Sum.WINDOW_BYTE_MICROS) - tally.mean(Sum.OUTSTANDING_BYTE_MICROS);
                evidence(
                        row,
                        EvidenceRule.APPLICATION,
                        percent(shares, shares.application()),
                        Math.max(0, room) / KILO,
                        outstanding);
            }
            case SEND_BUFFER -> {
                long bursts = Math.max(1, tally.get(Sum.SEND_BUFFER_BURSTS));
                long segments = tally.get(Sum.SEND_BUFFER_SEGMENTS) / bursts;
                evidence(row, EvidenceRule.SEND_BUFFER, percent(shares, shares.sendBuffer()), segments, outstanding);
            }
            case RECEIVER_WINDOW ->
                evidence(
                        row,
                        EvidenceRule.RECEIVER_WINDOW,
                        percent(shares, shares.receiverWindow()),
                        tally.mean(Sum.WINDOW_BYTE_MICROS) / KILO,
                        half.path().lowestRttNanos() / NANOS_PER_MICRO);
            case UNSHARED_BOTTLENECK ->
                evidence(
                        row,
                        EvidenceRule.UNSHARED_BOTTLENECK,
                        percent(shares, shares.fullPath()),
                        rate,
                        half.path().provenSamples());
            case SHARED_BOTTLENECK, BOTTLENECK -> {
                if (cause == RootCause.SHARED_BOTTLENECK && proven) {
                    evidence(
                            row, EvidenceRule.SHARED_BOTTLENECK, percent(shares, shares.fullPath()), queueMicros, rate);
                    return;
                }
                evidence(
                        row,
                        EvidenceRule.BOTTLENECK,
                        percent(shares, shares.fullPath()),
                        queueMicros,
                        half.path().provenSamples());
            }
            case TRANSPORT ->
                evidence(
                        row,
                        EvidenceRule.TRANSPORT,
                        percent(shares, shares.transport()),
                        outstanding,
                        tally.get(Sum.LOSS_EVENTS));
            case MIXED ->
                evidence(
                        row,
                        EvidenceRule.MIXED,
                        percent(shares, shares.largest()),
                        percent(shares, shares.secondLargest()),
                        0);
            case UNKNOWN, SHORT_TRANSFER ->
                evidence(row, EvidenceRule.UNKNOWN, percent(shares, shares.unknown()), 0, 0);
        }
    }

    private static long percent(Shares shares, long nanos) {
        return Math.round(100 * shares.part(nanos));
    }

    private static void evidence(Row row, EvidenceRule rule, long a, long b, long c) {
        row.set(RowField.EVIDENCE_RULE, rule)
                .set(RowField.EVIDENCE_A, a)
                .set(RowField.EVIDENCE_B, b)
                .set(RowField.EVIDENCE_C, c);
    }

    private void writeAdvice(Row row, @Nullable SubCause sub, HalfConnection half, double capacity, Tally tally) {
        double rtt = half.path().rttNanos();
        long product =
                Math.round(Math.max(capacity, half.path().bestBitsPerSecond()) * rtt / BITS_PER_BYTE_NANOS / KILO);
        // A buffer below twice the product leaves nothing for the time a repair takes.
        long buffer = Math.max(2 * product, 2 * tally.get(Sum.WINDOW_MAX_BYTES) / KILO);
        AdviceRule rule = adviceRule(sub);
        long number = switch (rule) {
            case SEND_BUFFER, RECEIVER_WINDOW, RECEIVER_WINDOW_SCALING -> buffer;
            case UNSHARED_BOTTLENECK -> Math.round(capacity / KILO);
            case SHARED_DEEP_BUFFER -> meanQueueNanos(tally) / NANOS_PER_MILLI;
            default -> 0;
        };
        row.set(RowField.ADVICE_RULE, rule).set(RowField.ADVICE_A, number);
    }

    private AdviceRule adviceRule(@Nullable SubCause sub) {
        if (isShort) {
            return AdviceRule.NONE;
        }
        return switch (cause) {
            case APPLICATION ->
                sub == SubCause.WAITING_FOR_PEER
                        ? AdviceRule.APPLICATION_WAITS
                        : sub == SubCause.SMALL_WRITES
                                ? AdviceRule.APPLICATION_SMALL_WRITES
                                : AdviceRule.APPLICATION_IDLE;
            case SEND_BUFFER -> AdviceRule.SEND_BUFFER;
            case RECEIVER_WINDOW ->
                sub == SubCause.WINDOW_UNSCALED
                        ? AdviceRule.RECEIVER_WINDOW_SCALING
                        : sub == SubCause.WINDOW_CLAMPED ? AdviceRule.RECEIVER_WINDOW : AdviceRule.SLOW_READER;
            case UNSHARED_BOTTLENECK -> AdviceRule.UNSHARED_BOTTLENECK;
            case SHARED_BOTTLENECK ->
                sub == SubCause.DEEP_BUFFER ? AdviceRule.SHARED_DEEP_BUFFER : AdviceRule.SHARED_BOTTLENECK;
            case BOTTLENECK -> AdviceRule.BOTTLENECK;
            case TRANSPORT ->
                sub == SubCause.SLOW_START
                        ? AdviceRule.TRANSPORT_SLOW_START
                        : sub == SubCause.RANDOM_LOSS
                                ? AdviceRule.TRANSPORT_LOSS
                                : sub == SubCause.REORDERING
                                        ? AdviceRule.TRANSPORT_REORDERING
                                        : AdviceRule.TRANSPORT_GROWTH;
            case UNKNOWN, MIXED, SHORT_TRANSFER -> AdviceRule.NONE;
        };
    }

    /** What the flow would reach without its limit: the capacity, where that is proven and not itself the limit. */
    private void writeCost(Row row, Tally tally, long nanos, double capacity) {
        boolean canGain = switch (cause) {
            case APPLICATION, SEND_BUFFER, RECEIVER_WINDOW, TRANSPORT, SHARED_BOTTLENECK -> true;
            case UNKNOWN, UNSHARED_BOTTLENECK, BOTTLENECK, MIXED, SHORT_TRANSFER -> false;
        };
        long layerBytes = tally.get(Sum.LAYER_BYTES);
        if (!canGain || capacity <= 0 || isShort || layerBytes == 0) {
            return;
        }
        double payloadPart = (double) tally.get(Sum.DATA_BYTES) / layerBytes;
        double attainableBytes = capacity * nanos / BITS_PER_BYTE_NANOS * payloadPart;
        row.set(RowField.ATTAINABLE_BITS_PER_SECOND, Math.round(capacity))
                .set(RowField.LOST_BYTES, Math.max(0, Math.round(attainableBytes - tally.get(Sum.GOODPUT_BYTES))));
    }
}
