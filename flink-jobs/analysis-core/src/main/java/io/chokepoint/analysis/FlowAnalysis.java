// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.row.RowSink;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The whole analysis of one flow at one tap. (API in place; being written.) */
public final class FlowAnalysis {
    private boolean finished;
    private long lastPacketNanos;

    public FlowAnalysis(AnalysisSettings settings, String tap) {}

    public RunFate onRun(Run run, long session, long timestampResolutionNs, RowSink out) {
        return RunFate.CONTRIBUTED;
    }

    public void finish(RowSink out) {
        finished = true;
    }

    public boolean isFinished() {
        return finished;
    }

    public long lastPacketNanos() {
        return lastPacketNanos;
    }

    public void writeTo(DataOutput out) throws IOException {}

    public static FlowAnalysis readFrom(DataInput in, AnalysisSettings settings, String tap) throws IOException {
        return new FlowAnalysis(settings, tap);
    }
}
