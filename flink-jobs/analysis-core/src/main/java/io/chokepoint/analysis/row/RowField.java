// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a row, in the order of the contract: the one table from which JSON, CSV, the table sink and the
 * documentation take names and meaning.
 *
 * <p>A row stores integers in natural units; {@link Kind} says how the value that people see follows from the stored
 * one. The tables keep the stored column, the views compute the seen one by the same arithmetic.
 */
public enum RowField {
    FLOW_ID(Kind.IDENTITY),
    TAP(Kind.IDENTITY),
    CLIENT_IP(Kind.IDENTITY),
    CLIENT_PORT(Kind.IDENTITY),
    SERVER_IP(Kind.IDENTITY),
    SERVER_PORT(Kind.IDENTITY),
    VLAN(Kind.IDENTITY),
    TUNNEL_ID(Kind.IDENTITY),
    CLIENT_TENANT(Kind.IDENTITY),
    SERVER_TENANT(Kind.IDENTITY),
    DIRECTION("direction", Labels.of(Direction.values())),
    INTERVAL_START(Kind.INSTANT),
    INTERVAL_END(Kind.INSTANT),
    VERSION(Kind.INTEGER),

    ROOT_CAUSE("root_cause", Labels.of(RootCause.values())),
    SUB_CAUSE("sub_cause", Labels.of(SubCause.values())),
    CONFIDENCE("confidence_permille", Kind.SCALED, 1e3),
    EVIDENCE(Kind.EVIDENCE),
    ADVICE(Kind.ADVICE),
    ATTAINABLE_BITS_PER_SECOND(Kind.INTEGER),
    LOST_BYTES(Kind.INTEGER),
    QUALITY("quality_flags", Kind.FLAGS, 0),

    SHARE_APPLICATION("application_ns", Kind.SHARE, 0),
    SHARE_SEND_BUFFER("send_buffer_ns", Kind.SHARE, 0),
    SHARE_RECEIVER_WINDOW("receiver_window_ns", Kind.SHARE, 0),
    SHARE_UNSHARED_BOTTLENECK("unshared_bottleneck_ns", Kind.SHARE, 0),
    SHARE_SHARED_BOTTLENECK("shared_bottleneck_ns", Kind.SHARE, 0),
    SHARE_TRANSPORT("transport_ns", Kind.SHARE, 0),
    SHARE_UNKNOWN("unknown_ns", Kind.SHARE, 0),

    DISPERSION_SCORE("dispersion_score_e4", Kind.SCALED, 1e4),
    RETRANSMISSION_SCORE("retransmission_score_e4", Kind.SCALED, 1e4),
    RECEIVER_WINDOW_SCORE("receiver_window_score_e4", Kind.SCALED, 1e4),
    BURSTINESS_SCORE("burstiness_score_e4", Kind.SCALED, 1e4),
    B_SCORE("b_score_e4", Kind.SCALED, 1e4),
    RCA_CAUSE("rca_cause", Labels.of(RcaCause.values())),

    THROUGHPUT_BITS_PER_SECOND("throughput_bytes", Kind.RATE, 0),
    GOODPUT_BITS_PER_SECOND("goodput_bytes", Kind.RATE, 0),
    CAPACITY_BITS_PER_SECOND(Kind.INTEGER),
    CAPACITY_KIND("capacity_kind", Labels.of(CapacityKind.values())),
    CAPACITY_CONFIDENCE("capacity_confidence_permille", Kind.SCALED, 1e3),
    BOTTLENECK_SIDE("bottleneck_side", Labels.of(BottleneckSide.values())),
    RTT_MIN_SECONDS("rtt_min_ns", Kind.SCALED, 1e9),
    RTT_P50_SECONDS("rtt_p50_ns", Kind.SCALED, 1e9),
    RTT_P99_SECONDS("rtt_p99_ns", Kind.SCALED, 1e9),
    PATH_POSITION("path_position_permille", Kind.SCALED, 1e3),
    MSS_BYTES(Kind.INTEGER),
    RECEIVER_WINDOW_MEAN_BYTES(Kind.INTEGER),
    RECEIVER_WINDOW_MAX_BYTES(Kind.INTEGER),
    OUTSTANDING_MEAN_BYTES(Kind.INTEGER),
    OUTSTANDING_MAX_BYTES(Kind.INTEGER),
    CWND_BYTES(Kind.INTEGER),
    SSTHRESH_BYTES(Kind.INTEGER),
    RTO_SECONDS("rto_ns", Kind.SCALED, 1e9),
    CONGESTION_CONTROL("congestion_control", Labels.of(CongestionControl.values())),
    CONGESTION_CONTROL_CONFIDENCE("congestion_control_confidence_permille", Kind.SCALED, 1e3),
    DATA_PACKETS(Kind.INTEGER),
    DATA_BYTES(Kind.INTEGER),
    RETRANSMITTED_FAST_BYTES(Kind.INTEGER),
    RETRANSMITTED_TIMEOUT_BYTES(Kind.INTEGER),
    RETRANSMITTED_TAIL_PROBE_BYTES(Kind.INTEGER),
    RETRANSMITTED_SPURIOUS_BYTES(Kind.INTEGER),
    RETRANSMITTED_OTHER_BYTES(Kind.INTEGER),
    REORDERED_PACKETS(Kind.INTEGER),
    DUPLICATE_PACKETS(Kind.INTEGER),
    CAPTURE_LOSS_BYTES(Kind.INTEGER),
    LOSS_EVENTS(Kind.INTEGER),
    ZERO_WINDOW_SECONDS("zero_window_ns", Kind.SCALED, 1e9),
    ECN_CE_PACKETS(Kind.INTEGER),
    QUEUE_BYTES_AT_LOSS(Kind.INTEGER),
    EFFICIENCY_PERCENT(Kind.EFFICIENCY),
    BUFFER_DELAY_PERCENT("buffer_delay_permille", Kind.SCALED, 1e1),
    THROUGHPUT_RATIO_PERCENT(Kind.THROUGHPUT_RATIO),

