// SPDX-License-Identifier: Apache-2.0
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Counts for ever, in keyed state: something to submit, checkpoint, kill and cancel. */
public final class CountingJob {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment
                .fromSource(
                        new DataGeneratorSource<>(
                                number -> number, Long.MAX_VALUE, RateLimiterStrategy.perSecond(100), Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers",
                        Types.LONG)
                .keyBy(number -> number % 10, Types.LONG)
                .process(new Count())
                .sinkTo(new DiscardingSink<>());
        environment.execute("counting " + args[0]);
    }

    static final class Count extends KeyedProcessFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<Long> count;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
            Long before = count.value();
            long now = before == null ? 1 : before + 1;
            count.update(now);
            out.collect(now);
        }
    }
}
