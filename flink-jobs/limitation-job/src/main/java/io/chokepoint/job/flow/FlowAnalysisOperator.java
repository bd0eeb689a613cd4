// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.job.sink.EncodedRow;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Runs {@link FlowAnalysisFunction} and tells the ledger before every checkpoint: what was counted belongs to the same
 * checkpoint as the runs it was counted for.
 */
public final class FlowAnalysisOperator extends KeyedProcessOperator<FlowAtTap, TapRun, EncodedRow> {
    private static final long serialVersionUID = 1L;

    public FlowAnalysisOperator(FlowAnalysisFunction function) {
        super(function);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        tellLedger();
    }

    @Override
    public void finish() throws Exception {
        tellLedger();
        super.finish();
    }

    private void tellLedger() {
        FlowAnalysisFunction function = (FlowAnalysisFunction) userFunction;
        function.drainFates(entry -> output.collect(FlowAnalysisFunction.LEDGER, new StreamRecord<>(entry)));
    }
}
