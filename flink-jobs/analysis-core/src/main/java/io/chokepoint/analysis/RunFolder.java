// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.row.RowSink;

/** Decodes runs and folds them into their flows. Reusable for any number of flows, not thread-safe. */
public final class RunFolder {
    private final AnalysisSettings settings;
    private final RunReader reader = new RunReader();
    private final Run run = new Run();
    private final Run earlier = new Run();
    private byte[] bytes = {};
    private int from;
    private int placeEnd;
    private int end;

    public RunFolder(AnalysisSettings settings) {
        this.settings = settings;
    }

    /** Decodes a run; unless it is refused, it can be folded in as long as its bytes stay as they are. */
    public DecodeStatus read(byte[] runBytes, int offset, int length) {
        bytes = runBytes;
        from = offset;
        end = offset + length;
        DecodeStatus status = reader.read(runBytes, offset, length, run);
        placeEnd = reader.placeEnd();
        return status;
    }

    /** The run that was read last. */
    public Run run() {
        return run;
    }

    /**
     * Folds the run that was read last into its flow; see {@link FlowAnalysis#onRun}.
     *
     * @param session session of the batch that carried the run
     * @param timestampResolutionNanos smallest step of the packet times
     */
    public RunFate fold(TapFlow flow, long session, long timestampResolutionNanos, RowSink out) {
        return flow.onRun(this, session, timestampResolutionNanos, out);
    }

    /** Ends the flow with what is known; see {@link FlowAnalysis#finish}. */
    public void finish(TapFlow flow, RowSink out) {
        flow.finish(this, out);
    }

    /** The analysis of a flow that was kept as its runs. */
    FlowAnalysis analyse(TapFlow flow, RowSink out) {
        return flow.replay(settings, reader, earlier, out);
    }

    byte[] bytes() {
        return bytes;
    }

    /** Where the run begins in {@link #bytes()}. */
    int from() {
        return from;
    }

    /** Where what all runs of the flow have in common ends. */
    int placeEnd() {
        return placeEnd;
    }

    /** Where the run ends. */
    int end() {
        return end;
    }
}
