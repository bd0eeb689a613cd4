// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.FlowAnalysis;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The flows that packets came of most recently, as objects: a write-back cache before the keyed state. What is in it and
 * unsaved is in no checkpoint, so it is saved before each; a flow that ends between two is never written at all.
 *
 * <p>The one that had a run longest ago leaves first.
 */
final class LiveFlows {
    /** Puts a flow into the keyed state, and sees to its timer. */
    interface Store {
        void save(FlowAtTap key, Flow flow) throws Exception;
    }

    /** A flow at a tap, as an object. */
    static final class Flow {
        private final FlowAnalysis analysis;
        /** When the broker appended the last batch with a run of the flow, ms since the epoch. */
        private long touchedMillis;

        private boolean stored;
        private boolean changed;
        private long timerMillis;

        private Flow(FlowAnalysis analysis) {
            this.analysis = analysis;
        }

        /** That nothing is stored of. */
        static Flow ofNew(FlowAnalysis analysis) {
            return new Flow(analysis);
        }

        /** As it is stored: with a timer. */
        static Flow ofStored(FlowAnalysis analysis, FlowState state) {
            Flow flow = new Flow(analysis);
            flow.touchedMillis = state.touchedMillis();
            flow.timerMillis = state.timerMillis();
            flow.stored = true;
            return flow;
        }

        FlowAnalysis analysis() {
            return analysis;
        }

        long touchedMillis() {
            return touchedMillis;
        }

        /** A run was folded in. */
        void touch(long millis) {
            touchedMillis = millis;
            changed = true;
        }

        /** Whether the keyed state knows the flow, perhaps as it was, and it has its timer. */
        boolean isStored() {
            return stored;
        }

        /** When the timer of a stored flow fires. */
        long timerMillis() {
            return timerMillis;
        }

        void moveTimer(long millis) {
            timerMillis = millis;
        }

        /** The keyed state has the flow as it is now. */
        void saved() {
            stored = true;
            changed = false;
        }
    }

    private final int capacity;
    private final LinkedHashMap<FlowAtTap, Flow> flows = new LinkedHashMap<>(16, 0.75F, true);
    /** No flow without timer has been silent since before this. */
    private long untimedSinceMillis = Long.MAX_VALUE;

    /** Of {@code capacity} flows, beyond which some are surplus. */
    LiveFlows(int capacity) {
        this.capacity = capacity;
    }

    @Nullable
    Flow get(FlowAtTap key) {
        return flows.get(key);
    }

    /** Adds a flow that is not in it. */
    void add(FlowAtTap key, Flow flow) {
        flows.put(key, flow);
        if (!flow.stored) {
            untimedSinceMillis = Math.min(untimedSinceMillis, flow.touchedMillis);
        }
    }

    void remove(FlowAtTap key) {
        flows.remove(key);
    }

    /** Saves all that have changed; they stay. */
    void saveAll(Store store) throws Exception {
        for (Map.Entry<FlowAtTap, Flow> entry : flows.entrySet()) {
            save(entry, store);
        }
        untimedSinceMillis = Long.MAX_VALUE;
    }

    /** Saves all if one without timer may have been silent since {@code millis}. */
    void saveUntimedSince(long millis, Store store) throws Exception {
        if (untimedSinceMillis <= millis) {
            saveAll(store);
        }
    }

    /** Saves what there is no room for, and lets it go. */
    void saveSurplus(Store store) throws Exception {
        while (flows.size() > capacity) {
            Iterator<Map.Entry<FlowAtTap, Flow>> eldest = flows.entrySet().iterator();
            save(eldest.next(), store);
            eldest.remove();
        }
    }

    private static void save(Map.Entry<FlowAtTap, Flow> entry, Store store) throws Exception {
        if (entry.getValue().changed) {
            store.save(entry.getKey(), entry.getValue());
        }
    }
}
