// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.time.InstantSource;

/** Makes the bytes of rows; a row that its table could not hold becomes one of {@link Table#REJECTED_ROWS}. */
public final class RowEncoder {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_DAY = 86_400_000_000_000L;
    /** Who watches flows looks at newer intervals; older ones come of captures, or of what has waited in Kafka. */
    private static final long NEWS_NANOS = 10_000_000_000L;

    private static final StoredColumn[] COLUMNS = StoredColumn.ALL.toArray(new StoredColumn[0]);
    private static final MinuteColumn[] MINUTE_COLUMNS = MinuteColumn.ALL.toArray(new MinuteColumn[0]);

    private final InstantSource clock;
    private final RowBinary out = new RowBinary();

    public RowEncoder() {
        this(InstantSource.system());
    }

    /** {@code clock} tells which rows are awaited. */
    RowEncoder(InstantSource clock) {
        this.clock = clock;
    }

    /** Equal rows have equal bytes. */
    public EncodedRow encode(Row row) {
        Table table = switch (row.table()) {
            case LIMITATION_INTERVALS -> Table.LIMITATION_INTERVALS;
            case FLOWS -> Table.FLOWS;
        };
        out.reset();
        putIdentity(row.identity());
        for (StoredColumn column : COLUMNS) {
            String refusal = column.put(row, out);
            if (refusal != null) {
                return rejected(table, refusal, row.toString());
            }
        }
        int day = (int) Math.floorDiv(row.get(RowField.INTERVAL_START), NANOS_PER_DAY);
        return new EncodedRow(table, day, out.toByteArray(), table == Table.LIMITATION_INTERVALS && isNews(row));
    }

    private boolean isNews(Row row) {
        return row.get(RowField.INTERVAL_END) > clock.millis() * NANOS_PER_MILLI - NEWS_NANOS;
    }

    /** Equal rows have equal bytes. */
    public EncodedRow encode(MinuteRow row) {
        out.reset();
        putIdentity(row.identity());
        out.putByte(row.direction().ordinal()).putLong(row.startNanos()).putInt(row.version());
        for (MinuteColumn column : MINUTE_COLUMNS) {
            String refusal = column.put(row, out);
            if (refusal != null) {
                return rejected(Table.LIMITATION_MINUTES, refusal, row.toString());
            }
        }
        return new EncodedRow(
                Table.LIMITATION_MINUTES, (int) Math.floorDiv(row.startNanos(), NANOS_PER_DAY), out.toByteArray());
    }

    private void putIdentity(FlowIdentity flow) {
        out.putHex(flow.flowId())
                .putString(flow.tap())
                .putLongInNetworkOrder(flow.clientHigh())
                .putLongInNetworkOrder(flow.clientLow())
                .putShort(flow.clientPort())
                .putLongInNetworkOrder(flow.serverHigh())
                .putLongInNetworkOrder(flow.serverLow())
                .putShort(flow.serverPort());
        if (putPresence(flow.vlan())) {
            out.putShort((int) flow.vlan());
        }
        if (putPresence(flow.tunnelId())) {
            out.putInt((int) flow.tunnelId());
        }
        out.putString(flow.clientTenant()).putString(flow.serverTenant());
    }

    private boolean putPresence(long value) {
        out.putByte(value == Row.NULL ? 1 : 0);
        return value != Row.NULL;
    }

    /** A row that {@code table} refused, as hexadecimal digits or text. */
    static EncodedRow rejected(Table table, String reason, String row) {
        RowBinary bytes = new RowBinary();
        bytes.putString(table.tableName()).putString(reason).putString(row);
        return new EncodedRow(Table.REJECTED_ROWS, 0, bytes.toByteArray());
    }
}
