// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.job.GoldenFile;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class UnsentRowsTest {
    private final UnsentRows.Serializer serializer = new UnsentRows.Serializer();

    @Test
    void theBytesOfVersion2AreRestored() throws IOException {
        byte[] golden = GoldenFile.bytes("state/v2/unsent-rows.hex", this::written);

        Block block = serializer.deserialize(2, golden).block();

        assertThat(block.table()).isEqualTo(Table.LIMITATION_INTERVALS);
        assertThat(block.columns()).as("those it was written with").containsExactly("flow_id", "gone_since");
        assertThatTheRowsAreThere(block);
        assertThat(written()).isEqualTo(golden);
    }

    @Test
    void theBytesOfVersion1AreRestored() throws IOException {
        byte[] golden = GoldenFile.bytes("state/v1/unsent-rows.hex");

        Block block = serializer.deserialize(1, golden).block();

        assertThat(block.table()).isEqualTo(Table.LIMITATION_INTERVALS);
        assertThat(block.columns()).isEqualTo(Table.LIMITATION_INTERVALS.columns());
        assertThatTheRowsAreThere(block);
    }

    /** Version 1 did not know whose the ends of a path and the members of a group are. */
    @ParameterizedTest
    @EnumSource(
            value = Table.class,
            names = {"FLOW_PATH_INTERVALS", "BOTTLENECK_GROUPS"})
    void rowsOfVersion1HaveTheColumnsOfThen(Table table) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(table.name());
        out.writeInt(1);
        out.writeInt(20_454);
        out.writeInt(2);
        out.write(new byte[] {1, 2});

        Block block = serializer.deserialize(1, bytes.toByteArray()).block();

        assertThat(block.columns())
                .noneMatch(column -> column.contains("tenant"))
                .isNotEmpty();
        assertThat(table.columns()).containsAll(block.columns()).anyMatch(column -> column.contains("tenant"));
        assertThat(block.copyOfRow(0)).containsExactly(1, 2);
    }

    private static void assertThatTheRowsAreThere(Block block) {
        assertThat(block.rows()).isEqualTo(3);
        assertThat(block.byteCount()).isEqualTo(5);
        assertThat(block.copyOfRow(0)).containsExactly(1, 2, 3);
        assertThat(block.copyOfRow(1)).isEmpty();
        assertThat(block.copyOfRow(2)).containsExactly(4, 5);
        assertThat(block.dayOf(0)).isEqualTo(20_454);
        assertThat(block.dayOf(2)).isEqualTo(-1);
    }

    @Test
    void anUnknownVersionIsRefused() {
        assertThatThrownBy(() -> serializer.deserialize(3, written()))
                .isInstanceOf(IOException.class)
                .hasMessage("unsent rows have version 3, expected 1 to 2");
    }

    private byte[] written() {
        Block block = new Block(Table.LIMITATION_INTERVALS, List.of("flow_id", "gone_since"), 0);
        block.add(new byte[] {1, 2, 3}, 20_454);
        block.add(new byte[0], 20_454);
        block.add(new byte[] {4, 5}, -1);
        try {
            return serializer.serialize(new UnsentRows(block));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
