// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.rtt.LogHistogram;
import io.chokepoint.analysis.rtt.RoundMinimum;
import io.chokepoint.analysis.verdict.PublishedTree;
import io.chokepoint.analysis.verdict.Scores;
import io.chokepoint.analysis.verdict.Shares;
import io.chokepoint.analysis.verdict.Sharing;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.verdict.Tally;

/** Turns the sums of one direction into a row. */
final class RowWriter {
    /** Data packets below which no verdict is given. */
    static final long SHORT_TRANSFER_PACKETS = 130; // [SIE08]

    private static final double QUEUE_ROUNDS_TO_JUDGE = 3;
    private static final long COARSE_CLOCK_SHARE = 4;
    private static final double LOWEST_DISPERSION = -0.1;
    private static final double E4 = 1e4;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long NANOS_PER_MICRO = 1_000;
    private static final int PERMILLE = 1_000;

    private final AnalysisSettings settings;
    private final FlowIdentity identity;
    private final Direction direction;
    private final HalfConnection half;
    private final Handshake handshake;
    private final long resolutionNanos;

    RowWriter(
            AnalysisSettings settings,
            FlowIdentity identity,
            Direction direction,
            HalfConnection half,
            Handshake handshake,
            long resolutionNanos) {
        this.settings = settings;
        this.identity = identity;
        this.direction = direction;
        this.half = half;
        this.handshake = handshake;
        this.resolutionNanos = resolutionNanos;
    }

    Row interval(long start, long end, int qualityBits) {
        long packets = segments(half.total()) + segments(half.interval());
        return writePath(write(
                new Row(Row.Table.LIMITATION_INTERVALS, identity),
                half.interval(),
                half.rttInterval(),
                half.gapInterval(),
                start,
                end,
                packets,
                qualityBits));
    }

    /** What the path stage needs of this tap. */
    private Row writePath(Row row) {
        Tally tally = half.interval();
        writeSide(row, RowField.SENDER_SIDE_MIN_NS, half.path().senderSide());
        writeSide(row, RowField.RECEIVER_SIDE_MIN_NS, half.path().receiverSide());
        return row.set(RowField.SENDER_SIDE_SUM_NS, tally.get(Sum.SENDER_SIDE_SUM_NS))
                .set(RowField.SENDER_SIDE_SAMPLES, tally.get(Sum.SENDER_SIDE_SAMPLES))
                .set(RowField.RECEIVER_SIDE_SUM_NS, tally.get(Sum.RECEIVER_SIDE_SUM_NS))
                .set(RowField.RECEIVER_SIDE_SAMPLES, tally.get(Sum.RECEIVER_SIDE_SAMPLES))
                .set(RowField.LOST_BEFORE_TAP_BYTES, tally.get(Sum.LOST_BEFORE_TAP_BYTES))
                .set(RowField.LOST_AFTER_TAP_BYTES, tally.get(Sum.LOST_AFTER_TAP_BYTES))
                .set(RowField.QUEUE_BEFORE_TAP_MICROS, tally.get(Sum.QUEUE_BEFORE_TAP_MICROS))
                .set(RowField.QUEUE_AFTER_TAP_MICROS, tally.get(Sum.QUEUE_AFTER_TAP_MICROS));
    }

    private static void writeSide(Row row, RowField field, RoundMinimum side) {
        if (side.lifeMinimum() != RoundMinimum.NONE) {
            row.set(field, side.lifeMinimum());
        }
    }

    Row flow(long start, long end, int qualityBits) {
        return write(
                new Row(Row.Table.FLOWS, identity),
                half.total(),
                half.rttTotal(),
                half.gapTotal(),
                start,
                end,
                segments(half.total()),
                qualityBits);
    }

    /** Data packets as the path carries them: a host's super-segment counts as those it is split into. */
    private long segments(Tally tally) {
        return Math.max(tally.get(Sum.DATA_PACKETS), tally.get(Sum.DATA_BYTES) / Math.max(1, half.mss()));
    }

