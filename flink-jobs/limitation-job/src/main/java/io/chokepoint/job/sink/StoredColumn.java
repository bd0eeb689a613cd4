// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A column of the row tables: how the integer of a {@link RowField} is laid in RowBinary. The order is that of the
 * fields, behind the columns of the identity; a test holds names and types to the migrations.
 *
 * @param name of the column
 * @param nullable whether it takes NULL
 */
record StoredColumn(RowField field, String name, Type type, boolean nullable) {
    /** Types of ClickHouse, with what they can hold. */
    enum Type {
        ENUM8("Enum8", 0, Byte.MAX_VALUE),
        UINT16("UInt16", 0, 0xffff),
        UINT32("UInt32", 0, 0xffff_ffffL),
        /** Half of its range: the analysis counts in signed integers. */
        UINT64("UInt64", 0, Long.MAX_VALUE),
        INT64("Int64", Long.MIN_VALUE + 1, Long.MAX_VALUE),
        INSTANT("DateTime64(9, 'UTC')", Long.MIN_VALUE + 1, Long.MAX_VALUE);

        private final String sql;
        private final long min;
        private final long max;

        Type(String sql, long min, long max) {
            this.sql = sql;
            this.min = min;
            this.max = max;
        }

        /** Its name in a migration; of an Enum8 only the beginning. */
        String sql() {
            return sql;
        }

        /** Null if it holds the value, else what is wrong with it. */
        @Nullable
        String refusal(long value) {
            return value >= min && value <= max ? null : value + ", expected " + min + ".." + max;
        }

        void put(long value, RowBinary out) {
            switch (this) {
                case ENUM8 -> out.putByte((int) value);
                case UINT16 -> out.putShort((int) value);
                case UINT32 -> out.putInt((int) value);
                case UINT64, INT64, INSTANT -> out.putLong(value);
            }
        }
    }

    /** The columns before the stored ones: {@link io.chokepoint.analysis.row.FlowIdentity}. */
    static final List<String> IDENTITY = List.of(
            "flow_id",
            "tap",
            "client_ip",
            "client_port",
            "server_ip",
            "server_port",
            "vlan",
            "tunnel_id",
            "client_tenant",
            "server_tenant");

    /** All stored columns. */
    static final List<StoredColumn> ALL =
            Arrays.stream(RowField.values()).flatMap(StoredColumn::of).toList();

    /** Names of all columns of a row table that are written. */
    static List<String> names() {
        List<String> names = new ArrayList<>(IDENTITY);
        ALL.forEach(column -> names.add(column.name));
        return List.copyOf(names);
    }

    private static Stream<StoredColumn> of(RowField field) {
        String name = field.storedName();
        if (name == null || field.kind() == RowField.Kind.IDENTITY) {
            return Stream.empty();
        }
        return Stream.of(new StoredColumn(field, name, typeOf(field), isNullable(field)));
    }

    private static boolean isNullable(RowField field) {
        return switch (field) {
            case DIRECTION, INTERVAL_START, INTERVAL_END, VERSION, ROOT_CAUSE, QUALITY -> false;
            default -> true;
        };
    }

    private static Type typeOf(RowField field) {
        return switch (field.kind()) {
            case LABEL -> Type.ENUM8;
            case INSTANT -> Type.INSTANT;
            case FLAGS -> Type.UINT32;
            case SHARE, RATE -> Type.UINT64;
            case SCALED -> field.divisor() == 1e3 ? Type.UINT16 : field.divisor() == 1e4 ? Type.INT64 : Type.UINT64;
            case INTEGER -> integerType(field);
            case STORED_ONLY ->
                field == RowField.EVIDENCE_RULE || field == RowField.ADVICE_RULE ? Type.ENUM8 : Type.INT64;
            case IDENTITY, EVIDENCE, ADVICE, EFFICIENCY, THROUGHPUT_RATIO, PATH_ONLY ->
                throw new IllegalArgumentException(field + " is not stored");
        };
    }

    /** What one packet, window or interval holds fits into 32 bits; sums of bytes over a life do not. */
    private static Type integerType(RowField field) {
        return switch (field) {
            case VERSION,
                    MSS_BYTES,
                    RECEIVER_WINDOW_MEAN_BYTES,
                    RECEIVER_WINDOW_MAX_BYTES,
                    OUTSTANDING_MEAN_BYTES,
                    OUTSTANDING_MAX_BYTES,
                    CWND_BYTES,
                    SSTHRESH_BYTES,
                    DATA_PACKETS,
                    REORDERED_PACKETS,
                    DUPLICATE_PACKETS,
                    LOSS_EVENTS,
                    ECN_CE_PACKETS -> Type.UINT32;
            case LOST_BYTES -> Type.INT64;
            default -> Type.UINT64;
        };
    }

    /** Appends the value of a row; null if it fits, else why it does not. */
    @Nullable
    String put(Row row, RowBinary out) {
        long value = row.get(field);
        if (value == Row.NULL) {
            return putNull(out);
        }
        String refusal = type.refusal(value);
        if (refusal != null) {
            return name + " is " + refusal;
        }
        if (nullable) {
            out.putByte(0);
        }
        type.put(value, out);
        return null;
    }

    private @Nullable String putNull(RowBinary out) {
        if (nullable) {
            out.putByte(1);
            return null;
        }
        if (field.kind() == RowField.Kind.FLAGS) {
            type.put(0, out); // no flag and not known read alike
            return null;
        }
        return name + " is NULL";
    }
}
