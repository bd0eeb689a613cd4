// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * What a checkpoint keeps of a flow at a tap: the bytes of its analysis, and the two instants of its one timer. Never
 * changed, so that no backend needs to copy it.
 */
final class FlowState {
    /** What {@link FlowAnalysis#writeTo} wrote. */
    private final byte[] analysis;

    private final long touchedMillis;
    private final long timerMillis;

    private FlowState(byte[] analysis, long touchedMillis, long timerMillis) {
        this.analysis = analysis;
        this.touchedMillis = touchedMillis;
        this.timerMillis = timerMillis;
    }

    /**
     * With an analysis in bytes, which must not change any more.
     *
     * @param touchedMillis when the broker appended the last batch with a run of the flow, ms since the epoch
     * @param timerMillis when the timer fires; it is moved ahead only then, so that it costs per timeout and not per run
     */
    static FlowState ofBytes(byte[] analysis, long touchedMillis, long timerMillis) {
        return new FlowState(analysis, touchedMillis, timerMillis);
    }

    /** Of an analysis as it is now. */
    static FlowState of(FlowAnalysis analysis, long touchedMillis, long timerMillis, DataOutputSerializer scratch)
            throws IOException {
        scratch.clear();
        analysis.writeTo(scratch);
        return new FlowState(scratch.getCopyOfBuffer(), touchedMillis, timerMillis);
    }

    /** The analysis, each time a new object. */
    FlowAnalysis analysis(AnalysisSettings settings, String tap) throws IOException {
        return FlowAnalysis.readFrom(new DataInputDeserializer(analysis), settings, tap);
    }

    /** The same with another timer. */
    FlowState withTimer(long millis) {
        return new FlowState(analysis, touchedMillis, millis);
    }

    byte[] analysisBytes() {
        return analysis;
    }

    long touchedMillis() {
        return touchedMillis;
    }

    long timerMillis() {
        return timerMillis;
    }
}
