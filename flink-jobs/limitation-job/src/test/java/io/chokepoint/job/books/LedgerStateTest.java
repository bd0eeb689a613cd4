// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.job.GoldenFile;
import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class LedgerStateTest {
    private static final BatchOrigin ORIGIN = new BatchOrigin("leaf1", 1, 0, 0);
    private static final long MILLIS_PER_MINUTE = 60_000;

    private final LedgerState books = new LedgerState();
    private final LedgerState.Serializer serializer = new LedgerState.Serializer();

    /** With 4 runs and 100 packets. */
    private static LedgerEntry.Batch batch(long sequence, long packetsBefore) {
        return new LedgerEntry.Batch(
                ORIGIN,
                "probe-1",
                sequence,
                packetsBefore,
                new Amount(1, 4, 100),
                (7 + sequence) * MILLIS_PER_MINUTE,
                Map.of("frames_received", 110 * (sequence + 1)));
    }

    @Test
    void batchesInOrderAreConsumedAndNothingElse() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));

        assertThat(totals()).containsExactly(Map.entry("consumed", new Amount(2, 8, 200)));
    }

    @Test
    void aGapIsMissingWithItsPackets() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(4, 450));

        assertThat(totals())
                .containsExactly(
                        Map.entry("consumed", new Amount(2, 8, 200)),
                        Map.entry("missing_batch", new Amount(3, 0, 350)));
    }

    @Test
    void whatIsMissingAtTheBeginningIsMissingToo() {
        books.onBatch(batch(2, 200));

        assertThat(totals()).containsEntry("missing_batch", new Amount(2, 0, 200));
    }

    @Test
    void aRepeatIsConsumedAndSaidToBeOne() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.onBatch(batch(0, 0));
        books.onBatch(batch(2, 200));

        assertThat(totals())
                .containsExactly(
                        Map.entry("consumed", new Amount(4, 16, 400)),
                        Map.entry("repeated_batch", new Amount(1, 4, 100)));
    }

    @Test
    void aRepeatDoesNotSetCountersBack() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.onBatch(batch(0, 0));

        Map<String, Long> counters = new TreeMap<>();
        books.tell((fate, amount) -> {}, counters::put);

        assertThat(counters).containsExactly(Map.entry("frames_received", 220L));
        assertThat(books.minute()).isEqualTo(8);
    }

    @Test
    void aStateReadIsTheStateWritten() throws IOException {
        LedgerState state = full();

        byte[] bytes = written(state);

        assertThat(serializer.deserialize(new DataInputDeserializer(bytes)))
                .usingRecursiveComparison()
                .isEqualTo(state);
        assertThat(serializer.copy(state)).usingRecursiveComparison().isEqualTo(state);
    }

    @Test
    void theBytesOfVersion1AreRestored() throws IOException {
        byte[] golden = GoldenFile.bytes("state/v1/books.hex", LedgerStateTest::writtenFull);

        LedgerState state = serializer.deserialize(new DataInputDeserializer(golden));

        assertThat(state).usingRecursiveComparison().isEqualTo(full());
    }

    @Test
    void anUnknownVersionIsRefused() throws IOException {
        byte[] bytes = written(full());
        bytes[3] = 2;

        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(bytes)))
                .isInstanceOf(IOException.class)
                .hasMessage("ledger state has version 2, expected 1");
    }

    /** With something in every field. */
    private static LedgerState full() {
        LedgerState state = new LedgerState();
        state.onBatch(batch(0, 0));
        state.tell((fate, amount) -> {}, (counter, value) -> {});
        state.onBatch(batch(4, 450));
        state.add("contributed", new Amount(0, 7, 170));
        return state;
    }

    private static byte[] writtenFull() {
        try {
            return written(full());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] written(LedgerState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        new LedgerState.Serializer().serialize(state, out);
        return out.getCopyOfBuffer();
    }

    private Map<String, Amount> totals() {
        Map<String, Amount> totals = new TreeMap<>();
        books.tell(totals::put, (counter, value) -> {});
        return totals;
    }
}
