// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.TapFlow;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * What a checkpoint keeps of a flow at a tap: its bytes, and the two instants of its one timer. Never changed, so that no
 * backend needs to copy it.
 */
final class FlowState {
    /** What {@link TapFlow#writeTo} wrote. */
    private final byte[] flow;

    private final long touchedMillis;
    private final long timerMillis;

    private FlowState(byte[] flow, long touchedMillis, long timerMillis) {
        this.flow = flow;
        this.touchedMillis = touchedMillis;
        this.timerMillis = timerMillis;
    }

    /**
     * With the bytes of a flow, which must not change any more.
     *
     * @param touchedMillis when the broker appended the last batch with a run of the flow, ms since the epoch
     * @param timerMillis when the timer fires; it is moved ahead only then, so that it costs per timeout and not per run
     */
    static FlowState ofBytes(byte[] flow, long touchedMillis, long timerMillis) {
        return new FlowState(flow, touchedMillis, timerMillis);
    }

    /** Of a flow as it is now. */
    static FlowState of(TapFlow flow, long touchedMillis, long timerMillis, DataOutputSerializer scratch)
            throws IOException {
        scratch.clear();
        flow.writeTo(scratch);
        return new FlowState(scratch.getCopyOfBuffer(), touchedMillis, timerMillis);
    }

    /** The flow, each time a new object. */
    TapFlow flow(AnalysisSettings settings, String tap) throws IOException {
        return TapFlow.readFrom(new DataInputDeserializer(flow), settings, tap);
    }

    /** The same with another timer. */
    FlowState withTimer(long millis) {
        return new FlowState(flow, touchedMillis, millis);
    }

    byte[] flowBytes() {
        return flow;
    }

    long touchedMillis() {
        return touchedMillis;
    }

    long timerMillis() {
        return timerMillis;
    }
}
