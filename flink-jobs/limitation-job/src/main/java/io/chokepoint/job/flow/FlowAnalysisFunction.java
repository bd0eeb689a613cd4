// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.TapFlow;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.group.TapObservation;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.RowEncoder;
import io.chokepoint.job.source.RejectedRecord;
import io.chokepoint.job.source.Rejection;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Keeps the {@link TapFlow} of every flow at every tap for as long as the flow lives. Decides nothing about TCP.
 *
 * <p>Flows live in {@link LiveFlows}; keyed state is what checkpoints need of them, and where those go that had no run for
 * long. State exists if and only if exactly one timer does. Both go with the flow's end mark; the timer is for flows whose end
 * never comes, and it alone looks at the time of the log.
 */
public final class FlowAnalysisFunction extends KeyedProcessFunction<FlowAtTap, TapRun, EncodedRow> {
    /** What the ledger is told. */
    public static final OutputTag<LedgerEntry> LEDGER = new OutputTag<>("ledger", LedgerEntry.type());
    /** Runs that cannot be decoded. */
    public static final OutputTag<RejectedRecord> REJECTED = new OutputTag<>("rejected", RejectedRecord.type());

    /** What the groups are made of. */
    public static final OutputTag<TapObservation> OBSERVATIONS = new OutputTag<>("observations", TapObservation.type());
    /** What the tap tells of the paths of its flows. */
    public static final OutputTag<PathObservation> PATH_OBSERVATIONS =
            new OutputTag<>("path-observations", PathObservations.type());

    private static final long serialVersionUID = 1L;
    private static final int SCRATCH_BYTES = 1024;

    private final long intervalNanos;
    private final Layer layer;
    private final int version;
    private final Tenants tenants;
    private final long idleMillis;
    private final String topic;
    private final long liveBytes;
    private transient AnalysisSettings settings;
    private transient ValueState<FlowState> state;
    private transient DataOutputSerializer scratch;
    private transient LiveFlows live;
    private transient FateCounts fates;
    private transient RunFolder folder;
    private transient RowEncoder encoder;

    /**
     * Flows of which the log of {@code topic} brings nothing for {@code idle} are ended.
     *
     * @param liveBytes about how much of the heap each slot's live flows may take
     */
    public FlowAnalysisFunction(AnalysisSettings settings, Duration idle, String topic, long liveBytes) {
        this.intervalNanos = settings.intervalNanos();
        this.layer = settings.layer();
        this.version = settings.version();
        this.tenants = settings.tenants();
        this.idleMillis = idle.toMillis();
        this.topic = topic;
        this.liveBytes = liveBytes;
    }

