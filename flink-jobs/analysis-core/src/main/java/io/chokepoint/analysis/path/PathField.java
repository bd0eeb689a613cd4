// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The columns of {@link PathRow}, in the order of the contract: the one table from which JSON, CSV, the table sink and the
 * documentation take names and meaning.
 */
public enum PathField {
    PATH_ID(Kind.HEX),
    FLOW_ID(Kind.HEX),
    CLIENT_IP(Kind.ADDRESS),
    CLIENT_PORT(Kind.PORT),
    SERVER_IP(Kind.ADDRESS),
    SERVER_PORT(Kind.PORT),
    CLIENT_TENANT(Kind.TEXT),
    SERVER_TENANT(Kind.TEXT),
    DIRECTION("direction", Kind.LABEL, 0, Direction.values()),
    INTERVAL_START(Kind.INSTANT),
    INTERVAL_END(Kind.INSTANT),
    VERSION(Kind.COUNT),
    OBSERVATIONS(Kind.COUNT),
    TAPS(Kind.TEXTS),
    TAP_POSITIONS("tap_positions_permille", Kind.SCALED_LIST, 1e3),
    ROOT_CAUSE("root_cause", Kind.LABEL, 0, RootCause.values()),
    LIMIT_SEGMENT("limit_segment", Kind.LABEL, 0, LimitSegment.values()),
    LIMIT_FROM(Kind.TEXT),
    LIMIT_TO(Kind.TEXT),
    LIMIT_EVIDENCE("limit_evidence", Kind.LABEL_OR_NULL, 0, LimitEvidence.values()),
    CONFIDENCE("confidence_permille", Kind.SCALED, 1e3),
    DATA_PACKETS(Kind.COUNT),
    DATA_BYTES(Kind.INTEGER),
    THROUGHPUT_BITS_PER_SECOND("throughput_bytes", Kind.RATE, 0),
    GOODPUT_BITS_PER_SECOND("goodput_bytes", Kind.RATE, 0),
    CAPACITY_BITS_PER_SECOND(Kind.INTEGER_OR_NULL),
    RTT_MIN_SECONDS("rtt_min_ns", Kind.SCALED, 1e9),
    SEGMENT_QUEUE_SECONDS("segment_queue_ns", Kind.SCALED_LIST, 1e9),
    SEGMENT_LOST_BYTES(Kind.INTEGER_LIST),
    QUALITY("quality_flags", Kind.FLAGS, 0, Quality.values());

    /** How the value that people see follows from the stored one. */
    public enum Kind {
        /** 64 bits, seen as 16 hexadecimal digits. */
        HEX,
        ADDRESS,
        PORT,
        TEXT,
        /** Index into {@link #labels()}. */
        LABEL,
        LABEL_OR_NULL,
        /** Nanoseconds since the epoch, seen as an RFC 3339 instant. */
        INSTANT,
        /** Fits into 32 bits. */
        COUNT,
        INTEGER,
        INTEGER_OR_NULL,
        /** Stored integer or NULL, divided by {@link #divisor()}. */
        SCALED,
        /** Stored bytes × 8·10⁹ divided by the length of the interval in nanoseconds. */
        RATE,
        /** Bit set over {@link Quality}, seen as labels joined by commas. */
        FLAGS,
        TEXTS,
        INTEGER_LIST,
        /** Stored integers, NULL where not known, each divided by {@link #divisor()}. */
        SCALED_LIST
    }

    private final String storedName;
    private final Kind kind;
    private final double divisor;
    private final List<String> labels;

    PathField(Kind kind) {
        this.storedName = name().toLowerCase(Locale.ROOT);
        this.kind = kind;
        this.divisor = 0;
        this.labels = List.of();
    }

    PathField(String storedName, Kind kind, double divisor, Enum<?>... labels) {
        this.storedName = storedName;
        this.kind = kind;
        this.divisor = divisor;
        this.labels = Arrays.stream(labels)
                .map(label -> label.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    /** Name in JSON, CSV and the view. */
    public String seenName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Name in the base table. */
    public String storedName() {
        return storedName;
    }

    /** How to show the stored value. */
    public Kind kind() {
        return kind;
    }

    /** What a scaled value is divided by. */
    public double divisor() {
        return divisor;
    }

    /** Texts of a label or of flags, by value or bit. */
    public List<String> labels() {
        return labels;
    }
}
