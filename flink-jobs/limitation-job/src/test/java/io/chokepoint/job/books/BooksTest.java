// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.LedgerRows;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BooksTest {
    private static final long MINUTE = 30_000_000;
    private static final long NOW = MINUTE * 60_000;
    private static final BatchOrigin ORIGIN = new BatchOrigin("leaf1", 1, 0, 3);
    private static final String MISSING_BATCH = HexFormat.of().formatHex("missing_batch".getBytes(UTF_8));
    private static final BatchOrigin OTHER = new BatchOrigin("spine1", 1, 0, 3);

    private static final Span FIRST = new Span(0, 1, 0, 100);
    private static final Span BOTH = new Span(0, 2, 0, 200);

    private final LedgerRows rows = new LedgerRows();
    private KeyedOneInputStreamOperatorTestHarness<BatchOrigin, LedgerEntry, EncodedRow> harness;

    @BeforeEach
    void open() throws Exception {
        harness = harness();
        harness.open();
    }

    private static KeyedOneInputStreamOperatorTestHarness<BatchOrigin, LedgerEntry, EncodedRow> harness()
            throws Exception {
        var harness = new KeyedOneInputStreamOperatorTestHarness<BatchOrigin, LedgerEntry, EncodedRow>(
                new KeyedProcessOperator<>(new Books()), LedgerEntry::origin, BatchOrigin.type());
        harness.setup(
                EncodedRow.type().createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    private static LedgerEntry.Batch batch(BatchOrigin origin, long sequence, long appendedMillis, long received) {
        Map<String, Long> counters = Map.of("frames_received", received);
        return new LedgerEntry.Batch(
                origin,
                "consumed",
                "probe-1",
                sequence,
                100 * sequence,
                new Amount(1, 4, 100),
                appendedMillis,
                counters);
    }

    private EncodedRow total(BatchOrigin origin, String fate, Amount amount) {
        return rows.ledger(origin, fate, amount, amount.sum());
    }

    private static LedgerEntry.Fate contributed(BatchOrigin origin, long runs, long packets) {
        return new LedgerEntry.Fate(origin, MINUTE, "contributed", new Amount(0, runs, packets));
    }

    @Test
    void totalsAreToldOnceASecond() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150), batch(ORIGIN, 1, NOW + 1, 260), contributed(ORIGIN, 8, 200));
        assertThat(told()).isEmpty();

        harness.setProcessingTime(1000);

        assertThat(told())
                .containsExactlyInAnyOrder(
                        hex(total(ORIGIN, "consumed", new Amount(2, 8, 200))),
                        hex(total(ORIGIN, "contributed", new Amount(0, 8, 200))),
                        hex(rows.range(ORIGIN, MINUTE, "consumed", BOTH, new Amount(2, 8, 200), 210)),
                        hex(rows.range(ORIGIN, MINUTE, "contributed", BOTH, new Amount(0, 8, 200), 418)),
                        hex(rows.counter(ORIGIN, "probe-1", "frames_received", MINUTE, 260)));
    }

    @Test
    void nothingIsToldWithoutAChange() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150));
        harness.setProcessingTime(1000);
        int before = told().size();

        harness.setProcessingTime(10_000);

        assertThat(told()).hasSize(before);
    }

    @Test
    void aCounterThatStandsStillIsNotToldAgain() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150));
        harness.setProcessingTime(1000);
        feed(batch(ORIGIN, 1, NOW, 150));
        harness.setProcessingTime(2000);

        assertThat(told())
                .containsExactly(
                        hex(total(ORIGIN, "consumed", new Amount(1, 4, 100))),
                        hex(rows.range(ORIGIN, MINUTE, "consumed", FIRST, new Amount(1, 4, 100), 105)),
                        hex(rows.counter(ORIGIN, "probe-1", "frames_received", MINUTE, 150)),
                        hex(total(ORIGIN, "consumed", new Amount(2, 8, 200))),
                        hex(rows.range(ORIGIN, MINUTE, "consumed", BOTH, new Amount(2, 8, 200), 210)));
    }

    @Test
    void aMinuteIsToldWithItsLastCounters() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150), batch(ORIGIN, 1, NOW + 59_999, 260), batch(ORIGIN, 2, NOW + 60_000, 370));

        assertThat(told()).contains(hex(rows.counter(ORIGIN, "probe-1", "frames_received", MINUTE, 260)));

        harness.setProcessingTime(1000);

        assertThat(told()).contains(hex(rows.counter(ORIGIN, "probe-1", "frames_received", MINUTE + 1, 370)));
    }

    @Test
    void theEndOfTheInputTellsEverything() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150), batch(OTHER, 0, NOW, 7));
        harness.processWatermark(Long.MAX_VALUE);
        feed(contributed(ORIGIN, 4, 100));

        assertThat(told())
                .contains(
                        hex(total(ORIGIN, "consumed", new Amount(1, 4, 100))),
                        hex(total(OTHER, "consumed", new Amount(1, 4, 100))),
                        hex(total(ORIGIN, "contributed", new Amount(0, 4, 100))));
    }

    @Test
    void fatesBehindTheEndOfTheInputAddToTheTotals() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150), contributed(ORIGIN, 3, 80));
        harness.processWatermark(Long.MAX_VALUE);
        feed(contributed(ORIGIN, 1, 20));

        assertThat(told()).contains(hex(total(ORIGIN, "contributed", new Amount(0, 4, 100))));
    }

    @Test
    void aSilentOriginRestsAndIsForgottenAsTheTablesForgetIt() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150));
        harness.processWatermark(NOW + 1);
        feed(batch(ORIGIN, 1, NOW + 60_000, 150));
        harness.setProcessingTime(1000);

        harness.processWatermark(NOW + Books.RESTS_MILLIS);
        harness.processWatermark(NOW + 60_000 + Books.RESTS_MILLIS);
        assertThat(harness.numKeyedStateEntries()).isEqualTo(1);
        assertThat(harness.numEventTimeTimers()).as("this and that of the end").isEqualTo(2);
        harness.processWatermark(NOW + 60_000 + Books.FORGOTTEN_MILLIS);

        assertThat(harness.numKeyedStateEntries()).as("states").isZero();
        assertThat(harness.numEventTimeTimers()).as("timers").isZero();
        assertThat(harness.numProcessingTimeTimers()).as("processing timers").isZero();
    }

    /** The partition of a probe may have had no packet for weeks. */
    @Test
    void anOriginThatRestedGoesOnWhereItWas() throws Exception {
        long later = NOW + 3 * Books.RESTS_MILLIS;
        feed(batch(ORIGIN, 0, NOW, 150));
        harness.setProcessingTime(1000);
        harness.processWatermark(later);

        feed(batch(ORIGIN, 1, later, 260), batch(ORIGIN, 3, later + 1, 400));
        harness.setProcessingTime(2000);
        harness.processWatermark(later + Books.RESTS_MILLIS);

        assertThat(told())
                .contains(
                        hex(total(ORIGIN, "consumed", new Amount(3, 12, 300))),
                        hex(rows.ledger(ORIGIN, "missing_batch", new Amount(1, 0, 100), 3)));
        assertThat(harness.numEventTimeTimers()).as("timers").isEqualTo(2);
    }

    @Test
    void theBooksGoOnAfterARestart() throws Exception {
        feed(batch(ORIGIN, 0, NOW, 150));
        OperatorSubtaskState kept = harness.snapshot(1, NOW);
        harness.close();
        harness = harness();
        harness.initializeState(kept);
        harness.open();

        feed(batch(ORIGIN, 1, NOW, 260));
        harness.setProcessingTime(1000);

        assertThat(told()).contains(hex(total(ORIGIN, "consumed", new Amount(2, 8, 200))));
        assertThat(told()).noneMatch(row -> row.contains(MISSING_BATCH));
    }

    private void feed(LedgerEntry... entries) throws Exception {
        for (LedgerEntry entry : entries) {
            harness.processElement(entry, NOW);
        }
    }

    private List<String> told() {
        return harness.extractOutputValues().stream().map(BooksTest::hex).toList();
    }

    private static String hex(EncodedRow row) {
        return row.table() + " " + HexFormat.of().formatHex(row.bytes());
    }
}
