// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a flow at a tap: its analysis, and the two instants of its one timer.
 *
 * <p>The analysis lies in one of two tiers. A mouse, as nearly all flows are, is the bytes of {@link FlowAnalysis#writeTo},
 * a twentieth of the objects; it is read and written for every run of it. An elephant is an object. What comes from a
 * checkpoint is bytes until its next run, whatever it is.
 */
final class FlowState {
    /** Either these or the object; never changed. */
    private byte @Nullable [] bytes;

    private @Nullable FlowAnalysis elephant;
    /** When the broker appended the last batch with a run of the flow, ms since the epoch. */
    private long touchedMillis;
    /** When the timer fires; it is moved ahead only then, so that it costs per timeout and not per run. */
    private long timerMillis;

    private FlowState(byte @Nullable [] bytes, long touchedMillis, long timerMillis) {
        this.bytes = bytes;
        this.touchedMillis = touchedMillis;
        this.timerMillis = timerMillis;
    }

    /** Of a new flow: nothing is kept of it before {@link #keep}. */
    static FlowState empty(long timerMillis) {
        return new FlowState(null, 0, timerMillis);
    }

    /** With an analysis in bytes, which must not change any more. */
    static FlowState ofBytes(byte[] bytes, long touchedMillis, long timerMillis) {
        return new FlowState(bytes, touchedMillis, timerMillis);
    }

    /** The analysis as far as it was kept. Whoever changes it keeps it again. */
    FlowAnalysis analysis(AnalysisSettings settings, String tap) throws IOException {
        if (elephant != null) {
            return elephant;
        }
        return FlowAnalysis.readFrom(new DataInputDeserializer(requireNonNull(bytes, "nothing kept")), settings, tap);
    }

    /** Keeps an analysis in the tier that it now belongs to. */
    void keep(FlowAnalysis analysis, DataOutputSerializer scratch) throws IOException {
        if (analysis.isMouse()) {
            elephant = null;
            bytes = written(analysis, scratch);
        } else {
            elephant = analysis;
            bytes = null;
        }
    }

    /** The bytes of the analysis, the same from both tiers. */
    byte[] analysisBytes(DataOutputSerializer scratch) throws IOException {
        return elephant == null ? requireNonNull(bytes, "nothing kept") : written(elephant, scratch);
    }

    private static byte[] written(FlowAnalysis analysis, DataOutputSerializer scratch) throws IOException {
        scratch.clear();
        analysis.writeTo(scratch);
        return scratch.getCopyOfBuffer();
    }

    /** Whether the analysis is kept as bytes. */
    boolean isBytes() {
        return bytes != null;
    }

    long touchedMillis() {
        return touchedMillis;
    }

    void touch(long millis) {
        touchedMillis = millis;
    }

    long timerMillis() {
        return timerMillis;
    }

    void moveTimer(long millis) {
        timerMillis = millis;
    }
}
