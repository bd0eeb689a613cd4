// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A range of batches and of their packets, each from the first up to the end, which is not part of it.
 *
 * @param fromSequence number of the first batch; of records without a readable header the Kafka offset
 * @param fromPacket packets in all batches before the first
 */
public record Span(long fromSequence, long toSequence, long fromPacket, long toPacket) {
    /** From the same first batch up to the further end. */
    Span until(long sequence, long packet) {
        return new Span(fromSequence, Math.max(toSequence, sequence), fromPacket, Math.max(toPacket, packet));
    }

    void write(DataOutputView target) throws IOException {
        target.writeLong(fromSequence);
        target.writeLong(toSequence);
        target.writeLong(fromPacket);
        target.writeLong(toPacket);
    }

    static Span read(DataInputView source) throws IOException {
        return new Span(source.readLong(), source.readLong(), source.readLong(), source.readLong());
    }
}