    private Row write(
            Row row,
            Tally tally,
            LogHistogram rtts,
            LogHistogram gaps,
            long start,
            long end,
            long packets,
            int qualityBits) {
        row.set(RowField.DIRECTION, direction)
                .set(RowField.INTERVAL_START, start)
                .set(RowField.INTERVAL_END, end)
                .set(RowField.VERSION, settings.version());
        PathModel path = half.path();
        double capacity = path.capacityBitsPerSecond();
        long busyNanos = Math.max(1, end - start - tally.get(Sum.APPLICATION_NS));
        double dispersion = capacity > 0 ? dispersion(tally, busyNanos, capacity) : 0;
        Sharing sharing = new Sharing(tally, capacity > 0 ? capacity : path.highestRateInQueue(), capacity > 0);
        Verdict verdict = judge(tally, sharing, packets);

        writeCounts(row, tally);
        writeDelays(row, tally, rtts);
        writeCapacity(row, path, tally, capacity);
        writeShares(row, sharing.shares());
        writeScores(row, tally, gaps, capacity, dispersion, busyNanos, verdict);
        verdict.write(row, tally, sharing, half, dispersion, packets, end - start, capacity);
        row.set(RowField.QUALITY, qualityBits | quality(tally, capacity));
        return row;
    }

    /** Over the bulk transfers of a life, or the time of an interval that the application is not to blame for. */
    private static double dispersion(Tally tally, long busyNanos, double capacity) {
        // A bulk transfer is booked where it ends: in a row that it outlasts its rate is not that of the row.
        long bulk = tally.get(Sum.BULK_NS);
        boolean isolated = bulk >= busyNanos / 2 && bulk <= busyNanos;
        double raw = isolated
                ? Scores.dispersion(tally.get(Sum.BULK_BYTES), bulk, capacity)
                : Scores.dispersion(tally.get(Sum.DELIVERED_BYTES), busyNanos, capacity);
        return Math.max(LOWEST_DISPERSION, raw);
    }

    private Verdict judge(Tally tally, Sharing sharing, long packets) {
        long rttMicros = Math.max(1, half.path().rttNanos() / NANOS_PER_MICRO);
        boolean stoodInQueue = tally.get(Sum.QUEUE_MICROS) >= QUEUE_ROUNDS_TO_JUDGE * rttMicros;
        boolean isShort = packets < SHORT_TRANSFER_PACKETS && !stoodInQueue;
        RootCause winner = sharing.shares().winner();
        if (winner == RootCause.BOTTLENECK) {
            winner = sharing.answer().rootCause();
        }
        return new Verdict(winner, isShort && winner != RootCause.UNKNOWN);
    }

    private void writeCounts(Row row, Tally tally) {
        row.set(RowField.THROUGHPUT_BITS_PER_SECOND, tally.get(Sum.LAYER_BYTES))
                .set(RowField.GOODPUT_BITS_PER_SECOND, tally.get(Sum.GOODPUT_BYTES))
                .set(RowField.MSS_BYTES, half.mss())
                .set(RowField.DATA_PACKETS, tally.get(Sum.DATA_PACKETS))
                .set(RowField.DATA_BYTES, tally.get(Sum.DATA_BYTES))
                .set(RowField.RETRANSMITTED_FAST_BYTES, tally.get(Sum.RETRANSMITTED_FAST_BYTES))
                .set(RowField.RETRANSMITTED_TIMEOUT_BYTES, tally.get(Sum.RETRANSMITTED_TIMEOUT_BYTES))
                .set(RowField.RETRANSMITTED_TAIL_PROBE_BYTES, tally.get(Sum.RETRANSMITTED_TAIL_PROBE_BYTES))
                .set(RowField.RETRANSMITTED_SPURIOUS_BYTES, tally.get(Sum.RETRANSMITTED_SPURIOUS_BYTES))
                .set(RowField.RETRANSMITTED_OTHER_BYTES, tally.get(Sum.RETRANSMITTED_OTHER_BYTES))
                .set(RowField.REORDERED_PACKETS, tally.get(Sum.REORDERED_PACKETS))
                .set(RowField.DUPLICATE_PACKETS, tally.get(Sum.DUPLICATE_PACKETS))
                .set(RowField.CAPTURE_LOSS_BYTES, tally.get(Sum.CAPTURE_LOSS_BYTES))
                .set(RowField.LOSS_EVENTS, tally.get(Sum.LOSS_EVENTS))
                .set(RowField.ZERO_WINDOW_SECONDS, tally.get(Sum.ZERO_WINDOW_NS))
                .set(RowField.ECN_CE_PACKETS, tally.get(Sum.ECN_CE_PACKETS));
        if (!half.isPeerSilent()) {
            row.set(RowField.RECEIVER_WINDOW_MEAN_BYTES, tally.mean(Sum.WINDOW_BYTE_MICROS))
                    .set(RowField.RECEIVER_WINDOW_MAX_BYTES, tally.get(Sum.WINDOW_MAX_BYTES))
                    .set(RowField.OUTSTANDING_MEAN_BYTES, Math.max(0, tally.mean(Sum.OUTSTANDING_BYTE_MICROS)))
                    .set(RowField.OUTSTANDING_MAX_BYTES, tally.get(Sum.OUTSTANDING_MAX_BYTES));
        }
    }

