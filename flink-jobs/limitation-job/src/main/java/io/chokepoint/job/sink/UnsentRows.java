// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Part of a checkpoint: rows of one table that ClickHouse had not confirmed. */
public final class UnsentRows {
    private final Block block;

    UnsentRows(Block block) {
        this.block = block;
    }

    Block block() {
        return block;
    }

    /**
     * Version 2: table by name, its columns, number of rows, then day, length and bytes of each. Version 1 told no columns:
     * they are those that the table had then.
     */
    static final class Serializer implements SimpleVersionedSerializer<UnsentRows> {
        private static final int VERSION = 2;
        /** Columns that tables of version 1 lacked. */
        private static final Set<Table> WITHOUT_TENANTS = Set.of(Table.FLOW_PATH_INTERVALS, Table.BOTTLENECK_GROUPS);

        private static final Set<String> TENANTS = Set.of("client_tenant", "server_tenant", "tenants");

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(UnsentRows rows) throws IOException {
            Block block = rows.block;
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(block.byteCount() + 8 * block.rows() + 64);
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeUTF(block.table().name());
            out.writeInt(block.columns().size());
            for (String column : block.columns()) {
                out.writeUTF(column);
            }
            out.writeInt(block.rows());
            for (int row = 0; row < block.rows(); row++) {
                int from = block.startOf(row);
                int length = block.startOf(row + 1) - from;
                out.writeInt(block.dayOf(row));
                out.writeInt(length);
                out.write(block.bytes(), from, length);
            }
            return bytes.toByteArray();
        }

        @Override
        public UnsentRows deserialize(int version, byte[] serialized) throws IOException {
            if (version < 1 || version > VERSION) {
                throw new IOException("unsent rows have version " + version + ", expected 1 to " + VERSION);
            }
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
            Table table = Table.valueOf(in.readUTF());
            List<String> columns = version == 1 ? columnsOfVersion1(table) : readColumns(in);
            Block block = new Block(table, columns, System.nanoTime());
            for (int left = in.readInt(); left > 0; left--) {
                int day = in.readInt();
                byte[] row = new byte[in.readInt()];
                in.readFully(row);
                block.add(row, day);
            }
            return new UnsentRows(block);
        }

        private static List<String> columnsOfVersion1(Table table) {
            return WITHOUT_TENANTS.contains(table)
                    ? table.columns().stream()
                            .filter(column -> !TENANTS.contains(column))
                            .toList()
                    : table.columns();
        }

        private static List<String> readColumns(DataInputStream in) throws IOException {
            String[] columns = new String[in.readInt()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = in.readUTF();
            }
            return List.of(columns);
        }
    }
}
