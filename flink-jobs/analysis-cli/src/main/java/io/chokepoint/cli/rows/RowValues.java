// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.row.AdviceRule;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.EvidenceRule;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What people see of a row: the one place where seen values follow from stored ones. The views of the tables do the same
 * arithmetic in the same order, so that both give the same doubles, bit for bit.
 */
public final class RowValues {
    /** The columns that people see, in the order of the contract. */
    public static final List<RowField> SEEN_FIELDS =
            Arrays.stream(RowField.values()).filter(RowField::isSeen).toList();

    private static final double BITS_PER_BYTE_TIMES_NANOS_PER_SECOND = 8e9;
    private static final double PERCENT = 100.0;
    private static final List<RowField> RETRANSMITTED = List.of(
            RowField.RETRANSMITTED_FAST_BYTES,
            RowField.RETRANSMITTED_TIMEOUT_BYTES,
            RowField.RETRANSMITTED_TAIL_PROBE_BYTES,
            RowField.RETRANSMITTED_SPURIOUS_BYTES,
            RowField.RETRANSMITTED_OTHER_BYTES);

    private RowValues() {}

    /** What kind of record a row is, the first member of a JSON line. */
    public static String record(Row row) {
        return switch (row.table()) {
            case LIMITATION_INTERVALS -> "limitation_interval";
            case FLOWS -> "flow";
        };
    }

    /** The seen value: a String, Long or Double, or null if not known. */
    public static @Nullable Object of(Row row, RowField field) {
        return switch (field.kind()) {
            case IDENTITY -> identity(row.identity(), field);
            case EVIDENCE -> EvidenceRule.text(row);
            case ADVICE -> AdviceRule.text(row);
            case FLAGS -> row.isNull(field) ? "" : flags(row.get(field), field.labels());
            case EFFICIENCY -> efficiencyPercent(row);
            case THROUGHPUT_RATIO -> throughputRatioPercent(row);
            case INTEGER, STORED_ONLY, PATH_ONLY -> integer(row.get(field));
            case INSTANT -> row.isNull(field) ? null : InstantText.of(row.get(field));
            case LABEL -> row.isNull(field) ? null : field.labels().get((int) row.get(field));
            case SCALED -> row.isNull(field) ? null : (Double) (row.get(field) / field.divisor());
            case SHARE -> share(row, field);
            case RATE -> bitsPerSecond(row, field);
        };
    }

    private static @Nullable Object identity(FlowIdentity flow, RowField field) {
        return switch (field) {
            case FLOW_ID -> HexFormat.of().toHexDigits(flow.flowId());
            case TAP -> flow.tap();
            case CLIENT_IP -> AddressText.of(flow.clientHigh(), flow.clientLow());
            case CLIENT_PORT -> (long) flow.clientPort();
            case SERVER_IP -> AddressText.of(flow.serverHigh(), flow.serverLow());
            case SERVER_PORT -> (long) flow.serverPort();
            case VLAN -> integer(flow.vlan());
            case TUNNEL_ID -> integer(flow.tunnelId());
            case CLIENT_TENANT -> flow.clientTenant();
            case SERVER_TENANT -> flow.serverTenant();
            default -> throw new IllegalArgumentException("no identity column: " + field);
        };
    }

    private static @Nullable Long integer(long stored) {
        return stored == Row.NULL ? null : stored;
    }

    private static String flags(long bits, List<String> labels) {
        return IntStream.range(0, labels.size())
                .filter(bit -> (bits >>> bit & 1) != 0)
                .mapToObj(labels::get)
                .collect(Collectors.joining(","));
    }

    private static @Nullable Double share(Row row, RowField field) {
        long nanos = row.intervalNanos();
        return row.isNull(field) || nanos == 0 ? null : (Double) ((double) row.get(field) / nanos);
    }

    private static @Nullable Double bitsPerSecond(Row row, RowField field) {
        long nanos = row.intervalNanos();
        return row.isNull(field) || nanos == 0
                ? null
                : (Double) (row.get(field) * BITS_PER_BYTE_TIMES_NANOS_PER_SECOND / nanos);
    }

    private static @Nullable Double efficiencyPercent(Row row) {
        long data = row.get(RowField.DATA_BYTES);
        if (data == Row.NULL || data == 0 || RETRANSMITTED.stream().anyMatch(row::isNull)) {
            return null;
        }
        long retransmitted = RETRANSMITTED.stream().mapToLong(row::get).sum();
        return PERCENT * (data - retransmitted) / data;
    }

    private static @Nullable Double throughputRatioPercent(Row row) {
        Double throughput = bitsPerSecond(row, RowField.THROUGHPUT_BITS_PER_SECOND);
        long capacity = row.get(RowField.CAPACITY_BITS_PER_SECOND);
        boolean proven = row.get(RowField.CAPACITY_KIND) == CapacityKind.PROVEN.ordinal() && capacity > 0;
        return throughput == null || !proven ? null : (Double) (PERCENT * throughput / capacity);
    }
}
