// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.EndReason;
import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.Summary;
import io.chokepoint.analysis.batch.Summary.Sent;
import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.RowSink;

/**
 * The rows of a short flow of which the probe sent a summary: those that {@link FlowAnalysis} would have written of its packets,
 * with NULL where it takes the packets. A pure function: no state is kept of such a flow.
 */
public final class SummaryRows {
    private static final int PERMILLE = 1_000;
    private static final int LEARNED_BY = 3; // full segments, see SegmentSize
    private static final RowField[] NONE_OF_THESE = {
        RowField.RETRANSMITTED_FAST_BYTES,
        RowField.RETRANSMITTED_TIMEOUT_BYTES,
        RowField.RETRANSMITTED_TAIL_PROBE_BYTES,
        RowField.RETRANSMITTED_SPURIOUS_BYTES,
        RowField.RETRANSMITTED_OTHER_BYTES,
        RowField.RETRANSMISSION_SCORE,
        RowField.REORDERED_PACKETS,
        RowField.DUPLICATE_PACKETS,
        RowField.CAPTURE_LOSS_BYTES,
        RowField.LOSS_EVENTS,
        RowField.ZERO_WINDOW_SECONDS,
        RowField.ECN_CE_PACKETS
    };

    private final AnalysisSettings settings;
    private final String tap;
    private final Summary summary;
    private final int client;

    private SummaryRows(AnalysisSettings settings, String tap, Summary summary) {
        this.settings = settings;
        this.tap = tap;
        this.summary = summary;
        this.client = summary.client() == Summary.UNKNOWN ? Handshake.clientByPorts(summary.key()) : summary.client();
    }

    /** Writes a row for each direction with data, client to server first; one if there were none. */
    public static void write(AnalysisSettings settings, String tap, Summary summary, RowSink out) {
        new SummaryRows(settings, tap, summary).write(out);
    }

    private void write(RowSink out) {
        Sent first = summary.sentBy(client);
        Sent second = summary.sentBy(1 - client);
        if (first.dataPackets() > 0) {
            out.accept(row(client));
        }
        if (second.dataPackets() > 0) {
            out.accept(row(1 - client));
        }
        if (first.dataPackets() + second.dataPackets() == 0) {
            // The direction whose acknowledgments show that there were some.
            boolean isSecond = first.acknowledgedBytes() == 0 && second.acknowledgedBytes() > 0;
            out.accept(row(isSecond ? 1 - client : client));
        }
    }

    private Row row(int direction) {
        Sent sent = summary.sentBy(direction);
        int mss = segmentBytes(sent);
        int layerBytes = sent.dataBytes()
                + sent.headerBytes()
                + sent.dataPackets() * settings.layer().bytesBeyondIp();
        Row row = new Row(Row.Table.FLOWS, identity())
                .set(RowField.DIRECTION, direction == client ? Direction.CLIENT_TO_SERVER : Direction.SERVER_TO_CLIENT)
                .set(RowField.INTERVAL_START, summary.flowStartNs())
                .set(RowField.INTERVAL_END, end())
                .set(RowField.VERSION, settings.version())
                .set(RowField.ROOT_CAUSE, RootCause.SHORT_TRANSFER)
                .set(RowField.CONFIDENCE, 0)
                .set(RowField.EVIDENCE_RULE, EvidenceRule.SHORT_TRANSFER)
                .set(RowField.EVIDENCE_A, Math.max(sent.dataPackets(), sent.dataBytes() / Math.max(1, mss)))
                .set(RowField.EVIDENCE_B, RowWriter.SHORT_TRANSFER_PACKETS)
                .set(RowField.EVIDENCE_C, 0)
                .set(RowField.ADVICE_RULE, AdviceRule.NONE)
                .set(RowField.ADVICE_A, 0)
                .set(RowField.QUALITY, quality(sent))
                .set(RowField.THROUGHPUT_BITS_PER_SECOND, layerBytes)
                .set(RowField.GOODPUT_BITS_PER_SECOND, sent.acknowledgedBytes())
                .set(RowField.MSS_BYTES, mss)
                .set(RowField.DATA_PACKETS, sent.dataPackets())
                .set(RowField.DATA_BYTES, sent.dataBytes());
        for (RowField field : NONE_OF_THESE) {
            row.set(field, 0);
        }
        writeDelays(row);
        return row;
    }

    /** A quiet mark closes the interval of the last packet, without one the row ends behind that. */
    private long end() {
        long last = summary.flowStartNs() + summary.durationNs();
        long intervalEnd = (Math.floorDiv(last, settings.intervalNanos()) + 1) * settings.intervalNanos();
        return last + summary.quietNs() >= intervalEnd ? intervalEnd : last + 1;
    }

    private static int segmentBytes(Sent sent) {
        SegmentSize size = new SegmentSize();
        size.announce(sent.maximumSegmentSize());
        if (sent.dataPackets() > 0) {
            size.add(sent.largestDataBytes(), sent.fullPackets() == 0);
        }
        for (int i = 1; i < Math.min(LEARNED_BY, sent.fullPackets()); i++) {
            size.add(sent.largestDataBytes(), false);
        }
        return size.bytes();
    }

    /** Of the handshake: data may have been faster. */
    private void writeDelays(Row row) {
        long roundTrip = summary.serverDelayNs() + summary.clientDelayNs();
        if (summary.serverDelayNs() != Summary.UNKNOWN && roundTrip > 0) {
            row.set(RowField.RTT_MIN_SECONDS, roundTrip)
                    .set(RowField.PATH_POSITION, PERMILLE * summary.clientDelayNs() / roundTrip);
        }
    }

    private int quality(Sent sent) {
        boolean onlyAcks = sent.acknowledgedBytes() > 0 && sent.dataPackets() == 0;
        return RowWriter.flag(Quality.SYN_MISSED, summary.syns() == 0)
                | RowWriter.flag(Quality.ONE_DIRECTION, !sent.has(Sent.FLAG_ACKNOWLEDGED) || onlyAcks)
                | RowWriter.flag(Quality.NO_TIMESTAMPS, sent.has(Sent.FLAG_NO_TIMESTAMPS))
                | RowWriter.flag(Quality.CAPACITY_UNKNOWN, true)
                | RowWriter.flag(Quality.SHED, summary.endReason() == EndReason.SHED)
                | RowWriter.flag(Quality.WINDOW_SCALE_UNKNOWN, !sent.has(Sent.FLAG_WINDOW_SCALE_KNOWN));
    }

    private FlowIdentity identity() {
        FlowKey key = summary.key();
        long id = summary.client() == Summary.UNKNOWN
                ? FlowAnalysis.midstreamId(key, tap, summary.flowStartNs())
                : FlowHash.flowId(key, summary.clientSequenceNumber());
        return FlowAnalysis.identity(
                settings,
                id,
                tap,
                key,
                client == 0,
                summary.vlanId() == Run.NO_VLAN ? Row.NULL : summary.vlanId(),
                summary.tunnelId() == Run.NO_TUNNEL ? Row.NULL : summary.tunnelId());
    }
}
