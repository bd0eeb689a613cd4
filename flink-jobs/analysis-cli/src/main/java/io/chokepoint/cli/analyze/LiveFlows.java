// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.TapFlow;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.row.RowSink;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The flows of a tap that live: a {@link TapFlow} each, which is small in a flow's first packets and 9 KB of objects later. Of
 * those that do not become elephants the ones that grew longest ago are bytes again, a tenth of that.
 */
final class LiveFlows {
    /** Such a mouse is some 9 KB of objects, so they may take a quarter of the memory. */
    private static final int MEMORY_PER_MOUSE_BYTES = 36 * 1024;

    private final AnalysisSettings settings;
    private final String tap;
    private final int miceAsObjects;
    /** Each is a TapFlow or its bytes, in the order in which the flows began. */
    private final Map<FlowKey, Object> flows = new LinkedHashMap<>();
    /** Flows in the order in which they grew; some are elephants or have ended since. */
    private final Deque<FlowKey> mice = new ArrayDeque<>();

    LiveFlows(AnalysisSettings settings, String tap) {
        this(settings, tap, (int) (Runtime.getRuntime().maxMemory() / MEMORY_PER_MOUSE_BYTES));
    }

    LiveFlows(AnalysisSettings settings, String tap, int miceAsObjects) {
        this.settings = settings;
        this.tap = tap;
        this.miceAsObjects = miceAsObjects;
    }

    /** Folds in the run that was read last; the flow is forgotten if it ends. Returns the flow's books of that run. */
    Folded fold(RunFolder folder, long session, long timestampResolutionNanos, RowSink out) throws IOException {
        FlowKey key = folder.run().key();
        TapFlow flow = open(key);
        boolean wasKeptAsRuns = flow.isKeptAsRuns();
        RunFate fate = folder.fold(flow, session, timestampResolutionNanos, out);
        if (flow.isFinished()) {
            flows.remove(key);
        } else if (wasKeptAsRuns && !flow.isKeptAsRuns()) {
            grew(key);
        }
        return new Folded(fate, flow.repeatedPackets());
    }

    /** What became of a run, and of how many packets in it had been folded in before. */
    record Folded(RunFate fate, int repeatedPackets) {}

    private TapFlow open(FlowKey key) throws IOException {
        Object kept = flows.get(key);
        if (kept instanceof TapFlow flow) {
            return flow;
        }
        TapFlow flow = kept instanceof byte[] bytes ? read(bytes) : new TapFlow(tap);
        flows.put(key, flow);
        if (!flow.isKeptAsRuns()) {
            grew(key);
        }
        return flow;
    }

    /** A flow is no longer kept as its runs. */
    private void grew(FlowKey key) throws IOException {
        mice.add(key);
        if (mice.size() > miceAsObjects) {
            FlowKey oldest = mice.remove();
            if (!oldest.equals(key)) { // A flow that ended and began anew stands there twice.
                shrink(oldest);
            }
        }
    }

    private void shrink(FlowKey key) throws IOException {
        if (flows.get(key) instanceof TapFlow flow && flow.isMouse() && !flow.isKeptAsRuns()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            flow.writeTo(new DataOutputStream(bytes));
            flows.put(key, bytes.toByteArray());
        }
    }

    private TapFlow read(byte[] bytes) throws IOException {
        return TapFlow.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)), settings, tap);
    }

    /** Ends all flows, in the order in which they began. */
    void finish(RunFolder folder, RowSink out) throws IOException {
        for (Object kept : flows.values()) {
            folder.finish(kept instanceof byte[] bytes ? read(bytes) : (TapFlow) kept, out);
        }
        flows.clear();
        mice.clear();
    }
}
