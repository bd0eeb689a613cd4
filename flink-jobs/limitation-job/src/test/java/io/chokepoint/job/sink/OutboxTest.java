// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutboxTest {
    private static final long NEVER = TimeUnit.DAYS.toNanos(1);

    private final Counters counters = new Counters();

    private Outbox outbox(Inserter inserter, int maxRows, long maxBytes) {
        return new Outbox(inserter, new Outbox.Limits(maxRows, NEVER, NEVER, maxBytes), new DeliveryCounts(counters));
    }

    private static EncodedRow row(String text) {
        return new EncodedRow(Table.FLOWS, 7, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static EncodedRow awaited(String text) {
        return new EncodedRow(Table.LIMITATION_INTERVALS, 7, text.getBytes(StandardCharsets.US_ASCII), true);
    }

    private static EncodedRow interval(String text) {
        return new EncodedRow(Table.LIMITATION_INTERVALS, 7, text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void aFlushDeliversEverythingInOrder() throws Exception {
        Memory table = new Memory();
        try (Outbox outbox = outbox(table, 2, 1000).start()) {
            for (String text : List.of("a", "b", "c", "d", "e")) {
                outbox.add(row(text));
            }
            outbox.flush();

            assertThat(table.rows(Table.FLOWS)).containsExactly("a", "b", "c", "d", "e");
            assertThat(outbox.unsent()).isEmpty();
            assertThat(outbox.waitingBytes()).isZero();
        }
        assertThat(table.closed).isTrue();
        assertThat(counters.count("rows_inserted_flows")).isEqualTo(5);
    }

    @Test
    void aRowLeavesByItselfWhenItIsOldEnough() throws Exception {
        Memory table = new Memory();
        Outbox.Limits limits = new Outbox.Limits(1000, 1, 1, 1000);
        try (Outbox outbox = new Outbox(table, limits, new DeliveryCounts(counters)).start()) {
            outbox.add(row("a"));
            table.awaitInserts(1);

            assertThat(table.rows(Table.FLOWS)).containsExactly("a");
        }
    }

    @Test
    void rowsOfIntervalsLeaveFirstAndThoseOfATableInTheirOrder() throws Exception {
        Memory table = new Memory();
        table.open = new Semaphore(0);
        try (Outbox outbox = outbox(table, 1, 1000).start()) {
            outbox.add(row("under way"));
            table.entered.await();
            outbox.add(row("flow"));
            outbox.add(interval("a"));
            outbox.add(interval("b"));
            table.open.release(4);
            outbox.flush();
        }
        assertThat(table.order).containsExactly("under way", "a", "b", "flow");
    }

    @Test
    void aRowThatIsAwaitedHastensItsBlockAndNoOther() throws Exception {
        Memory table = new Memory();
        Outbox.Limits limits = new Outbox.Limits(1000, NEVER, 1, 1000);
        try (Outbox outbox = new Outbox(table, limits, new DeliveryCounts(counters)).start()) {
            outbox.add(row("flow"));
            outbox.add(interval("a"));
            outbox.add(awaited("b"));
            table.awaitInserts(1);

            assertThat(table.order).containsExactly("a", "b");
            outbox.flush();
        }
        assertThat(table.order).containsExactly("a", "b", "flow");
    }

    @Test
    void whatIsAwaitedIsSoBehindTheNetwork() throws Exception {
        var serializer = EncodedRow.type().createSerializer(new SerializerConfigImpl());
        for (EncodedRow row : List.of(row("a"), awaited("b"))) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            serializer.serialize(row, out);

            EncodedRow read = serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));

            assertThat(read.isAwaited()).isEqualTo(row.isAwaited());
            assertThat(read.table()).isEqualTo(row.table());
            assertThat(read.day()).isEqualTo(row.day());
            assertThat(read.bytes()).isEqualTo(row.bytes());
        }
    }

    /** No row comes any more that could tell: the next checkpoint does. */
    @Test
    void aCheckpointFailsOnceNothingWillBeDeliveredAnyMore() throws Exception {
        CountDownLatch died = new CountDownLatch(1);
        Inserter broken = new Memory() {
            @Override
            public void insert(Block block, int firstRow, int endRow) {
                died.countDown();
                throw new IllegalStateException("broken");
            }
        };
        ClickHouseWriter writer = new ClickHouseWriter(outbox(broken, 1, 1000).start());
        writer.flush(false);
        writer.write(row("a"), null);
        died.await();

        assertThatThrownBy(() -> {
                    while (true) {
                        writer.flush(false);
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessage("rows cannot be delivered");
        writer.close();
    }

    @Test
    void whatFailsIsTriedAgain() throws Exception {
        Memory table = new Memory();
        table.failures.set(2);
        try (Outbox outbox = outbox(table, 10, 1000).start()) {
            outbox.add(row("a"));
            outbox.add(row("b"));
            outbox.flush();

            assertThat(outbox.isStalled()).isFalse();
        }
        assertThat(table.rows(Table.FLOWS)).containsExactly("a", "b");
        assertThat(counters.count("insert_retries")).isEqualTo(2);
        assertThat(counters.count("rows_inserted_flows")).isEqualTo(2);
    }

    @Test
    void aPoisonRowIsIsolatedAndKeptWithItsReason() throws Exception {
        Memory table = new Memory();
        try (Outbox outbox = outbox(table, 100, 10_000).start()) {
            for (String text : List.of("a", "b", "poison", "c", "d", "e", "f")) {
                outbox.add(row(text));
            }
            outbox.flush();
        }

        assertThat(table.rows(Table.FLOWS)).containsExactly("a", "b", "c", "d", "e", "f");
        assertThat(table.rows(Table.REJECTED_ROWS))
                .singleElement()
                .asString()
                .contains("flows_stored", "no such cause", "706f69736f6e");
        assertThat(counters.count("rows_refused_flows")).isEqualTo(1);
        assertThat(counters.count("rows_inserted_flows")).isEqualTo(6);
        assertThat(counters.count("rows_inserted_rejected_rows")).isEqualTo(1);
    }

    @Test
    void aRejectedRowThatIsRefusedTooHoldsUpNothing() throws Exception {
        Memory table = new Memory();
        table.refusesRejected = true;
        try (Outbox outbox = outbox(table, 100, 10_000).start()) {
            outbox.add(row("poison"));
            outbox.add(row("a"));
            outbox.flush();
        }

        assertThat(table.rows(Table.FLOWS)).containsExactly("a");
        assertThat(counters.count("rows_refused_rejected_rows")).isEqualTo(1);
    }

    @Test
    void whoAddsWaitsWhileTooMuchWaits() throws Exception {
        Memory table = new Memory();
        table.open = new Semaphore(0);
        try (Outbox outbox = outbox(table, 1, 4).start()) {
            outbox.add(row("aa"));
            outbox.add(row("bb"));
            CompletableFuture<Void> third = new CompletableFuture<>();
            Thread adder = new Thread(() -> add(outbox, row("cc"), third));
            adder.start();
            while (adder.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThat(third).isNotDone();
            assertThat(outbox.waitingBytes()).isEqualTo(4);

            table.open.release(3);
            third.get(10, TimeUnit.SECONDS);
            outbox.flush();
        }
        assertThat(table.rows(Table.FLOWS)).containsExactly("aa", "bb", "cc");
    }

    private static void add(Outbox outbox, EncodedRow row, CompletableFuture<Void> done) {
        try {
            outbox.add(row);
            done.complete(null);
        } catch (IOException | InterruptedException e) {
            done.completeExceptionally(e);
        }
    }

    @Test
    void aRowLargerThanTheBoundPassesAlone() throws Exception {
        Memory table = new Memory();
        try (Outbox outbox = outbox(table, 10, 4).start()) {
            outbox.add(row("far too long"));
            outbox.add(row("a"));
            outbox.flush();
        }
        assertThat(table.rows(Table.FLOWS)).containsExactly("far too long", "a");
    }

    @Test
    void whileClickHouseIsAwayACheckpointKeepsWhatIsUnsent() throws Exception {
        Memory away = new Memory();
        away.failures.set(Integer.MAX_VALUE);
        List<UnsentRows> kept;
        ClickHouseWriter writer = new ClickHouseWriter(outbox(away, 2, 1000).start());
        try (writer) {
            for (String text : List.of("a", "b", "c")) {
                writer.write(row(text), null);
            }
            writer.flush(false);
            kept = writer.snapshotState(1);
        }
        assertThat(away.rows(Table.FLOWS)).isEmpty();

        Memory back = new Memory();
        UnsentRows.Serializer serializer = new UnsentRows.Serializer();
        Outbox outbox = outbox(back, 10, 1000);
        for (UnsentRows rows : kept) {
            outbox.restore(serializer
                    .deserialize(serializer.getVersion(), serializer.serialize(rows))
                    .block());
        }
        try (outbox) {
            outbox.start().flush();
        }
        assertThat(back.rows(Table.FLOWS)).containsExactly("a", "b", "c");
    }

    @Test
    void aCheckpointWaitsForNobodyAndHoldsWhatIsInDeliveryToo() throws Exception {
        Memory slow = new Memory();
        slow.open = new Semaphore(0);
        ClickHouseWriter writer = new ClickHouseWriter(outbox(slow, 2, 1000).start());
        try (writer) {
            for (String text : List.of("a", "b", "c")) {
                writer.write(row(text), null);
            }
            slow.entered.await();
            writer.flush(false);

            assertThat(writer.snapshotState(1))
                    .extracting(rows -> rows.block().rows())
                    .containsExactly(2, 1);
            assertThat(slow.rows(Table.FLOWS)).isEmpty();
        }
    }

    @Test
    void aBugOfTheCourierEndsWhoWaitsForIt() throws Exception {
        Inserter broken = new Memory() {
            @Override
            public void insert(Block block, int firstRow, int endRow) {
                throw new IllegalStateException("a bug");
            }
        };
        try (Outbox outbox = outbox(broken, 1, 1000).start()) {
            outbox.add(row("a"));

            assertThatThrownBy(() -> outbox.flush())
                    .isInstanceOf(IOException.class)
                    .hasRootCauseMessage("a bug");
        }
    }

    @Test
    void anOldReplayIsSplitByDay() {
        Block block = new Block(Table.FLOWS, 0);
        for (int i = 0; i < 12; i++) {
            block.add(new byte[] {(byte) i}, i % 4);
        }

        List<Block> parts = block.splitByDay(3);

        assertThat(parts).hasSize(2);
        assertThat(Arrays.copyOf(parts.get(0).bytes(), 9)).containsExactly(0, 4, 8, 1, 5, 9, 2, 6, 10);
        assertThat(Arrays.copyOf(parts.get(1).bytes(), 3)).containsExactly(3, 7, 11);
        assertThat(block.splitByDay(4)).containsExactly(block);
    }

    /** Tables that are lists; fails, refuses or blocks when told to. */
    private static class Memory implements Inserter {
        private final Map<Table, List<String>> tables = new HashMap<>();
        private final List<String> order = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger failures = new AtomicInteger();
        private final CountDownLatch entered = new CountDownLatch(1);
        private final Semaphore inserted = new Semaphore(0);
        private volatile Semaphore open = new Semaphore(Integer.MAX_VALUE);
        private volatile boolean refusesRejected;
        private volatile boolean closed;

        @Override
        public void insert(Block block, int firstRow, int endRow)
                throws IOException, RowsRefused, InterruptedException {
            entered.countDown();
            open.acquire();
            if (failures.get() > 0) {
                failures.decrementAndGet();
                throw new IOException("connection refused");
            }
            List<String> rows = new ArrayList<>();
            for (int row = firstRow; row < endRow; row++) {
                rows.add(new String(block.copyOfRow(row), StandardCharsets.ISO_8859_1));
            }
            boolean refused = block.table() == Table.REJECTED_ROWS && refusesRejected;
            if (refused || rows.contains("poison")) {
                throw new RowsRefused("no such cause", new IOException());
            }
            synchronized (this) {
                tables.computeIfAbsent(block.table(), table -> new ArrayList<>())
                        .addAll(rows);
            }
            order.addAll(rows);
            inserted.release();
        }

        void awaitInserts(int count) throws InterruptedException {
            inserted.acquire(count);
        }

        synchronized List<String> rows(Table table) {
            return List.copyOf(tables.getOrDefault(table, List.of()));
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /** Remembers counters by name. */
    private static final class Counters extends UnregisteredMetricsGroup {
        private final Map<String, Counter> byName = new HashMap<>();

        @Override
        public Counter counter(String name) {
            return byName.computeIfAbsent(name, super::counter);
        }

        long count(String name) {
            return byName.get(name).getCount();
        }
    }
}
