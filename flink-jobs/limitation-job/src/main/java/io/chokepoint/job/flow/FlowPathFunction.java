// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.FlowPath;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.PathRowEncoder;
import java.util.Locale;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Gives every flow its {@link FlowPath}. No tap waits for another: each observation that finds others of its interval gives
 * the row anew.
 *
 * <p>Observations are kept by the time of the log: until its watermark, which is where the last of the readers is, has passed
 * them by two minutes. So readers of the taps may be as far apart as they like, as after an outage, and what is kept is bounded
 * when they are together again. State exists if and only if exactly one timer does, and goes when nothing is kept.
 */
public final class FlowPathFunction extends KeyedProcessFunction<FlowKey, PathObservation, EncodedRow> {
    private static final long serialVersionUID = 1L;
    private static final FlowPath.Fate[] FATES = FlowPath.Fate.values();

    /** Taps may append what they tell of one instant so far apart, in the time of the log. */
    static final long KEPT_MILLIS = 120_000;

    private final Tenants tenants;
    private transient ValueState<PathState> state;
    private transient PathRowEncoder encoder;
    private transient Counter[] fates;
    private transient Counter released;
    private transient Counter flowsReleased;

    /** {@code tenants} says whose the ends of the rows are. */
    public FlowPathFunction(Tenants tenants) {
        this.tenants = tenants;
    }

    @Override
    public void open(OpenContext context) {
        state = getRuntimeContext().getState(new ValueStateDescriptor<>("flow-path-v1", new PathState.Serializer()));
        encoder = new PathRowEncoder();
        fates = new Counter[FATES.length];
        for (FlowPath.Fate fate : FATES) {
            fates[fate.ordinal()] = getRuntimeContext()
                    .getMetricGroup()
                    .counter("observations_" + fate.name().toLowerCase(Locale.ROOT));
        }
        released = getRuntimeContext().getMetricGroup().counter("observations_released");
        flowsReleased = getRuntimeContext().getMetricGroup().counter("flows_released");
    }

    @Override
    public void processElement(PathObservation observation, Context context, Collector<EncodedRow> out)
            throws Exception {
        PathState kept = state.value();
        if (kept == null) {
            kept = PathState.of(observation.key(), arrivalMillis(context) + KEPT_MILLIS);
            context.timerService().registerEventTimeTimer(kept.timerMillis());
        }
        FlowPath path = kept.path(observation.key());
        FlowPath.Fate fate =
                path.add(observation, arrivalMillis(context), tenants, row -> out.collect(encoder.encode(row)));
        fates[fate.ordinal()].inc();
        released.inc(path.forget(Math.max(0, context.timerService().currentWatermark()) - KEPT_MILLIS));
        kept.touch(arrivalMillis(context));
        state.update(kept);
    }

    /** As for flows: what comes late is not forgotten as soon as it has come. */
    private static long arrivalMillis(Context context) {
        return Math.max(context.timestamp(), context.timerService().currentWatermark());
    }

    /** The timer of a flow that goes on moves ahead. */
    @Override
    public void onTimer(long timerMillis, OnTimerContext context, Collector<EncodedRow> out) throws Exception {
        PathState kept = requireNonNull(state.value(), "a timer outlived its flow");
        long idleAtMillis = kept.touchedMillis() + KEPT_MILLIS;
        if (timerMillis < idleAtMillis && context.timerService().currentWatermark() < idleAtMillis) {
            kept.moveTimer(idleAtMillis);
            context.timerService().registerEventTimeTimer(idleAtMillis);
            state.update(kept);
            return;
        }
        released.inc(kept.path(requireNonNull(context.getCurrentKey(), "a timer without a key"))
                .size());
        flowsReleased.inc();
        state.clear();
    }
}
