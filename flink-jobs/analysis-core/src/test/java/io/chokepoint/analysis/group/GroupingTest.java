// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.BottleneckGroup.Member;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GroupingTest {
    private static final Queues.Queue ONE = Queues.sawTooth(47, 0);
    private static final Queues.Queue ALIKE = Queues.sawTooth(47, 20);

    private static List<BottleneckGroup> judge(Collection<Observation> observations) {
        return Grouping.judge("leaf1", Queues.WINDOW, observations, 7, List.of());
    }

    @SafeVarargs
    private static List<Observation> all(List<Observation>... flows) {
        List<Observation> all = new ArrayList<>();
        for (List<Observation> flow : flows) {
            all.addAll(flow);
        }
        return all;
    }

    private static List<List<Long>> members(List<BottleneckGroup> groups) {
        return groups.stream()
                .map(group -> group.members().stream().map(Member::flowId).toList())
                .toList();
    }

    @Test
    void whoIsHeldUpAlikeIsInOneQueueHoweverFarAway() {
        List<BottleneckGroup> groups = judge(
                all(Queues.flow(3, ONE, 5_000, 100), Queues.flow(1, ONE, 90_000, 200), Queues.flow(2, ONE, 700, 300)));

        assertThat(members(groups)).as("the largest taker first").containsExactly(List.of(2L, 1L, 3L));
        BottleneckGroup group = groups.get(0);
        assertThat(group.groupId())
                .as("of the first by name")
                .isEqualTo(BottleneckGroup.groupId(1, Direction.CLIENT_TO_SERVER));
        assertThat(group.version()).isEqualTo(7);
        assertThat(group.layerBytes()).isEqualTo(10 * 600);
        assertThat(group.observedNanos()).isEqualTo(10 * DelaySeries.SECOND_NANOS);
        assertThat(group.capacityKind()).isEqualTo(CapacityKind.LOWER_BOUND);
        assertThat(group.capacityBitsPerSecond()).as("what they took").isEqualTo(600 * 8);
        assertThat(group.agreementPermille()).isGreaterThan(900);
    }

    @Test
    void linksThatSwingAlikeAtOtherTimesAreTwo() {
        List<BottleneckGroup> groups = judge(all(
                Queues.flow(1, ONE, 5_000, 100),
                Queues.flow(2, ALIKE, 5_000, 100),
                Queues.flow(3, ONE, 5_000, 100),
                Queues.flow(4, ALIKE, 5_000, 100)));

        assertThat(members(groups)).containsExactlyInAnyOrder(List.of(1L, 3L), List.of(2L, 4L));
    }

    @Test
    void linksThatSwingTogetherButNotEquallyFarAreTwo() {
        Queues.Queue eighth = bin -> ONE.micros(bin) / 8;

        assertThat(judge(all(Queues.flow(1, ONE, 5_000, 100), Queues.flow(2, eighth, 5_000, 100))))
                .isEmpty();
    }

    @Test
    void aQueueThatNeverChangesTellsNothing() {
        Queues.Queue full = bin -> 30_000;

        assertThat(judge(all(Queues.flow(1, full, 5_000, 100), Queues.flow(2, full, 5_000, 100))))
                .isEmpty();
    }

    @Test
    void oneSecondIsTooLittleToTell() {
        assertThat(judge(all(Queues.flow(1, ONE, 5_000, 0, 100, 0, 1), Queues.flow(2, ONE, 5_000, 0, 100, 0, 1))))
                .isEmpty();
        assertThat(members(
                        judge(all(Queues.flow(1, ONE, 5_000, 0, 100, 0, 3), Queues.flow(2, ONE, 5_000, 0, 100, 0, 3)))))
                .containsExactly(List.of(1L, 2L));
    }

    @Test
    void whoNeverMetIsJoinedByWhomBothMet() {
        List<BottleneckGroup> groups = judge(all(
                Queues.flow(1, ONE, 5_000, 0, 100, 0, 5),
                Queues.flow(2, ONE, 5_000, 0, 100, 0, 10),
                Queues.flow(3, ONE, 5_000, 0, 100, 5, 10)));

        assertThat(members(groups)).hasSize(1);
        assertThat(members(groups).get(0)).containsExactlyInAnyOrder(1L, 2L, 3L);
    }

    @Test
    void theOrderOfArrivalIsForgotten() {
        List<Observation> observations = new ArrayList<>();
        for (int flow = 1; flow <= 40; flow++) {
            observations.addAll(Queues.flow(flow, flow % 3 == 0 ? ONE : ALIKE, 1_000 * flow, 100L + flow % 5));
        }
        List<BottleneckGroup> expected = judge(observations);
        assertThat(expected).hasSize(2);

        Random random = new Random(1);
        for (int i = 0; i < 20; i++) {
            Collections.shuffle(observations, random);
            assertThat(judge(observations)).isEqualTo(expected);
        }
    }

    @Test
    void whomTheBoundDropsDoesNotHangOnTheOrderEither() {
        List<Observation> observations = new ArrayList<>();
        for (int flow = 0; flow < 2 * Grouping.MAX_OF_SECOND; flow++) {
            observations.addAll(Queues.flow(flow, ONE, 1_000, 0, flow / 2, 0, 1));
        }
        List<Observation> expected = Grouping.largest(observations);
        assertThat(expected).hasSize(Grouping.MAX_OF_SECOND).allMatch(one -> one.layerBytes() >= 128);

        Random random = new Random(1);
        for (int i = 0; i < 20; i++) {
            Collections.shuffle(observations, random);
            List<Observation> kept = new ArrayList<>();
            for (Observation observation : observations) { // thinned out as they come
                kept.add(observation);
                kept = kept.size() > 300 ? Grouping.largest(kept) : kept;
            }
            assertThat(Grouping.largest(kept)).isEqualTo(expected);
        }
    }

    @Test
    void aGroupThatIsAnotherNowIsTakenBack() {
        List<Observation> early = all(Queues.flow(5, ONE, 5_000, 100), Queues.flow(6, ONE, 5_000, 100));
        long earlyId = judge(early).get(0).groupId();

        List<BottleneckGroup> late = Grouping.judge(
                "leaf1", Queues.WINDOW, all(early, Queues.flow(4, ONE, 5_000, 100)), 30, List.of(earlyId));

        assertThat(late).hasSize(2).allMatch(group -> group.version() == 30);
        assertThat(late)
                .filteredOn(group -> group.groupId() == earlyId)
                .allMatch(group -> group.members().isEmpty());
        assertThat(late)
                .filteredOn(group -> group.groupId() != earlyId)
                .allMatch(group -> group.members().size() == 3);
    }

    @Test
    void theCapacityIsThatWhichHoldsThemAll() {
        List<Observation> flows = new ArrayList<>();
        long[] proven = {5_000, 9_600, 9_500, 5_000, 0}; // bit/s; every other packet is somebody else's: half the rate
        for (int i = 0; i < proven.length; i++) {
            for (Observation one : Queues.flow(i + 1, ONE, 5_000, 200)) {
                flows.add(new Observation(
                        one.flowId(),
                        one.direction(),
                        one.startNanos(),
                        one.side(),
                        one.layerBytes(),
                        proven[i],
                        one.queueNanos(),
                        one.delaysMicros()));
            }
        }

        BottleneckGroup group = judge(flows).get(0);

        assertThat(group.capacityBitsPerSecond()).isEqualTo(9_500);
        assertThat(group.capacityKind()).isEqualTo(CapacityKind.PROVEN);
    }
}
