// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.job.GoldenFile;
import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class LedgerStateTest {
    private static final BatchOrigin ORIGIN = new BatchOrigin("leaf1", 1, 0, 0);
    private static final long MILLIS_PER_MINUTE = 60_000;

    private final LedgerState.Serializer serializer = new LedgerState.Serializer();
    private final Tables tables = new Tables();
    private LedgerState books = new LedgerState();

    /** With 4 runs and 100 packets, appended in minute 7 + sequence. */
    private static LedgerEntry.Batch batch(long sequence, long packetsBefore) {
        return batch("consumed", sequence, packetsBefore, 7 + sequence);
    }

    private static LedgerEntry.Batch batch(String fate, long sequence, long packetsBefore, long minute) {
        return new LedgerEntry.Batch(
                ORIGIN,
                fate,
                "probe-1",
                sequence,
                packetsBefore,
                new Amount(1, 4, 100),
                minute * MILLIS_PER_MINUTE,
                Map.of("frames_received", 110 * (sequence + 1)));
    }

    private static LedgerEntry.Fate fate(long minute, String fate, long runs, long packets) {
        return new LedgerEntry.Fate(ORIGIN, minute, fate, new Amount(0, runs, packets));
    }

    /** What the tables show: of each key what was told with the highest version, the last of equal ones. */
    private static final class Tables implements LedgerState.Told {
        private final Map<String, Amount> totals = new TreeMap<>();
        private final Map<String, Amount> ranges = new TreeMap<>();
        private final Map<String, Long> counters = new TreeMap<>();
        private final Map<String, Long> versions = new TreeMap<>();
        private final Map<String, String> ends = new TreeMap<>();

        @Override
        public void total(String fate, Amount total, long version) {
            if (versions.merge(fate, version, Math::max) == version) {
                totals.put(fate, total);
            }
        }

        @Override
        public void range(long minute, String fate, Span span, Amount amount, long version) {
            String key = minute + " " + fate + " " + span.fromSequence() + " " + span.fromPacket();
            if (versions.merge(key, version, Math::max) == version) {
                ranges.remove(key + " .. " + ends.get(key));
                ends.put(key, span.toSequence() + " " + span.toPacket());
                if (amount.sum() > 0) {
                    ranges.put(key + " .. " + ends.get(key), amount);
                }
            }
        }

        @Override
        public void counter(String counter, long value) {
            counters.put(counter, value);
        }
    }

    private Map<String, Amount> totals() {
        books.tell(tables);
        return tables.totals;
    }

    private Map<String, Amount> ranges() {
        books.tell(tables);
        return tables.ranges;
    }

    @Test
    void batchesInOrderAreConsumedAndNothingElse() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));

        assertThat(totals()).containsExactly(Map.entry("consumed", new Amount(2, 8, 200)));
        assertThat(ranges())
                .containsExactly(
                        Map.entry("7 consumed 0 0 .. 1 100", new Amount(1, 4, 100)),
                        Map.entry("8 consumed 1 100 .. 2 200", new Amount(1, 4, 100)));
    }

    @Test
    void aGapIsMissingWithItsPacketsAndItsPlace() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(4, 450));

        assertThat(totals())
                .containsExactly(
                        Map.entry("consumed", new Amount(2, 8, 200)),
                        Map.entry("missing_batch", new Amount(3, 0, 350)));
        assertThat(ranges()).containsEntry("11 missing_batch 1 100 .. 4 450", new Amount(3, 0, 350));
    }

    @Test
    void whatIsMissingAtTheBeginningIsMissingToo() {
        books.onBatch(batch(2, 200));

        assertThat(totals()).containsEntry("missing_batch", new Amount(2, 0, 200));
        assertThat(ranges()).containsEntry("9 missing_batch 0 0 .. 2 200", new Amount(2, 0, 200));
    }

    @Test
    void whatIsMissingAtTheEndIsToldByTheBatchThatSettlesIt() {
        books.onBatch(batch(0, 0));
        books.onBatch(new LedgerEntry.Batch(
                ORIGIN, "consumed", "probe-1", 3, 260, new Amount(1, 0, 0), 20 * MILLIS_PER_MINUTE, Map.of()));

        assertThat(totals()).containsEntry("missing_batch", new Amount(2, 0, 160));
        assertThat(ranges()).containsEntry("20 missing_batch 1 100 .. 3 260", new Amount(2, 0, 160));
    }

    @Test
    void aGapThatIsFilledLaterIsMissingNoMore() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(4, 450));
        assertThat(ranges()).containsKey("11 missing_batch 1 100 .. 4 450");

        books.onBatch(batch("consumed", 2, 200, 12));
        assertThat(totals()).containsEntry("missing_batch", new Amount(2, 0, 250));
        assertThat(ranges())
                .containsEntry("11 missing_batch 1 100 .. 2 200", new Amount(1, 0, 100))
                .containsEntry("11 missing_batch 3 300 .. 4 450", new Amount(1, 0, 150));

        books.onBatch(batch("consumed", 1, 100, 12));
        books.onBatch(batch("consumed", 3, 300, 12));
        assertThat(totals())
                .containsEntry("missing_batch", new Amount(0, 0, 50))
                .doesNotContainKey("repeated_batch");
        assertThat(ranges()).containsEntry("11 missing_batch 4 400 .. 4 450", new Amount(0, 0, 50));
    }

    @Test
    void aRepeatIsConsumedAndSaidToBeOne() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.onBatch(batch("consumed", 0, 0, 9));
        books.onBatch(batch(2, 200));

        assertThat(totals())
                .containsExactly(
                        Map.entry("consumed", new Amount(4, 16, 400)),
                        Map.entry("repeated_batch", new Amount(1, 4, 100)));
        assertThat(ranges()).containsEntry("9 repeated_batch 0 0 .. 1 100", new Amount(1, 4, 100));
    }

    /** A replay with larger batches: its number 1 is not the number 1 that was there. */
    @Test
    void aReplayThatIsCutOtherwiseIsToldByItsPackets() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.onBatch(batch(4, 400));

        books.onBatch(wide(0, 0));
        books.onBatch(wide(1, 250));
        assertThat(totals())
                .containsEntry("missing_batch", new Amount(0, 0, 0))
                .containsEntry("repeated_batch", new Amount(2, 0, 300));

        books.onBatch(wide(2, 500));
        assertThat(totals())
                .containsEntry("consumed", new Amount(6, 18, 1050))
                .containsEntry("missing_batch", new Amount(0, 0, 0))
                .containsEntry("repeated_batch", new Amount(2, 0, 300));
    }

    private static LedgerEntry.Batch wide(long sequence, long packetsBefore) {
        return new LedgerEntry.Batch(
                ORIGIN,
                "consumed",
                "probe-1",
                sequence,
                packetsBefore,
                new Amount(1, 2, 250),
                20 * MILLIS_PER_MINUTE,
                Map.of());
    }

    @Test
    void aBatchThatWasRefusedIsNotMissing() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch("rejected_partition", 1, 100, 8));
        books.onBatch(batch(2, 200));

        assertThat(totals())
                .containsExactly(
                        Map.entry("consumed", new Amount(2, 8, 200)),
                        Map.entry("rejected_partition", new Amount(1, 4, 100)));
        assertThat(ranges()).containsEntry("8 rejected_partition 1 100 .. 2 200", new Amount(1, 4, 100));
    }

    @Test
    void aRecordWithoutAHeaderTellsOnlyItsPlace() {
        books.onBatch(new LedgerEntry.Batch(
                BatchOrigin.unknown(3), "rejected_empty", "", 4711, 0, new Amount(1, 0, 0), 60_000, Map.of()));

        assertThat(totals()).containsExactly(Map.entry("rejected_empty", new Amount(1, 0, 0)));
        assertThat(ranges()).containsExactly(Map.entry("1 rejected_empty 4711 0 .. 4712 0", new Amount(1, 0, 0)));
    }

    @Test
    void fatesOfRunsStandBesideTheBatchesOfTheirMinute() {
        books.add(fate(7, "contributed", 3, 60));
        assertThat(ranges()).as("before their batches are known").isEmpty();

        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.add(fate(7, "malformed", 1, 40));

        assertThat(ranges())
                .containsExactly(
                        Map.entry("7 consumed 0 0 .. 1 100", new Amount(1, 4, 100)),
                        Map.entry("7 contributed 0 0 .. 1 100", new Amount(0, 3, 60)),
                        Map.entry("7 malformed 0 0 .. 1 100", new Amount(0, 1, 40)),
                        Map.entry("8 consumed 1 100 .. 2 200", new Amount(1, 4, 100)));
    }

    @Test
    void aMinuteIsKeptUntilAllItsRunsHaveTheirFate() throws IOException {
        for (int i = 0; i < 50; i++) {
            books.onBatch(batch(i, 100L * i));
            books.add(fate(7 + i, "contributed", i == 20 ? 3 : 4, i == 20 ? 75 : 100));
            books.tell(tables);
        }
        int bytes = written(books).length;
        assertThat(bytes).isLessThan(1000);

        books.add(fate(27, "repeated", 1, 25));
        books.tell(tables);

        assertThat(ranges()).containsEntry("27 repeated 20 2000 .. 21 2100", new Amount(0, 1, 25));
        assertThat(written(books)).hasSizeLessThan(bytes);
    }

    @Test
    void ofTooManyGapsTheOldestStaysMissing() throws IOException {
        for (int i = 1; i <= Arrivals.MAX_GAPS + 1; i++) {
            books.onBatch(batch("consumed", 2 * i, 200L * i, 7));
            books.tell(tables);
        }
        books.onBatch(batch("consumed", 1, 100, 7));
        books.onBatch(batch("consumed", 3, 300, 7));

        assertThat(totals())
                .containsEntry("missing_batch", new Amount(Arrivals.MAX_GAPS + 1, 0, 100L * Arrivals.MAX_GAPS + 100))
                .containsEntry("repeated_batch", new Amount(1, 4, 100));
        assertThat(written(books)).hasSizeLessThan(100 * Arrivals.MAX_GAPS);
    }

    @Test
    void aBalanceThatIsToldTwiceAddsNoPackets() {
        LedgerEntry.Batch balance = new LedgerEntry.Batch(
                ORIGIN,
                "consumed",
                "probe-1",
                3,
                250,
                new Amount(1, 0, 0),
                MILLIS_PER_MINUTE,
                Map.of("packets_encoded", 250L));
        books.onBatch(batch(0, 0));
        books.onBatch(balance);
        books.onBatch(balance);

        assertThat(totals())
                .containsEntry("missing_batch", new Amount(2, 0, 150))
                .containsEntry("repeated_batch", new Amount(1, 0, 0));
    }

    @Test
    void aRepeatDoesNotSetCountersBack() {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(1, 100));
        books.onBatch(batch(0, 0));

        books.tell(tables);

        assertThat(tables.counters).containsExactly(Map.entry("frames_received", 220L));
        assertThat(books.minute()).isEqualTo(8);
    }

    /** Rows that were told before a failure are told again, or others over them, from what was kept before. */
    @Test
    void aRestartBringsTheTablesToTheSame() throws IOException {
        books.onBatch(batch(0, 0));
        books.onBatch(batch(4, 400));
        byte[] kept = written(books);
        books.onBatch(batch(9, 900));
        books.tell(tables);
        books.onBatch(batch("consumed", 6, 600, 16));
        books.tell(tables);

        books = serializer.deserialize(new DataInputDeserializer(kept));
        books.onBatch(batch(9, 900));
        books.onBatch(batch("consumed", 6, 600, 16));
        for (int sequence : new int[] {1, 2, 3, 5, 7, 8}) {
            books.onBatch(batch("consumed", sequence, 100L * sequence, 17));
        }

        assertThat(totals()).containsEntry("missing_batch", new Amount(0, 0, 0)).doesNotContainKey("repeated_batch");
        assertThat(ranges().keySet()).noneMatch(range -> range.contains("missing_batch"));
    }

    @Test
    void numbersWithoutMeaningBreakNothing() {
        for (long sequence : Set.of(Long.MAX_VALUE, 0L, 7L)) {
            for (long before : Set.of(Long.MAX_VALUE, Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE - 50)) {
                books.onBatch(batch("consumed", sequence, before, 7));
            }
        }

        assertThat(totals().get("missing_batch").packets()).isNotNegative();
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
    void theBytesOfVersion2AreRestored() throws IOException {
        byte[] golden = GoldenFile.bytes("state/v2/books.hex", LedgerStateTest::writtenFull);

        LedgerState state = serializer.deserialize(new DataInputDeserializer(golden));

        assertThat(state).usingRecursiveComparison().isEqualTo(full());
    }

    @Test
    void anUnknownVersionIsRefused() throws IOException {
        byte[] bytes = written(full());
        bytes[3] = 3;

        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(bytes)))
                .isInstanceOf(IOException.class)
                .hasMessage("ledger state has version 3, expected 2");
    }

    /** With something in every field. */
    private static LedgerState full() {
        LedgerState state = new LedgerState();
        state.onBatch(batch(0, 0));
        state.tell(new Tables());
        state.onBatch(batch(4, 450));
        state.add(fate(11, "contributed", 7, 170));
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
}
