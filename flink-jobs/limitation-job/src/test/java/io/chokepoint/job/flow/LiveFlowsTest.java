// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.FlowKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LiveFlowsTest {
    private static final long MANY_BYTES = 1_000_000;
    /** What a flow without runs is taken to need, twice. */
    private static final long TWO_FLOWS_BYTES = 700;

    private final List<FlowAtTap> saved = new ArrayList<>();
    private final LiveFlows.Store store = (key, flow) -> {
        saved.add(key);
        flow.saved();
    };

    private static FlowAtTap key(int port) {
        return new FlowAtTap(new FlowKey(0, 0, 1, port, 0, 2, 443), "leaf1");
    }

    @Test
    void whatHasChangedIsSavedOnce() throws Exception {
        LiveFlows flows = new LiveFlows(MANY_BYTES);
        LiveFlows.Flow one = LiveFlows.Flow.ofNew(key(1));
        LiveFlows.Flow two = LiveFlows.Flow.ofNew(key(2));
        flows.touch(one, 10);
        flows.touch(two, 11);
        flows.touch(one, 12);

        flows.saveAll(store);
        flows.saveAll(store);
        flows.touch(two, 13);
        flows.saveAll(store);

        assertThat(saved).containsExactly(key(1), key(2), key(2));
        assertThat(flows.get(key(1))).isSameAs(one);
    }

    @Test
    void theOneThatHadARunLongestAgoLeavesAndIsSavedFirst() throws Exception {
        LiveFlows flows = new LiveFlows(TWO_FLOWS_BYTES);
        for (int port : new int[] {1, 2, 1, 3}) {
            LiveFlows.Flow known = flows.get(key(port));
            flows.touch(known == null ? LiveFlows.Flow.ofNew(key(port)) : known, port);
            flows.saveSurplus(store);
        }

        assertThat(saved).containsExactly(key(2));
        assertThat(flows.get(key(2))).isNull();
    }

    /** As a timer does. */
    @Test
    void whoOnlyAsksForAFlowDoesNotMakeItNewer() throws Exception {
        LiveFlows flows = new LiveFlows(TWO_FLOWS_BYTES);
        flows.touch(LiveFlows.Flow.ofNew(key(1)), 1);
        flows.touch(LiveFlows.Flow.ofNew(key(2)), 2);
        assertThat(flows.get(key(1))).isNotNull();
        flows.touch(LiveFlows.Flow.ofNew(key(3)), 3);
        flows.saveSurplus(store);

        assertThat(saved).containsExactly(key(1));
    }

    /** Flows come, go on, end and are saved in any order; a map knows what must not be lost. */
    @ParameterizedTest
    @ValueSource(longs = {1, TWO_FLOWS_BYTES, 2_000, MANY_BYTES})
    void noChangeIsLostAndNothingThatEndedIsKept(long capacityBytes) throws Exception {
        Random random = new Random(7);
        LiveFlows flows = new LiveFlows(capacityBytes);
        Map<FlowAtTap, Long> keyedState = new HashMap<>();
        Map<FlowAtTap, Long> newest = new HashMap<>();
        LiveFlows.Store toState = (key, flow) -> {
            keyedState.put(key, flow.touchedMillis());
            flow.saved();
        };
        for (long now = 1; now < 20_000; now++) {
            FlowAtTap key = key(random.nextInt(12));
            LiveFlows.Flow known = flows.get(key);
            Long stored = keyedState.get(key);
            if (known == null) {
                assertThat(stored).as("of a flow that is not live").isEqualTo(newest.get(key));
            }
            LiveFlows.Flow flow = known == null ? LiveFlows.Flow.ofNew(key) : known;
            if (random.nextInt(4) == 0) {
                flows.remove(flow);
                keyedState.remove(key);
                newest.remove(key);
            } else {
                flows.touch(flow, now);
                newest.put(key, now);
                flows.saveSurplus(toState);
            }
            if (random.nextInt(50) == 0) {
                flows.saveAll(toState);
                assertThat(keyedState).isEqualTo(newest);
            }
            assertThat(flows.unsaved()).isLessThanOrEqualTo(newest.size());
        }
    }
}
