// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.DelaySeries;
import io.chokepoint.analysis.group.Grouping;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.GroupRows;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is told when; the groups themselves are the core's. */
class GroupFunctionTest {
    private static final int GENERATION = 1;
    private static final long APPENDED = 1_800_000_012_000L;
    private static final long WINDOW = 1_800_000_000L * 1_000_000_000L;
    private static final String TAP = "leaf1";
    private static final int BYTES_WITHOUT_MEMBERS = 78;

    private final GroupRows rows = new GroupRows();
    private KeyedOneInputStreamOperatorTestHarness<TapWindow, TapObservation, EncodedRow> harness;

    @BeforeEach
    void open() throws Exception {
        harness = harness();
        harness.open();
    }

    private static KeyedOneInputStreamOperatorTestHarness<TapWindow, TapObservation, EncodedRow> harness()
            throws Exception {
        var harness = new KeyedOneInputStreamOperatorTestHarness<TapWindow, TapObservation, EncodedRow>(
                new KeyedProcessOperator<>(new GroupFunction(GENERATION)), TapObservation::window, TapWindow.type());
        harness.setup(
                EncodedRow.type().createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    /** Ten seconds of a flow behind a queue that swings, the same one for all. */
    private static List<Observation> flow(long id) {
        List<Observation> seconds = new ArrayList<>();
        for (int second = 0; second < 10; second++) {
            DelaySeries series = new DelaySeries();
            series.begin(0);
            series.addBytes(1_000 * id);
            for (int bin = 0; bin < 20; bin++) {
                long queue = (20 * second + bin) % 37 * 1_000_000L;
                series.addAfterTap(bin * DelaySeries.BIN_NANOS, id * 10_000_000 + queue);
            }
            seconds.add(requireNonNull(series.observe(
                    id,
                    Direction.CLIENT_TO_SERVER,
                    WINDOW + second * DelaySeries.SECOND_NANOS,
                    0,
                    id * 10_000_000,
                    100_000_000)));
        }
        return seconds;
    }

    private void feed(List<Observation> observations) throws Exception {
        for (Observation observation : observations) {
            harness.processElement(new TapObservation(TAP, observation), APPENDED);
        }
    }

    private List<String> told() {
        return harness.extractOutputValues().stream()
                .map(row -> HexFormat.of().formatHex(row.bytes()))
                .toList();
    }

    /** What the core says of all these observations, as bytes. */
    private List<String> judged(List<Observation> observations, List<Long> before) {
        return Grouping.judge(TAP, WINDOW, observations, Grouping.version(GENERATION, observations), before).stream()
                .map(group -> HexFormat.of().formatHex(rows.encode(group).bytes()))
                .toList();
    }

    private static List<Observation> all(List<Observation> one, List<Observation> other) {
        List<Observation> all = new ArrayList<>(one);
        all.addAll(other);
        return all;
    }

    private static List<Long> ids(List<Observation> observations) {
        return Grouping.judge(TAP, WINDOW, observations, 0, List.of()).stream()
                .map(BottleneckGroup::groupId)
                .toList();
    }

    @Test
    void aWindowIsToldOnceItIsQuiet() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both.subList(0, 12));
        harness.setProcessingTime(2_000);
        feed(both.subList(12, 20));
        harness.setProcessingTime(4_999);
        assertThat(told()).isEmpty();

        harness.setProcessingTime(5_000);

        assertThat(told()).hasSize(1).isEqualTo(judged(both, List.of()));
        harness.setProcessingTime(60_000);
        assertThat(told()).as("nothing new").hasSize(1);
    }

