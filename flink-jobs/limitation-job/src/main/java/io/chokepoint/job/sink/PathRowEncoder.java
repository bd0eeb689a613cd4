// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the bytes of path rows; one that the table could not hold becomes one of {@link Table#REJECTED_ROWS}. */
public final class PathRowEncoder {
    /** Behind the fields: which of two rows counts. */
    static final String REVISION = "revision";

    private static final long NANOS_PER_DAY = 86_400_000_000_000L;
    private static final PathField[] FIELDS = PathField.values();

    private final RowBinary out = new RowBinary();

    /** Names of all columns that are written. */
    static List<String> names() {
        List<String> names = new ArrayList<>();
        Arrays.stream(FIELDS).forEach(field -> names.add(field.storedName()));
        names.add(REVISION);
        return List.copyOf(names);
    }

    /** Type of a number, or of each number of a list. */
    static StoredColumn.Type typeOf(PathField field) {
        return switch (field.kind()) {
            case LABEL, LABEL_OR_NULL -> StoredColumn.Type.ENUM8;
            case PORT -> StoredColumn.Type.UINT16;
            case INSTANT -> StoredColumn.Type.INSTANT;
            case COUNT, FLAGS -> StoredColumn.Type.UINT32;
            case INTEGER, INTEGER_OR_NULL, RATE, INTEGER_LIST -> StoredColumn.Type.UINT64;
            case SCALED, SCALED_LIST -> field.divisor() == 1e3 ? StoredColumn.Type.UINT16 : StoredColumn.Type.UINT64;
            case HEX, ADDRESS, TEXT, TEXTS -> throw new IllegalArgumentException("no number: " + field);
        };
    }

    /** Whether a number, or each of a list, may be NULL. */
    static boolean isNullable(PathField field) {
        return switch (field.kind()) {
            case LABEL_OR_NULL, INTEGER_OR_NULL, SCALED, SCALED_LIST -> true;
            default -> false;
        };
    }

    /** Equal rows have equal bytes. */
    public EncodedRow encode(PathRow row) {
        out.reset();
        for (PathField field : FIELDS) {
            String refusal = put(row, field);
            if (refusal != null) {
                return RowEncoder.rejected(Table.FLOW_PATH_INTERVALS, refusal, row.toString());
            }
        }
        out.putLong(row.revision());
        int day = (int) Math.floorDiv(row.get(PathField.INTERVAL_START), NANOS_PER_DAY);
        return new EncodedRow(Table.FLOW_PATH_INTERVALS, day, out.toByteArray());
    }

    private @Nullable String put(PathRow row, PathField field) {
        FlowIdentity flow = row.identity();
        switch (field.kind()) {
            case HEX -> out.putHex(field == PathField.FLOW_ID ? flow.flowId() : row.get(field));
            case ADDRESS -> {
                boolean isClient = field == PathField.CLIENT_IP;
                out.putLongInNetworkOrder(isClient ? flow.clientHigh() : flow.serverHigh())
                        .putLongInNetworkOrder(isClient ? flow.clientLow() : flow.serverLow());
            }
            case PORT -> out.putShort(field == PathField.CLIENT_PORT ? flow.clientPort() : flow.serverPort());
            case TEXT -> out.putString(row.text(field));
            case TEXTS -> {
                out.putLength(row.taps().size());
                row.taps().forEach(out::putString);
            }
            case INTEGER_LIST, SCALED_LIST -> {
                return putList(row.list(field), field);
            }
            default -> {
                return putNumber(row.get(field), field);
            }
        }
        return null;
    }

    private @Nullable String putList(long[] values, PathField field) {
        out.putLength(values.length);
        for (long value : values) {
            String refusal = putNumber(value, field);
            if (refusal != null) {
                return refusal;
            }
        }
        return null;
    }

    private @Nullable String putNumber(long value, PathField field) {
        StoredColumn.Type type = typeOf(field);
        boolean nullable = isNullable(field);
        if (value == Row.NULL && nullable) {
            out.putByte(1);
            return null;
        }
        String refusal = type.refusal(value);
        if (refusal != null) {
            return field.storedName() + " is " + refusal;
        }
        if (nullable) {
            out.putByte(0);
        }
        type.put(value, out);
        return null;
    }
}
