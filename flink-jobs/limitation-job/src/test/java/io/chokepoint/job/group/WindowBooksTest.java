// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.GroupWindow;
import java.io.IOException;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowBooksTest {
    private final WindowBooks.Serializer serializer = new WindowBooks.Serializer();
    private final DataOutputSerializer bytes = new DataOutputSerializer(64);

    @Test
    void theBytesHoldAll() throws IOException {
        WindowBooks books = new WindowBooks(new GroupWindow(3, true, 1L << 48 | 7, List.of(-1L, 5L)), 10, 20);
        serializer.serialize(books, bytes);

        assertThat(serializer.deserialize(new DataInputDeserializer(bytes.getCopyOfBuffer())))
                .isEqualTo(books);
    }

    /** It counted what had come, and what had when it was told last; a telling by bytes is of a higher version. */
    @ParameterizedTest
    @CsvSource({"7, 7, false", "7, 6, true"})
    void version1IsRead(long all, long judged, boolean isWaiting) throws IOException {
        bytes.writeByte(1);
        bytes.writeInt(4);
        bytes.writeLong(all);
        bytes.writeLong(judged);
        bytes.writeLong(10);
        bytes.writeLong(20);
        bytes.writeInt(1);
        bytes.writeLong(5);

        assertThat(serializer.deserialize(new DataInputDeserializer(bytes.getCopyOfBuffer())))
                .isEqualTo(new WindowBooks(new GroupWindow(4, isWaiting, 0, List.of(5L)), 10, 20));
    }
}