    private void writeDelays(Row row, Tally tally, LogHistogram rtts) {
        PathModel path = half.path();
        long lowest = path.lowestRttNanos();
        if (lowest > 0) {
            row.set(RowField.RTT_MIN_SECONDS, lowest);
        }
        if (path.timeoutNanos() > 0) {
            row.set(RowField.RTO_SECONDS, path.timeoutNanos());
        }
        if (rtts.total() > 0) {
            double mean = (double) tally.get(Sum.RTT_SUM_NS) / Math.max(1, tally.get(Sum.RTT_SAMPLES));
            long median = rtts.median(mean);
            row.set(RowField.RTT_P50_SECONDS, median)
                    .set(RowField.RTT_P99_SECONDS, Math.max(median, rtts.quantile(0.99)));
        }
        long samples = tally.get(Sum.RTT_SAMPLES);
        if (samples > 0 && lowest > 0) {
            double mean = (double) tally.get(Sum.RTT_SUM_NS) / samples;
            row.set(RowField.BUFFER_DELAY_PERCENT, Math.max(0, Math.round(PERMILLE * (mean - lowest) / lowest)));
        }
        long sender = path.senderSide().lifeMinimum();
        long receiver = path.receiverSide().lifeMinimum();
        if (sender != RoundMinimum.NONE && receiver != RoundMinimum.NONE && sender + receiver > 0) {
            long fromClient = direction == Direction.CLIENT_TO_SERVER ? sender : receiver;
            row.set(RowField.PATH_POSITION, PERMILLE * fromClient / (sender + receiver));
        }
    }

    private void writeCapacity(Row row, PathModel path, Tally tally, double capacity) {
        if (capacity > 0) {
            row.set(RowField.CAPACITY_BITS_PER_SECOND, Math.round(capacity))
                    .set(RowField.CAPACITY_KIND, CapacityKind.PROVEN)
                    .set(RowField.CAPACITY_CONFIDENCE, Math.round(PERMILLE * path.capacityAgreement()));
        } else if (path.bestBitsPerSecond() > 0) {
            row.set(RowField.CAPACITY_BITS_PER_SECOND, Math.round(path.bestBitsPerSecond()))
                    .set(RowField.CAPACITY_KIND, CapacityKind.LOWER_BOUND);
        }
        long before = tally.get(Sum.QUEUE_BEFORE_TAP_MICROS);
        long after = tally.get(Sum.QUEUE_AFTER_TAP_MICROS);
        if (before + after > 0) {
            row.set(RowField.BOTTLENECK_SIDE, before > after ? BottleneckSide.BEFORE_TAP : BottleneckSide.AFTER_TAP);
        }
        if (tally.get(Sum.QUEUE_AT_LOSS_EVENTS) > 0 && capacity > 0) {
            double nanos = (double) tally.get(Sum.QUEUE_AT_LOSS_NS) / tally.get(Sum.QUEUE_AT_LOSS_EVENTS);
            row.set(RowField.QUEUE_BYTES_AT_LOSS, Math.round(capacity * nanos / NANOS_PER_SECOND / Byte.SIZE));
        }
    }

