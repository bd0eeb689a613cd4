// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** A row as its table takes it: encoded where it is made, so that the sink only moves bytes. */
public final class EncodedRow {
    private final Table table;
    private final int day;
    private final byte[] bytes;
    private final boolean isAwaited;

    /** {@code day} since the epoch names the partition; 0 where a table has none. */
    EncodedRow(Table table, int day, byte[] bytes) {
        this(table, day, bytes, false);
    }

    EncodedRow(Table table, int day, byte[] bytes, boolean isAwaited) {
        this.table = table;
        this.day = day;
        this.bytes = bytes;
        this.isAwaited = isAwaited;
    }

    /** Where it belongs. */
    public Table table() {
        return table;
    }

    /** Partition: days since the epoch. */
    public int day() {
        return day;
    }

    /** RowBinary of {@link Table#columns()}. */
    public byte[] bytes() {
        return bytes;
    }

    /** Whether somebody may be looking out for it. Decides when it is inserted, and nothing else. */
    public boolean isAwaited() {
        return isAwaited;
    }

    /** For Flink. */
    public static TypeInformation<EncodedRow> type() {
        return new ValueType<>(EncodedRow.class, new Serializer());
    }

    /** Only crosses the network. */
    public static final class Serializer extends ValueSerializer<EncodedRow> {
        private static final long serialVersionUID = 1L;
        private static final Table[] TABLES = Table.values();

        @Override
        public void serialize(EncodedRow row, DataOutputView target) throws IOException {
            target.writeByte(row.table.ordinal());
            target.writeInt(row.day);
            target.writeBoolean(row.isAwaited);
            target.writeInt(row.bytes.length);
            target.write(row.bytes);
        }

        @Override
        public EncodedRow deserialize(DataInputView source) throws IOException {
            Table table = TABLES[source.readByte()];
            int day = source.readInt();
            boolean isAwaited = source.readBoolean();
            byte[] bytes = new byte[source.readInt()];
            source.readFully(bytes);
            return new EncodedRow(table, day, bytes, isAwaited);
        }

        @Override
        public TypeSerializerSnapshot<EncodedRow> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<EncodedRow> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