    /** Which sentence {@link #EVIDENCE} is, and the numbers in it. Stored only. */
    EVIDENCE_RULE("evidence_rule", Kind.STORED_ONLY, 0),
    EVIDENCE_A("evidence_a", Kind.STORED_ONLY, 0),
    EVIDENCE_B("evidence_b", Kind.STORED_ONLY, 0),
    EVIDENCE_C("evidence_c", Kind.STORED_ONLY, 0),
    /** Which sentence {@link #ADVICE} is, and the number in it. Stored only. */
    ADVICE_RULE("advice_rule", Kind.STORED_ONLY, 0),
    ADVICE_A("advice_a", Kind.STORED_ONLY, 0),

    /** What {@link io.chokepoint.analysis.path} needs of a tap beside what people see, of intervals only. */
    DOMAIN(Kind.PATH_ONLY),
    SENDER_SIDE_MIN_NS(Kind.PATH_ONLY),
    SENDER_SIDE_SUM_NS(Kind.PATH_ONLY),
    SENDER_SIDE_SAMPLES(Kind.PATH_ONLY),
    RECEIVER_SIDE_MIN_NS(Kind.PATH_ONLY),
    RECEIVER_SIDE_SUM_NS(Kind.PATH_ONLY),
    RECEIVER_SIDE_SAMPLES(Kind.PATH_ONLY),
    LOST_BEFORE_TAP_BYTES(Kind.PATH_ONLY),
    LOST_AFTER_TAP_BYTES(Kind.PATH_ONLY),
    QUEUE_BEFORE_TAP_MICROS(Kind.PATH_ONLY),
    QUEUE_AFTER_TAP_MICROS(Kind.PATH_ONLY);

    /** How the value that people see follows from the stored one. */
    public enum Kind {
        /** Part of {@link FlowIdentity}, not of the values. */
        IDENTITY,
        /** The stored integer itself. */
        INTEGER,
        /** Nanoseconds since the epoch, seen as an RFC 3339 instant. */
        INSTANT,
        /** Index into {@link #labels()}. */
        LABEL,
        /** Bit set over {@link Quality}, seen as labels joined by commas. */
        FLAGS,
        /** Stored integer divided by {@link #divisor()}. */
        SCALED,
        /** Stored nanoseconds divided by the length of the interval. */
        SHARE,
        /** Stored bytes × 8·10⁹ divided by the length of the interval in nanoseconds. */
        RATE,
        /** {@link EvidenceRule#text} of the stored rule and numbers. */
        EVIDENCE,
        /** {@link AdviceRule#text} of the stored rule and number. */
        ADVICE,
        /** RFC 6349 §4: 100 × (data − retransmitted) / data, all in payload bytes. */
        EFFICIENCY,
        /** RFC 6349 §4: 100 × throughput / capacity, both on one layer. */
        THROUGHPUT_RATIO,
        /** Kept in the tables, shown by another column. */
        STORED_ONLY,
        /** Neither stored nor seen. */
        PATH_ONLY
    }

    private final String seenName;
    private final @Nullable String storedName;
    private final Kind kind;
    private final double divisor;
    private final List<String> labels;

    RowField(Kind kind) {
        this.seenName = name().toLowerCase(Locale.ROOT);
        this.storedName = isDerived(kind) ? null : seenName;
        this.kind = kind;
        this.divisor = 0;
        this.labels = List.of();
    }

    RowField(String storedName, Kind kind, double divisor) {
        this.seenName = name().toLowerCase(Locale.ROOT);
        this.storedName = storedName;
        this.kind = kind;
        this.divisor = divisor;
        this.labels = kind == Kind.FLAGS ? Labels.of(Quality.values()) : List.of();
    }

    RowField(String storedName, List<String> labels) {
        this.seenName = name().toLowerCase(Locale.ROOT);
        this.storedName = storedName;
        this.kind = Kind.LABEL;
        this.divisor = 0;
        this.labels = labels;
    }

    private static boolean isDerived(Kind kind) {
        return switch (kind) {
            case EVIDENCE, ADVICE, EFFICIENCY, THROUGHPUT_RATIO, PATH_ONLY -> true;
            case IDENTITY, INTEGER, INSTANT, LABEL, FLAGS, SCALED, SHARE, RATE, STORED_ONLY -> false;
        };
    }

    /** Name in JSON, CSV and the views. */
    public String seenName() {
        return seenName;
    }

    /** Name in the base tables; null if the column is computed from others. */
    public @Nullable String storedName() {
        return storedName;
    }

    /** How to show the stored value. */
    public Kind kind() {
        return kind;
    }

    /** What a {@link Kind#SCALED} value is divided by. */
    public double divisor() {
        return divisor;
    }

    /** Texts of a {@link Kind#LABEL} or {@link Kind#FLAGS} column, by value or bit. */
    public List<String> labels() {
        return labels;
    }

    /** Whether people see the column. */
    public boolean isSeen() {
        return kind != Kind.STORED_ONLY && kind != Kind.PATH_ONLY;
    }

    /** Lower-case texts of enum constants, in order: they are part of the contract, so constants are only appended. */
    private static final class Labels {
        private Labels() {}

        static List<String> of(Enum<?>[] constants) {
            return java.util.Arrays.stream(constants)
                    .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                    .toList();
        }
    }
}
