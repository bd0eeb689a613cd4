// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
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
 * The flows of a tap that live. Elephants are objects, and so are the mice touched last; older ones are the bytes of
 * {@link FlowAnalysis#writeTo}, a twentieth of that: port scans open a million flows and few captures as many at once.
 */
final class LiveFlows {
    /** A mouse is some 9 KB of objects, so these may take a quarter of the memory. */
    private static final int MEMORY_PER_MOUSE_BYTES = 36 * 1024;

    private final AnalysisSettings settings;
    private final String tap;
    private final int miceAsObjects;
    /** Each is a FlowAnalysis or its bytes, in the order in which the flows began. */
    private final Map<FlowKey, Object> flows = new LinkedHashMap<>();
    /** Mice in the order in which they became objects; some have grown or ended since. */
    private final Deque<FlowKey> mice = new ArrayDeque<>();

    LiveFlows(AnalysisSettings settings, String tap) {
        this(settings, tap, (int) (Runtime.getRuntime().maxMemory() / MEMORY_PER_MOUSE_BYTES));
    }

    LiveFlows(AnalysisSettings settings, String tap, int miceAsObjects) {
        this.settings = settings;
        this.tap = tap;
        this.miceAsObjects = miceAsObjects;
    }

    /** The analysis of a flow, begun now if there is none. */
    FlowAnalysis open(FlowKey key) throws IOException {
        Object kept = flows.get(key);
        if (kept instanceof FlowAnalysis flow) {
            return flow;
        }
        FlowAnalysis flow = kept instanceof byte[] bytes ? read(bytes) : new FlowAnalysis(settings, tap);
        flows.put(key, flow);
        mice.add(key);
        if (mice.size() > miceAsObjects) {
            FlowKey oldest = mice.remove();
            if (!oldest.equals(key)) { // A flow that ended and began anew stands there twice.
                shrink(oldest);
            }
        }
        return flow;
    }

    private void shrink(FlowKey key) throws IOException {
        if (flows.get(key) instanceof FlowAnalysis flow && flow.isMouse()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            flow.writeTo(new DataOutputStream(bytes));
            flows.put(key, bytes.toByteArray());
        }
    }

    private FlowAnalysis read(byte[] bytes) throws IOException {
        return FlowAnalysis.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)), settings, tap);
    }

    /** Forgets a flow that has ended. */
    void forget(FlowKey key) {
        flows.remove(key);
    }

    /** Ends all flows, in the order in which they began. */
    void finish(RowSink out) throws IOException {
        for (Object kept : flows.values()) {
            (kept instanceof byte[] bytes ? read(bytes) : (FlowAnalysis) kept).finish(out);
        }
        flows.clear();
        mice.clear();
    }
}
