// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.FlowPath;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.PathRowEncoder;
import java.time.Duration;
import java.util.Locale;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Gives every flow its {@link FlowPath}. No tap waits for another: each observation that finds others of its interval gives
 * the row anew. State exists if and only if exactly one timer does.
 */
public final class FlowPathFunction extends KeyedProcessFunction<FlowKey, PathObservation, EncodedRow> {
    private static final long serialVersionUID = 1L;
    private static final FlowPath.Fate[] FATES = FlowPath.Fate.values();

    private final long idleMillis;
    private transient ValueState<PathState> state;
    private transient PathRowEncoder encoder;
    private transient Counter[] fates;

    /** Flows of which the log brings nothing for {@code idle} are forgotten. */
    public FlowPathFunction(Duration idle) {
        this.idleMillis = idle.toMillis();
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
    }

    @Override
    public void processElement(PathObservation observation, Context context, Collector<EncodedRow> out)
            throws Exception {
        PathState kept = state.value();
        if (kept == null) {
            kept = PathState.of(observation.key(), arrivalMillis(context) + idleMillis);
            context.timerService().registerEventTimeTimer(kept.timerMillis());
        }
        FlowPath.Fate fate = kept.path(observation.key()).add(observation, row -> out.collect(encoder.encode(row)));
        fates[fate.ordinal()].inc();
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
        long idleAtMillis = kept.touchedMillis() + idleMillis;
        if (timerMillis < idleAtMillis && context.timerService().currentWatermark() < idleAtMillis) {
            kept.moveTimer(idleAtMillis);
            context.timerService().registerEventTimeTimer(idleAtMillis);
            state.update(kept);
            return;
        }
        state.clear();
    }
}
