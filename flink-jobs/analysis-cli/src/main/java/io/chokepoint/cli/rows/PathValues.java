// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What people see of a {@link PathRow}: the same arithmetic as in the view, in the same order. */
public final class PathValues {
    /** What kind of record it is, the first member of a JSON line. */
    public static final String RECORD = "flow_path_interval";

    private static final double BITS_PER_BYTE_TIMES_NANOS_PER_SECOND = 8e9;

    private PathValues() {}

    /** The seen value: a String, Long, Double or List of these, or null if not known. */
    public static @Nullable Object of(PathRow row, PathField field) {
        return switch (field.kind()) {
            case HEX ->
                HexFormat.of()
                        .toHexDigits(field == PathField.FLOW_ID ? row.identity().flowId() : row.get(field));
            case ADDRESS, PORT -> end(row.identity(), field);
            case TEXT -> row.text(field);
            case TEXTS -> row.taps();
            case LABEL, LABEL_OR_NULL ->
                row.isNull(field) ? null : field.labels().get((int) row.get(field));
            case INSTANT -> InstantText.of(row.get(field));
            case COUNT, INTEGER, INTEGER_OR_NULL -> row.isNull(field) ? null : (Long) row.get(field);
            case SCALED -> row.isNull(field) ? null : (Double) (row.get(field) / field.divisor());
            case RATE -> row.get(field) * BITS_PER_BYTE_TIMES_NANOS_PER_SECOND / row.intervalNanos();
            case FLAGS -> flags(row.get(field), field.labels());
            case INTEGER_LIST -> Arrays.stream(row.list(field)).boxed().toList();
            case SCALED_LIST -> scaled(row.list(field), field.divisor());
        };
    }

    private static Object end(FlowIdentity flow, PathField field) {
        return switch (field) {
            case CLIENT_IP -> AddressText.of(flow.clientHigh(), flow.clientLow());
            case CLIENT_PORT -> (Long) (long) flow.clientPort();
            case SERVER_IP -> AddressText.of(flow.serverHigh(), flow.serverLow());
            case SERVER_PORT -> (Long) (long) flow.serverPort();
            default -> throw new IllegalArgumentException("no end of a flow: " + field);
        };
    }

    private static List<@Nullable Double> scaled(long[] stored, double divisor) {
        List<@Nullable Double> values = new ArrayList<>();
        for (long value : stored) {
            values.add(value == Row.NULL ? null : (Double) (value / divisor));
        }
        return values;
    }

    private static String flags(long bits, List<String> labels) {
        return IntStream.range(0, labels.size())
                .filter(bit -> (bits >>> bit & 1) != 0)
                .mapToObj(labels::get)
                .collect(Collectors.joining(","));
    }
}
