// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.LedgerRows;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keeps the books of every origin in exactly-once state and tells the tables of them, at most once a second and once more
 * when the input ends. Rows carry totals, so telling twice, or late, does no harm.
 */
public final class Books extends KeyedProcessFunction<BatchOrigin, LedgerEntry, EncodedRow> {
    private static final long serialVersionUID = 1L;
    /** Of an origin that is silent for so long only the totals are kept, in some hundred bytes. */
    static final long RESTS_MILLIS = 7L * 24 * 60 * 60 * 1000;
    /** Then they are forgotten, as the table forgets them: the partition of a probe may have had no packet for months. */
    static final long FORGOTTEN_MILLIS = 400L * 24 * 60 * 60 * 1000;

    private static final long TELL_AFTER_MILLIS = 1000;
    /** Fires when the input ends, and never before. */
    private static final long AT_THE_END = Long.MAX_VALUE - 1;

    private transient ValueState<LedgerState> state;
    private transient LedgerRows rows;

    @Override
    public void open(OpenContext context) {
        state = getRuntimeContext().getState(new ValueStateDescriptor<>("books-v1", new LedgerState.Serializer()));
        rows = new LedgerRows();
    }

    @Override
    public void processElement(LedgerEntry entry, Context context, Collector<EncodedRow> out) throws Exception {
        LedgerState books = state.value();
        if (books == null) {
            books = new LedgerState();
            context.timerService().registerEventTimeTimer(AT_THE_END);
        }
        if (entry instanceof LedgerEntry.Batch batch) {
            onBatch(batch, books, context, out);
        } else if (entry instanceof LedgerEntry.Fate fate) {
            books.add(fate);
        }

        if (context.timerService().currentWatermark() == Long.MAX_VALUE) {
            tell(context.getCurrentKey(), books, out);
        } else {
            long now = context.timerService().currentProcessingTime();
            // The same instant for all entries of a second, so they share one timer.
            context.timerService().registerProcessingTimeTimer((now / TELL_AFTER_MILLIS + 1) * TELL_AFTER_MILLIS);
        }
        state.update(books);
    }

    private void onBatch(LedgerEntry.Batch batch, LedgerState books, Context context, Collector<EncodedRow> out) {
        if (books.mustTellBefore(batch)) {
            tell(context.getCurrentKey(), books, out);
        }
        if (books.touchedMillis() == 0) {
            context.timerService().registerEventTimeTimer(batch.appendedMillis() + RESTS_MILLIS);
        }
        books.onBatch(batch);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<EncodedRow> out) throws Exception {
        LedgerState books = state.value();
        if (books == null) {
            return;
        }
        tell(context.getCurrentKey(), books, out);
        // When the input has ended all timers fire, but the last fates are still on their way.
        boolean looksForSilence = context.timeDomain() == TimeDomain.EVENT_TIME
                && context.timerService().currentWatermark() != Long.MAX_VALUE;
        if (looksForSilence && timestamp >= books.touchedMillis() + FORGOTTEN_MILLIS) {
            context.timerService().deleteEventTimeTimer(AT_THE_END);
            state.clear();
            return;
        }
        if (looksForSilence) {
            context.timerService().registerEventTimeTimer(nextLook(timestamp, books));
        }
        state.update(books);
    }

    private static long nextLook(long nowMillis, LedgerState books) {
        if (nowMillis < books.touchedMillis() + RESTS_MILLIS) {
            return books.touchedMillis() + RESTS_MILLIS;
        }
        books.rest();
        return books.touchedMillis() + FORGOTTEN_MILLIS;
    }

    private void tell(BatchOrigin origin, LedgerState books, Collector<EncodedRow> out) {
        books.tell(new LedgerState.Told() {
            @Override
            public void total(String fate, Amount total, long version) {
                out.collect(rows.ledger(origin, fate, total, version));
            }

            @Override
            public void range(long minute, String fate, Span span, Amount amount, long version) {
                out.collect(rows.range(origin, minute, fate, span, amount, version));
            }

            @Override
            public void counter(String counter, long value) {
                out.collect(rows.counter(origin, books.probe(), counter, books.minute(), value));
            }
        });
    }
}
