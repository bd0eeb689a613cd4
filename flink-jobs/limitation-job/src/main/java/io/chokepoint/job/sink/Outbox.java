// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows that wait for ClickHouse. One thread adds, one thread of its own delivers.
 *
 * <p>Every row that was added is delivered, or refused for good and then delivered to {@link Table#REJECTED_ROWS} with the
 * reason, or is in {@link #unsent}. What fails for another reason is tried again without end, at growing distances. At
 * most {@code maxBytes} wait; who adds more waits too.
 */
final class Outbox implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    /** ClickHouse refuses a block of more daily partitions than this by default. */
    private static final int MAX_DAYS_PER_INSERT = 100;

    private static final long FIRST_RETRY_MILLIS = 100;
    private static final long LAST_RETRY_MILLIS = 30_000;
    private static final long CLOSE_PATIENCE_MILLIS = 2_000;

    private final Inserter inserter;
    private final Limits limits;
    private final DeliveryCounts counts;
    private final Thread courier;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition workCame = lock.newCondition();
    private final Condition workDone = lock.newCondition();
    private final Map<Table, Block> open = new EnumMap<>(Table.class);
    private final Deque<Block> sealed = new ArrayDeque<>();
    private @Nullable Block inDelivery;
    private long waitingBytes;
    private boolean stalled;
    private boolean closed;
    private @Nullable Throwable failure;

    /**
     * When a block is sent, and how much may wait.
     *
     * @param maxRows of a block
     * @param maxDelayNanos from the first row of a block until it is sent
     * @param awaitedDelayNanos the same if a row of it is awaited
     * @param maxBytes of all blocks together
     */
    record Limits(int maxRows, long maxDelayNanos, long awaitedDelayNanos, long maxBytes) {
        long delayNanos(Block block) {
            return block.isAwaited() ? awaitedDelayNanos : maxDelayNanos;
        }

        /** A block is sent early enough for the next one to be filled meanwhile. */
        long maxBlockBytes() {
            return maxBytes / 2;
        }
    }

    Outbox(Inserter inserter, Limits limits, DeliveryCounts counts) {
        this.inserter = inserter;
        this.limits = limits;
        this.counts = counts;
        this.courier = new Thread(this::deliverAll, "clickhouse-courier");
        this.courier.setDaemon(true);
    }

    /** Starts delivering. */
    Outbox start() {
        courier.start();
        return this;
    }

    /** Adds a row; waits while too much waits already. */
    void add(EncodedRow row) throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (waitingBytes > 0 && waitingBytes + row.bytes().length > limits.maxBytes()) {
                throwFailure();
                sealAll();
                workDone.await();
            }
            throwFailure();
            Block block = open.get(row.table());
            if (block == null) {
                block = new Block(row.table(), System.nanoTime());
                open.put(row.table(), block);
                workCame.signal(); // it now has a deadline
            }
            if (row.isAwaited() && !block.isAwaited()) {
                block.setAwaited();
                workCame.signal(); // which is an earlier one
            }
            block.add(row.bytes(), row.day());
            waitingBytes += row.bytes().length;
            if (block.rows() >= limits.maxRows() || block.byteCount() >= limits.maxBlockBytes()) {
                seal(block);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Adds a block that a checkpoint has kept, however much waits. */
    void restore(Block block) {
        lock.lock();
        try {
            sealed.add(block);
            waitingBytes += block.byteCount();
            workCame.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Sends everything; returns when ClickHouse has it. */
    void flush() throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            sealAll();
            while (waitingBytes > 0) {
                throwFailure();
                workDone.await();
            }
            throwFailure();
        } finally {
            lock.unlock();
        }
    }

    /** Throws if nothing will be delivered any more. */
    void throwIfFailed() throws IOException {
        lock.lock();
        try {
            throwFailure();
        } finally {
            lock.unlock();
        }
    }

    /** What ClickHouse has not confirmed; it may have some of it nevertheless. */
    List<Block> unsent() {
        lock.lock();
        try {
            List<Block> blocks = new ArrayList<>();
            if (inDelivery != null) {
                blocks.add(inDelivery);
            }
            blocks.addAll(sealed);
            blocks.addAll(open.values());
            return blocks;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that wait. */
    long waitingBytes() {
        lock.lock();
        try {
            return waitingBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Whether ClickHouse is away. */
    boolean isStalled() {
        lock.lock();
        try {
            return stalled;
        } finally {
            lock.unlock();
        }
    }

    private void sealAll() {
        for (Block block : List.copyOf(open.values())) {
            seal(block);
        }
    }

    private void seal(Block block) {
        open.remove(block.table());
        sealed.add(block);
        workCame.signal();
    }

    private void throwFailure() throws IOException {
        if (failure != null) {
            throw new IOException("rows cannot be delivered", failure);
        }
    }

    private void deliverAll() {
        try {
            for (Block block = next(); block != null; block = next()) {
                for (Block part : block.splitByDay(MAX_DAYS_PER_INSERT)) {
                    deliver(part, 0, part.rows());
                }
                done(block);
            }
        } catch (InterruptedException e) {
            // closed
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** The next block that is sealed or old enough; null when closed. */
    private @Nullable Block next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed) {
                long now = System.nanoTime();
                long patienceNanos = Long.MAX_VALUE;
                for (Block block : List.copyOf(open.values())) {
                    long leftNanos = limits.delayNanos(block) - (now - block.openedNanos());
                    patienceNanos = Math.min(patienceNanos, leftNanos);
                    if (leftNanos <= 0) {
                        seal(block);
                    }
                }
                inDelivery = first(sealed);
                if (inDelivery != null) {
                    sealed.remove(inDelivery);
                    return inDelivery;
                }
                workCame.awaitNanos(patienceNanos);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Of interval rows, if there are any: blocks of one table are delivered in their order, tables have none. */
    private static @Nullable Block first(Deque<Block> blocks) {
        for (Block block : blocks) {
            if (block.table() == Table.LIMITATION_INTERVALS) {
                return block;
            }
        }
        return blocks.peek();
    }

    private void done(Block block) {
        lock.lock();
        try {
            inDelivery = null;
            waitingBytes -= block.byteCount();
            workDone.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void fail(Throwable cause) {
        lock.lock();
        try {
            failure = cause;
            workDone.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void deliver(Block block, int firstRow, int endRow) throws InterruptedException {
        for (long pauseMillis = FIRST_RETRY_MILLIS; ; pauseMillis = Math.min(2 * pauseMillis, LAST_RETRY_MILLIS)) {
            try {
                inserter.insert(block, firstRow, endRow);
                setStalled(false);
                counts.inserted(block.table(), endRow - firstRow);
                return;
            } catch (RowsRefused e) {
                setStalled(false);
                divide(block, firstRow, endRow, e);
                return;
            } catch (IOException e) {
                LOG.warn(
                        "insert failed, will be tried again table={} rows={} pause_ms={} reason={}",
                        block.table().tableName(),
                        endRow - firstRow,
                        pauseMillis,
                        e.getMessage());
                counts.retried();
                setStalled(true);
                pause(pauseMillis);
            }
        }
    }

    /** Finds the rows that are wrong by halves; the others go through. */
    private void divide(Block block, int firstRow, int endRow, RowsRefused refusal) throws InterruptedException {
        if (endRow - firstRow > 1) {
            int middle = (firstRow + endRow) >>> 1;
            deliver(block, firstRow, middle);
            deliver(block, middle, endRow);
            return;
        }
        counts.refused(block.table());
        LOG.error("row refused table={} reason={}", block.table().tableName(), refusal.getMessage());
        if (block.table() != Table.REJECTED_ROWS) {
            String row = HexFormat.of().formatHex(block.copyOfRow(firstRow));
            EncodedRow rejected = RowEncoder.rejected(block.table(), String.valueOf(refusal.getMessage()), row);
            Block single = new Block(Table.REJECTED_ROWS, 0);
            single.add(rejected.bytes(), rejected.day());
            deliver(single, 0, 1);
        }
    }

    private void setStalled(boolean now) {
        lock.lock();
        try {
            stalled = now;
        } finally {
            lock.unlock();
        }
    }

    private void pause(long millis) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(millis);
            while (leftNanos > 0 && !closed) {
                leftNanos = workCame.awaitNanos(leftNanos);
            }
            if (closed) {
                throw new InterruptedException();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            workCame.signalAll();
        } finally {
            lock.unlock();
        }
        courier.interrupt();
        try {
            courier.join(CLOSE_PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        inserter.close();
    }
}