    @Override
    public void open(OpenContext context) {
        settings = new AnalysisSettings(intervalNanos, layer, version, tenants);
        state = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("flow-analysis-v1", new FlowStateSerializer(settings)));
        live = new LiveFlows(liveBytes);
        scratch = new DataOutputSerializer(SCRATCH_BYTES);
        fates = new FateCounts(getRuntimeContext().getMetricGroup());
        folder = new RunFolder(settings);
        encoder = new RowEncoder();
    }

    @Override
    public void processElement(TapRun element, Context context, Collector<EncodedRow> out) throws Exception {
        fates.at(context.timestamp());
        DecodeStatus status = folder.read(element.bytes(), element.from(), element.length());
        if (status != DecodeStatus.OK) {
            fates.malformed(element);
            context.output(REJECTED, RejectedRecord.ofRun(element, Rejection.of(status), topic));
            return;
        }

        LiveFlows.Flow known = live.get(element.key());
        LiveFlows.Flow flow = known == null ? stored(element.key()) : known;
        TapFlow content = flow.content();
        RunFate fate = folder.fold(
                content, element.origin().session(), element.timestampResolutionNs(), rowsInto(context, out));
        fates.folded(element, fate, content.repeatedPackets());
        if (content.isFinished()) {
            forget(flow, context);
        } else {
            live.touch(flow, arrivalMillis(context));
        }
    }

    /**
     * Time of the log, or of those who are ahead in it: a partition that comes back late, as after an outage of its broker,
     * must not have its flows ended as soon as they come, and anew at each watermark.
     */
    private static long arrivalMillis(Context context) {
        return Math.max(context.timestamp(), context.timerService().currentWatermark());
    }

    /** As the keyed state knows it, or new. */
    private LiveFlows.Flow stored(FlowAtTap key) throws Exception {
        FlowState stored = state.value();
        return stored == null
                ? LiveFlows.Flow.ofNew(key)
                : LiveFlows.Flow.ofStored(key, stored.flow(settings, key.tap()), stored);
    }

    private void forget(LiveFlows.Flow flow, Context context) {
        live.remove(flow);
        if (flow.isStored()) {
            context.timerService().deleteEventTimeTimer(flow.timerMillis());
            state.clear();
        }
    }

    private RowSink rowsInto(Context context, Collector<EncodedRow> out) {
        return new RowSink() {
            @Override
            public void accept(Row row) {
                out.collect(encoder.encode(row));
                PathObservation observation = PathObservation.of(row, intervalNanos);
                if (observation != null) {
                    context.output(PATH_OBSERVATIONS, observation);
                }
            }

            @Override
            public void acceptMinute(MinuteRow row) {
                out.collect(encoder.encode(row));
            }

            @Override
            public void observe(Observation observation) {
                context.output(
                        OBSERVATIONS, new TapObservation(context.getCurrentKey().tap(), observation));
            }
        };
    }

    /** The timer of a flow that goes on moves ahead; the flow whose end never came is ended. */
    @Override
    public void onTimer(long timerMillis, OnTimerContext context, Collector<EncodedRow> out) throws Exception {
        FlowAtTap key = context.getCurrentKey();
        FlowState stored = requireNonNull(state.value(), "a timer outlived its flow");
        LiveFlows.Flow flow = live.get(key);
        long idleAtMillis = (flow == null ? stored.touchedMillis() : flow.touchedMillis()) + idleMillis;
        if (timerMillis < idleAtMillis && context.timerService().currentWatermark() < idleAtMillis) {
            context.timerService().registerEventTimeTimer(idleAtMillis);
            state.update(stored.withTimer(idleAtMillis));
            if (flow != null) {
                flow.moveTimer(idleAtMillis);
            }
            return;
        }
        folder.finish(flow == null ? stored.flow(settings, key.tap()) : flow.content(), rowsInto(context, out));
        if (flow != null) {
            live.remove(flow);
        }
        state.clear();
    }

    /** Version of the rows. */
    public int version() {
        return version;
    }

    /** The keyed state gets all that a checkpoint needs. */
    void saveFlows(LiveFlows.Store store) throws Exception {
        live.saveAll(store);
    }

    /** From now on, timers look after each flow that is idle at {@code watermarkMillis}. */
    void saveIdleFlows(long watermarkMillis, LiveFlows.Store store) throws Exception {
        live.saveUntimedSince(watermarkMillis - idleMillis, store);
    }

    /** The keyed state gets what there is no more room for. */
    void saveSurplusFlows(LiveFlows.Store store) throws Exception {
        live.saveSurplus(store);
    }

    /** Puts a flow, whose key is the current one, into the keyed state. */
    void save(LiveFlows.Flow flow, TimerService timers) throws Exception {
        if (!flow.isStored()) {
            flow.moveTimer(flow.touchedMillis() + idleMillis);
            timers.registerEventTimeTimer(flow.timerMillis());
        }
        state.update(FlowState.of(flow.content(), flow.touchedMillis(), flow.timerMillis(), scratch));
        flow.saved();
    }

    /** Tells the ledger what was counted since the last time. */
    void drainFates(Consumer<LedgerEntry> ledger) {
        fates.drain(ledger);
    }
}
