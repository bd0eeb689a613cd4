// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.TapFlow;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The flows that packets came of most recently, as objects: a write-back cache before the keyed state. What is in it and
 * unsaved is in no checkpoint, so it is saved before each; a flow that ends between two is never written at all.
 *
 * <p>The one that had a run longest ago leaves first.
 */
final class LiveFlows {
    /** Key, map entry and the flow's own fields, in bytes. */
    private static final int ENTRY_BYTES = 250;

    private static final int UNCHANGED = -1;

    /** Puts a flow into the keyed state, and sees to its timer. */
    interface Store {
        void save(FlowAtTap key, Flow flow) throws Exception;
    }

    /** A flow at a tap, as an object. */
    static final class Flow {
        private final FlowAtTap key;
        private final TapFlow content;
        /** When the broker appended the last batch with a run of the flow, ms since the epoch. */
        private long touchedMillis;

        private boolean stored;
        private boolean live;
        /** Index among those to save; -1 if the keyed state has the flow as it is. */
        private int changedAt = UNCHANGED;

        private long timerMillis;
        private int heapBytes;

        private Flow(FlowAtTap key, TapFlow content) {
            this.key = key;
            this.content = content;
        }

        /** That nothing is stored of. */
        static Flow ofNew(FlowAtTap key) {
            return new Flow(key, new TapFlow(key.tap()));
        }

        /** As it is stored: with a timer. */
        static Flow ofStored(FlowAtTap key, TapFlow content, FlowState state) {
            Flow flow = new Flow(key, content);
            flow.touchedMillis = state.touchedMillis();
            flow.timerMillis = state.timerMillis();
            flow.stored = true;
            return flow;
        }

        TapFlow content() {
            return content;
        }

        long touchedMillis() {
            return touchedMillis;
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

        /** The keyed state has the flow, and its timer. */
        void saved() {
            stored = true;
        }
    }

    private final long capacityBytes;
    /** In the order of their newest runs; who only asks for one, as a timer does, does not make it newer. */
    private final LinkedHashMap<FlowAtTap, Flow> flows = new LinkedHashMap<>();

    private final List<Flow> changed = new ArrayList<>();

    private long heapBytes;
    /** No flow without timer has been silent since before this. */
    private long untimedSinceMillis = Long.MAX_VALUE;

    /** Of about so many bytes, beyond which some flows are surplus. */
    LiveFlows(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    @Nullable
    Flow get(FlowAtTap key) {
        return flows.get(key);
    }

    /** A run was folded into a flow, which is from now on in it. */
    void touch(Flow flow, long millis) {
        flow.touchedMillis = millis;
        if (flow.live) {
            flows.remove(flow.key); // it goes to the end
        }
        flow.live = true;
        flows.put(flow.key, flow);
        if (flow.changedAt == UNCHANGED) {
            flow.changedAt = changed.size();
            changed.add(flow);
        }
        if (!flow.stored) {
            untimedSinceMillis = Math.min(untimedSinceMillis, millis);
        }
        int bytes = ENTRY_BYTES + flow.content.heapBytes();
        heapBytes += bytes - flow.heapBytes;
        flow.heapBytes = bytes;
    }

    void remove(Flow flow) {
        if (flow.live) {
            flows.remove(flow.key);
            heapBytes -= flow.heapBytes;
        }
        flow.live = false;
        unmark(flow);
    }

    /** It need not be saved any more; nor must the list keep a flow that has ended from being collected. */
    private void unmark(Flow flow) {
        if (flow.changedAt != UNCHANGED) {
            Flow last = changed.remove(changed.size() - 1);
            if (last != flow) {
                changed.set(flow.changedAt, last);
                last.changedAt = flow.changedAt;
            }
            flow.changedAt = UNCHANGED;
        }
    }

    /** How many have changed since they were saved. */
    int unsaved() {
        return changed.size();
    }

    /** Saves all that have changed; they stay. */
    void saveAll(Store store) throws Exception {
        for (Flow flow : changed) {
            store.save(flow.key, flow);
            flow.changedAt = UNCHANGED;
        }
        changed.clear();
        untimedSinceMillis = Long.MAX_VALUE;
    }

    /** Saves all if one without timer may have been silent since {@code millis}. */
    void saveUntimedSince(long millis, Store store) throws Exception {
        if (untimedSinceMillis <= millis) {
            saveAll(store);
        }
    }

    /** Saves what there is no room for, and lets it go. The newest stays, however large. */
    void saveSurplus(Store store) throws Exception {
        while (heapBytes > capacityBytes && flows.size() > 1) {
            Iterator<Map.Entry<FlowAtTap, Flow>> eldest = flows.entrySet().iterator();
            Flow flow = eldest.next().getValue();
            if (flow.changedAt != UNCHANGED) {
                store.save(flow.key, flow);
                unmark(flow);
            }
            eldest.remove();
            heapBytes -= flow.heapBytes;
            flow.live = false;
        }
    }
}
