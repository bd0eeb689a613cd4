// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.row.RowField;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the table for people tells of a flow and direction. Rates are in bits per second, times in seconds; null is not
 * known.
 *
 * @param toServer whether the data goes from client to server
 * @param bytes payload with repetitions
 * @param capacityProven whether the capacity is that of a bottleneck, not just the most that was seen
 * @param retransmittedShare repeated payload / payload
 */
public record Verdict(
        String tap,
        String client,
        String server,
        boolean toServer,
        long bytes,
        double seconds,
        @Nullable Double goodput,
        @Nullable Double capacity,
        boolean capacityProven,
        @Nullable Double rttMin,
        @Nullable Double retransmittedShare,
        String rootCause,
        String subCause,
        @Nullable Double confidence,
        String evidence,
        String advice,
        String quality) {
    private static final double PERCENT = 100;

    /** Takes the verdict out of seen values, whether they come from the analysis or from a table. */
    public static Verdict of(double seconds, Function<RowField, @Nullable Object> values) {
        Double efficiency = number(values.apply(RowField.EFFICIENCY_PERCENT));
        Double bytes = number(values.apply(RowField.DATA_BYTES));
        return new Verdict(
                text(values.apply(RowField.TAP)),
                endpoint(text(values.apply(RowField.CLIENT_IP)), text(values.apply(RowField.CLIENT_PORT))),
                endpoint(text(values.apply(RowField.SERVER_IP)), text(values.apply(RowField.SERVER_PORT))),
                text(values.apply(RowField.DIRECTION)).equals("client_to_server"),
                bytes == null ? 0 : bytes.longValue(),
                seconds,
                number(values.apply(RowField.GOODPUT_BITS_PER_SECOND)),
                number(values.apply(RowField.CAPACITY_BITS_PER_SECOND)),
                text(values.apply(RowField.CAPACITY_KIND)).equals("proven"),
                number(values.apply(RowField.RTT_MIN_SECONDS)),
                efficiency == null ? null : (Double) ((PERCENT - efficiency) / PERCENT),
                text(values.apply(RowField.ROOT_CAUSE)),
                text(values.apply(RowField.SUB_CAUSE)),
                number(values.apply(RowField.CONFIDENCE)),
                text(values.apply(RowField.EVIDENCE)),
                text(values.apply(RowField.ADVICE)),
                text(values.apply(RowField.QUALITY)));
    }

    private static String endpoint(String address, String port) {
        return address.contains(":") ? "[" + address + "]:" + port : address + ":" + port;
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    private static @Nullable Double number(@Nullable Object value) {
        return value instanceof Number number ? (Double) number.doubleValue() : null;
    }
}