    /** A capture that is played again tells anew of flows that had ended. */
    @Test
    void whatIsToldTwiceCountsOnce() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both);
        feed(both.subList(0, 10));
        harness.setProcessingTime(5_000);
        assertThat(told()).isEqualTo(judged(both, List.of()));

        feed(both.subList(10, 20));
        harness.setProcessingTime(60_000);
        assertThat(told()).as("nothing new").hasSize(1);

        List<Observation> late = flow(5);
        feed(late);
        harness.setProcessingTime(120_000);
        assertThat(told().subList(1, told().size())).isEqualTo(judged(all(both, late), ids(both)));
    }

    @Test
    void whatComesLateIsToldAnewAndTakesBackTheOldName() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both);
        harness.setProcessingTime(3_000);
        List<Observation> late = flow(1);
        feed(late);
        harness.setProcessingTime(6_000);

        assertThat(told().subList(1, 3)).isEqualTo(judged(all(both, late), ids(both)));
    }

    @Test
    void theLogForgetsTheWindowAndTellsWhatIsLeft() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both);
        assertThat(harness.numKeyedStateEntries()).isEqualTo(2);

        harness.processWatermark(APPENDED + GroupFunction.KEPT_MILLIS);

        assertThat(told()).isEqualTo(judged(both, List.of()));
        assertThat(harness.numKeyedStateEntries()).isZero();
        assertThat(harness.numEventTimeTimers()).isZero();
        harness.setProcessingTime(3_000);
        assertThat(told()).hasSize(1);
    }

    /** A partition is read hours behind the others, which have moved the watermark on: its windows are told whole. */
    @Test
    void whatComesLateIsNotForgottenAsSoonAsItHasCome() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        long ahead = APPENDED + 10 * GroupFunction.KEPT_MILLIS;
        harness.processWatermark(ahead);
        feed(both.subList(0, 10));
        harness.processWatermark(ahead + 200);
        feed(both.subList(10, 20));
        harness.setProcessingTime(3_000);

        assertThat(told()).isEqualTo(judged(both, List.of()));
    }

    @Test
    void theEndOfTheInputTellsEverything() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both);

        harness.processWatermark(Long.MAX_VALUE);

        assertThat(told()).isEqualTo(judged(both, List.of()));
    }

    /** In whatever order and however often it was told on the way: by key, the row of the highest version is one. */
    @Test
    void whatIsToldLastDoesNotHangOnTheOrder() throws Exception {
        List<Observation> observations = new ArrayList<>();
        for (int id = 1; id <= 6; id++) {
            observations.addAll(flow(id));
        }
        List<String> expected = judged(observations, List.of());
        Random random = new Random(1);
        for (int i = 0; i < 10; i++) {
            harness.close();
            open();
            Collections.shuffle(observations, random);
            int cut = random.nextInt(observations.size());
            feed(observations.subList(0, cut));
            harness.setProcessingTime(3_000);
            feed(observations.subList(cut, observations.size()));
            harness.setProcessingTime(10_000);

            assertThat(told()).containsAll(expected);
            assertThat(lastByName())
                    .as("cut at %d", cut)
                    .filteredOn(row -> !isTakenBack(row))
                    .isEqualTo(expected);
        }
    }

    /** Name of the group: behind the tap's name and two instants. */
    private List<String> lastByName() {
        Map<String, String> rowsByName = new LinkedHashMap<>();
        for (String row : told()) {
            int at = 2 * (1 + TAP.length() + 16);
            rowsByName.put(row.substring(at, at + 32), row);
        }
        return List.copyOf(rowsByName.values());
    }

    private static boolean isTakenBack(String row) {
        return row.length() == 2 * BYTES_WITHOUT_MEMBERS;
    }

    @Test
    void aRestartChangesNothing() throws Exception {
        List<Observation> both = all(flow(2), flow(3));
        feed(both.subList(0, 15));
        OperatorSubtaskState kept = harness.snapshot(1, 1);
        harness.close();
        harness = harness();
        harness.initializeState(kept);
        harness.open();
        feed(both.subList(15, 20));

        harness.processWatermark(Long.MAX_VALUE);

        assertThat(told()).isEqualTo(judged(both, List.of()));
    }

    @Test
    void tapsHaveWindowsOfTheirOwn() throws Exception {
        for (Observation observation : flow(2)) {
            harness.processElement(new TapObservation("leaf1", observation), APPENDED);
        }
        for (Observation observation : flow(3)) {
            harness.processElement(new TapObservation("spine1", observation), APPENDED);
        }

        harness.processWatermark(Long.MAX_VALUE);

        assertThat(told()).isEmpty();
    }
}