    private static void writeShares(Row row, Shares shares) {
        row.set(RowField.SHARE_APPLICATION, shares.application())
                .set(RowField.SHARE_SEND_BUFFER, shares.sendBuffer())
                .set(RowField.SHARE_RECEIVER_WINDOW, shares.receiverWindow())
                .set(RowField.SHARE_UNSHARED_BOTTLENECK, shares.unshared())
                .set(RowField.SHARE_SHARED_BOTTLENECK, shares.shared())
                .set(RowField.SHARE_TRANSPORT, shares.transport())
                .set(RowField.SHARE_UNKNOWN, shares.unknown());
    }

    private void writeScores(
            Row row,
            Tally tally,
            LogHistogram gaps,
            double capacity,
            double dispersion,
            long busyNanos,
            Verdict verdict) {
        double retransmission = Scores.retransmission(tally.retransmittedBytes(), tally.get(Sum.DATA_BYTES));
        row.set(RowField.RETRANSMISSION_SCORE, Math.round(E4 * retransmission));
        double receiverWindow = Math.min(1, (double) tally.get(Sum.WINDOW_FULL_NS) / busyNanos);
        if (!half.isPeerSilent()) {
            row.set(RowField.RECEIVER_WINDOW_SCORE, Math.round(E4 * receiverWindow));
        }
        double rttSeconds = half.path().lowestRttNanos() / NANOS_PER_SECOND;
        double window = tally.mean(Sum.WINDOW_BYTE_MICROS);
        if (window >= half.mss() && rttSeconds > 0 && gaps.total() > 0) {
            double share = half.mss() / window;
            row.set(RowField.B_SCORE, Math.round(E4 * gaps.upperMean(share) / NANOS_PER_SECOND / rttSeconds));
        }
        if (capacity <= 0) {
            return;
        }
        row.set(RowField.DISPERSION_SCORE, Math.round(E4 * dispersion));
        double burstiness = 0;
        if (window > 0 && rttSeconds > 0) {
            burstiness = Scores.burstiness(window, half.mss(), capacity, rttSeconds);
            row.set(RowField.BURSTINESS_SCORE, Math.round(E4 * burstiness));
        }
        if (verdict.isBulk()) {
            row.set(RowField.RCA_CAUSE, PublishedTree.classify(dispersion, retransmission, receiverWindow, burstiness));
        }
    }

    private int quality(Tally tally, double capacity) {
        int bits = 0;
        bits |= flag(Quality.SYN_MISSED, !handshake.isSynSeen());
        boolean onlyAcks = tally.get(Sum.GOODPUT_BYTES) > 0 && tally.get(Sum.DATA_PACKETS) == 0;
        bits |= flag(Quality.ONE_DIRECTION, half.isPeerSilent() || onlyAcks);
        bits |= flag(Quality.CAPTURE_LOSS, tally.get(Sum.CAPTURE_LOSS_BYTES) > 0);
        bits |= flag(Quality.NO_TIMESTAMPS, tally.get(Sum.WITHOUT_TIMESTAMPS) > 0);
        bits |= flag(Quality.OFFLOAD, tally.get(Sum.SUPER_SEGMENTS) > 0);
        bits |= flag(Quality.CAPACITY_UNKNOWN, capacity <= 0);
        bits |= flag(Quality.WINDOW_SCALE_UNKNOWN, half.window().isScaleUnknown());
        bits |= flag(
                Quality.COARSE_CLOCK,
                half.path().packetTimeNanos() > 0
                        && half.path().packetTimeNanos() < COARSE_CLOCK_SHARE * resolutionNanos);
        bits |= flag(Quality.DUPLICATED, tally.get(Sum.DUPLICATE_PACKETS) > 0);
        return bits;
    }

    static int flag(Quality quality, boolean holds) {
        return holds ? 1 << quality.ordinal() : 0;
    }
}
