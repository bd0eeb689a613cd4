// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.job.sink.EncodedRow;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.SimpleTimerService;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Runs {@link FlowAnalysisFunction}. Before every checkpoint it has the flows saved, and tells the ledger: what was counted
 * belongs to the same checkpoint as the runs it was counted for.
 */
public final class FlowAnalysisOperator extends KeyedProcessOperator<FlowAtTap, TapRun, EncodedRow> {
    private static final long serialVersionUID = 1L;

    public FlowAnalysisOperator(FlowAnalysisFunction function) {
        super(function);
    }

    @Override
    public void processElement(StreamRecord<TapRun> run) throws Exception {
        super.processElement(run);
        function().saveSurplusFlows(this::save);
    }

    /** Not in {@code snapshotState}: some backends have written the timers by then. */
    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        function().saveFlows(this::save);
        tellLedger();
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        function().saveIdleFlows(mark.getTimestamp(), this::save);
        super.processWatermark(mark);
    }

    @Override
    public void finish() throws Exception {
        tellLedger();
        super.finish();
    }

    private void tellLedger() {
        function().drainFates(entry -> output.collect(FlowAnalysisFunction.LEDGER, new StreamRecord<>(entry)));
    }

    private void save(FlowAtTap key, LiveFlows.Flow flow) throws Exception {
        setCurrentKey(key);
        // Those of the function: services of an operator are told apart by name.
        function()
                .save(
                        flow,
                        new SimpleTimerService(
                                getInternalTimerService("user-timers", VoidNamespaceSerializer.INSTANCE, this)));
    }

    private FlowAnalysisFunction function() {
        return (FlowAnalysisFunction) userFunction;
    }
}
