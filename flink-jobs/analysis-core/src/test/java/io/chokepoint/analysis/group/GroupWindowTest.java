// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class GroupWindowTest {
    private static final Queues.Queue ONE = Queues.sawTooth(37, 0);

    private GroupWindow window = GroupWindow.EMPTY;
    private List<Observation> store = new ArrayList<>();
    private int repeated;
    private int evicted;

    private void add(List<Observation> observations) {
        for (Observation observation : observations) {
            store.add(observation);
            window = window.withOneMore();
            if (window.isFull()) {
                thin();
            }
        }
    }

    private void thin() {
        GroupWindow.Thinned thinned = window.thin(store);
        window = thinned.window();
        store = new ArrayList<>(thinned.kept());
        repeated += thinned.repeated();
        evicted += thinned.evicted();
    }

    private List<BottleneckGroup> tell() {
        thin();
        GroupWindow.Told told = window.tell("leaf1", Queues.WINDOW, 1, store);
        window = told.window();
        return told.groups();
    }

    private static List<Observation> flows(int from, int to) {
        List<Observation> observations = new ArrayList<>();
        for (int flow = from; flow < to; flow++) {
            observations.addAll(Queues.flow(flow, ONE, 5_000, 0, 100 + flow / 3, 0, 3));
        }
        return observations;
    }

    @Test
    void whatComesAgainIsNoNews() {
        add(flows(1, 4));
        assertThat(tell()).hasSize(1);
        add(flows(2, 3));
        assertThat(window.isWaiting()).isTrue();

        assertThat(tell()).isEmpty();
        assertThat(window.isWaiting()).isFalse();
        assertThat(repeated).isEqualTo(3);
    }

    /** It was too small to count: that it comes again does not make it more. */
    @Test
    void whatWasEvictedIsNoNewsEither() {
        add(flows(0, Grouping.MAX_OF_SECOND + 9));
        tell();
        assertThat(evicted).isEqualTo(3 * 9);
        long version = window.version();

        add(flows(0, 9));

        assertThat(tell()).isEmpty();
        assertThat(window.version()).isEqualTo(version);
    }

    /** With repeats, evictions and tellings wherever they fall. */
    @Test
    void whatIsToldInTheEndHangsOnTheSetAlone() {
        List<Observation> set = flows(0, Grouping.MAX_OF_SECOND + 50);
        set.addAll(Queues.flow(1_000, Queues.sawTooth(37, 11), 5_000, 900));
        set.addAll(Queues.flow(1_001, Queues.sawTooth(37, 11), 5_000, 900));
        add(set);
        List<BottleneckGroup> expected = tell();
        assertThat(expected).hasSize(2);

        for (int seed = 1; seed <= 10; seed++) {
            Random random = new Random(seed);
            window = GroupWindow.EMPTY;
            store = new ArrayList<>();
            List<Observation> sequence = new ArrayList<>(set);
            for (int i = 0; i < set.size() / 2; i++) {
                sequence.add(set.get(random.nextInt(set.size())));
            }
            Collections.shuffle(sequence, random);
            TreeMap<Long, BottleneckGroup> last = new TreeMap<>(Long::compareUnsigned);
            long version = 0;
            int at = 0;
            while (at < sequence.size()) {
                int next = Math.min(sequence.size(), at + 1 + random.nextInt(500));
                add(sequence.subList(at, next));
                at = next;
                tell().forEach(group -> last.put(group.groupId(), group));
                assertThat(window.version()).isGreaterThanOrEqualTo(version);
                version = window.version();
            }
            last.values().removeIf(group -> group.members().isEmpty());

            assertThat(last.values()).as("seed %d", seed).containsExactlyElementsOf(expected);
        }
    }

    @Test
    void onlyWhoHasAnEndOfEveryMemberMaySeeAGroup() {
        List<Observation> observations = new ArrayList<>();
        Queues.flow(1, ONE, 5_000, 100).forEach(one -> observations.add(one.between("acme", "cloud")));
        Queues.flow(2, ONE, 5_000, 100).forEach(one -> observations.add(one.between("cloud", "")));
        add(observations);
        assertThat(tell().get(0).tenants()).containsExactly("cloud");

        Queues.flow(3, ONE, 5_000, 100).forEach(one -> store.add(one));
        window = window.withOneMore();
        assertThat(tell().get(0).tenants()).isEmpty();
    }
}
