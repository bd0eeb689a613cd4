// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.group.GroupWindow;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.GroupRows;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Gathers the observations of a window of a tap and has them judged. Decides nothing about queues.
 *
 * <p>A window is judged when nothing came for it for some seconds, so a tap that falls silent holds up nobody, not even
 * itself; and again when more came, so the last judgement is of all. {@link GroupWindow} says what
 * is told, the clock of the machine only when; when to forget says the time of the log, as for flows.
 */
public final class GroupFunction extends KeyedProcessFunction<TapWindow, TapObservation, EncodedRow> {
    private static final long serialVersionUID = 1L;
    private static final long QUIET_MILLIS = 3_000;
    /** Partitions of one tap may be read so far apart, in the time of the log. */
    static final long KEPT_MILLIS = 120_000;

    private final int generation;
    private transient ListState<Observation> observations;
    private transient ValueState<WindowBooks> state;
    private transient GroupRows rows;
    private transient Counter observed;
    private transient Counter repeated;
    private transient Counter evicted;

    /** {@code generation}: the version of the analysis. */
    public GroupFunction(int generation) {
        this.generation = generation;
    }

    @Override
    public void open(OpenContext context) {
        observations = getRuntimeContext()
                .getListState(new ListStateDescriptor<>("observations-v1", new ObservationSerializer()));
        state = getRuntimeContext().getState(new ValueStateDescriptor<>("window-v1", new WindowBooks.Serializer()));
        rows = new GroupRows();
        observed = getRuntimeContext().getMetricGroup().counter("observations");
        repeated = getRuntimeContext().getMetricGroup().counter("observations_repeated");
        evicted = getRuntimeContext().getMetricGroup().counter("observations_evicted");
    }

    @Override
    public void processElement(TapObservation element, Context context, Collector<EncodedRow> out) throws Exception {
        WindowBooks books = state.value();
        long now = context.timerService().currentProcessingTime();
        // As for flows: what comes late is not forgotten as soon as it has come.
        long cleanMillis = Math.max(context.timestamp(), context.timerService().currentWatermark()) + KEPT_MILLIS;
        if (books == null) {
            books = new WindowBooks(GroupWindow.EMPTY, 0, cleanMillis);
            context.timerService().registerEventTimeTimer(books.cleanMillis());
        }
        if (!books.window().isWaiting()) { // nothing waits to be told, so no timer does
            context.timerService().registerProcessingTimeTimer(now + QUIET_MILLIS);
        }
        observations.add(element.observation());
        observed.inc();
        books = books.withOneMore(now + QUIET_MILLIS, Math.max(books.cleanMillis(), cleanMillis));
        state.update(books.window().isFull() ? books.with(thin(books.window()).window()) : books);
    }

    private GroupWindow.Thinned thin(GroupWindow window) throws Exception {
        GroupWindow.Thinned thinned = window.thin(observations.get());
        repeated.inc(thinned.repeated());
        evicted.inc(thinned.evicted());
        if (thinned.repeated() + thinned.evicted() > 0) {
            observations.update(thinned.kept());
        }
        return thinned;
    }

    /** Judges a window that has become quiet; forgets one of which the log brings nothing more. */
    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<EncodedRow> out) throws Exception {
        WindowBooks books = state.value();
        if (books == null) {
            return; // judged and forgotten before its quiet was over
        }
        TapWindow window = requireNonNull(context.getCurrentKey(), "a timer without a key");
        if (context.timeDomain() == TimeDomain.PROCESSING_TIME) {
            if (timestamp < books.tellMillis()) {
                context.timerService().registerProcessingTimeTimer(books.tellMillis());
            } else {
                tell(window, books, out);
            }
            return;
        }
        if (timestamp < books.cleanMillis()) {
            context.timerService().registerEventTimeTimer(books.cleanMillis());
            return;
        }
        tell(window, books, out);
        observations.clear();
        state.clear();
    }

    private void tell(TapWindow key, WindowBooks books, Collector<EncodedRow> out) throws Exception {
        if (!books.window().isWaiting()) {
            return;
        }
        GroupWindow.Thinned thinned = thin(books.window());
        GroupWindow.Told told = thinned.window().tell(key.tap(), key.startNanos(), generation, thinned.kept());
        told.groups().forEach(group -> out.collect(rows.encode(group)));
        state.update(books.with(told.window()));
    }
}
