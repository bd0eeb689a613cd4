// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.path.PathJudge;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.PathRowEncoder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FlowPathFunctionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long KEPT = FlowPathFunction.KEPT_MILLIS;
    private static final long NOW = 1_800_000_000_000L;

    /** Where state can live. */
    enum Backend {
        HEAP,
        ROCKSDB;

        StateBackend make() {
            return this == HEAP ? new HashMapStateBackend() : new EmbeddedRocksDBStateBackend();
        }
    }

    @Test
    void everyTapGivesTheRowAnewAndNoneWaits() throws Exception {
        try (var harness = harness(Backend.HEAP)) {
            harness.open();
            feed(harness, seen("a", 10, 5), seen("a", 10, 6), seen("b", 20, 6), seen("c", 30, 6));

            assertThat(rows(harness))
                    .containsExactly(
                            row(seen("a", 10, 6), seen("b", 20, 6)),
                            row(seen("a", 10, 6), seen("b", 20, 6), seen("c", 30, 6)));
        }
    }

    @ParameterizedTest
    @EnumSource(Backend.class)
    void afterARestartItGoesOn(Backend backend) throws Exception {
        OperatorSubtaskState snapshot;
        try (var harness = harness(backend)) {
            harness.open();
            feed(harness, seen("a", 10, 5), seen("b", 20, 5));
            snapshot = harness.snapshot(1, 1);
            feed(harness, seen("c", 30, 5)); // lost with the crash, read again below
        }
        try (var harness = harness(backend)) {
            harness.initializeState(snapshot);
            harness.open();
            feed(harness, seen("c", 30, 5));

            assertThat(rows(harness)).containsExactly(row(seen("a", 10, 5), seen("b", 20, 5), seen("c", 30, 5)));
        }
    }

    @Test
    void aSilentFlowLeavesNothing() throws Exception {
        try (var harness = harness(Backend.HEAP)) {
            harness.open();
            feed(harness, seen("a", 10, 5));
            harness.processElement(new StreamRecord<>(seen("a", 10, 6), NOW + KEPT / 2));
            assertThat(harness.numEventTimeTimers()).isEqualTo(1);

            harness.processWatermark(NOW + KEPT);
            assertThat(harness.numKeyedStateEntries()).isEqualTo(1);
            assertThat(harness.numEventTimeTimers()).isEqualTo(1);
            harness.processWatermark(NOW + KEPT * 3 / 2);

            assertThat(harness.numKeyedStateEntries()).isZero();
            assertThat(harness.numEventTimeTimers()).isZero();
        }
    }

    /** A partition is read hours behind the others, which have moved the watermark on: its taps meet all the same. */
    @Test
    void whatComesLateIsNotForgottenAsSoonAsItHasCome() throws Exception {
        try (var harness = harness(Backend.HEAP)) {
            harness.open();
            long ahead = NOW + 3 * KEPT;
            harness.processWatermark(ahead);
            feed(harness, seen("a", 10, 6));
            harness.processWatermark(ahead + 200);
            feed(harness, seen("b", 20, 6));

            assertThat(rows(harness)).containsExactly(row(seen("a", 10, 6), seen("b", 20, 6)));
        }
    }

    /** After an outage two readers catch up: one is through with tap a before the other has begun with tap b. */
    @ParameterizedTest
    @EnumSource(Backend.class)
    void aTapMayBeReadTenMinutesBehindTheOther(Backend backend) throws Exception {
        List<String> together = new ArrayList<>();
        for (int second = 0; second < 600; second++) {
            together.add(row(seen("a", 10, second), seen("b", 20, second)));
        }
        try (var harness = harness(backend)) {
            harness.open();
            harness.processWatermark(NOW - 1); // where the slower one is
            for (int second = 0; second < 600; second++) {
                feedAt(harness, seen("a", 10, second), second);
            }
            for (int second = 0; second < 600; second++) {
                feedAt(harness, seen("b", 20, second), second);
                harness.processWatermark(NOW + 1_000L * second);
            }

            assertThat(rows(harness)).containsExactlyElementsOf(together);

            harness.processWatermark(NOW + 600_000 + KEPT);
            assertThat(harness.numEventTimeTimers()).as("what is kept").isZero();
        }
    }

    /** The records of tap b are appended ten minutes late, more than anything is kept: no row, and no state in the end. */
    @Test
    void whatIsAppendedTooLateMakesNoRow() throws Exception {
        try (var harness = harness(Backend.HEAP)) {
            harness.open();
            for (int second = 0; second < 1_200; second++) {
                feedAt(harness, seen("a", 10, second), second);
                harness.processWatermark(NOW + 1_000L * second - 1);
                if (second >= 600) {
                    feedAt(harness, seen("b", 20, second - 600), second);
                }
            }

            assertThat(rows(harness)).isEmpty();
            harness.processWatermark(NOW + 1_200_000 + KEPT);
            assertThat(harness.numKeyedStateEntries()).isZero();
        }
    }

    private static void feedAt(
            KeyedOneInputStreamOperatorTestHarness<FlowKey, PathObservation, EncodedRow> harness,
            PathObservation observation,
            int second)
            throws Exception {
        harness.processElement(new StreamRecord<>(observation, NOW + 1_000L * second));
    }

    private static String row(PathObservation... observations) {
        return text(new PathRowEncoder().encode(requireNonNull(PathJudge.judge(List.of(observations), Tenants.NONE))));
    }

    private static PathObservation seen(String tap, long senderMillis, long second) {
        Row row = new Row(
                Row.Table.LIMITATION_INTERVALS,
                new FlowIdentity(
                        7,
                        tap,
                        0,
                        FlowKey.ipv4Lower(1),
                        40_000,
                        0,
                        FlowKey.ipv4Lower(2),
                        443,
                        Row.NULL,
                        Row.NULL,
                        "",
                        ""));
        row.set(RowField.DIRECTION, Direction.CLIENT_TO_SERVER)
                .set(RowField.INTERVAL_START, second * SECOND)
                .set(RowField.INTERVAL_END, (second + 1) * SECOND)
                .set(RowField.VERSION, 1)
                .set(RowField.ROOT_CAUSE, RootCause.TRANSPORT)
                .set(RowField.QUALITY, 0)
                .set(RowField.DOMAIN, 0)
                .set(RowField.DATA_BYTES, 1_448_000)
                .set(RowField.SHARE_TRANSPORT, SECOND)
                .set(RowField.SENDER_SIDE_MIN_NS, senderMillis * 1_000_000)
                .set(RowField.RECEIVER_SIDE_MIN_NS, (40 - senderMillis) * 1_000_000);
        return requireNonNull(PathObservation.of(row, SECOND));
    }

    private static KeyedOneInputStreamOperatorTestHarness<FlowKey, PathObservation, EncodedRow> harness(Backend backend)
            throws Exception {
        KeyedOneInputStreamOperatorTestHarness<FlowKey, PathObservation, EncodedRow> harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        new KeyedProcessOperator<>(new FlowPathFunction(Tenants.NONE)),
                        PathObservation::key,
                        PathObservations.keyType());
        harness.setStateBackend(backend.make());
        harness.setup(
                EncodedRow.type().createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    private static void feed(
            KeyedOneInputStreamOperatorTestHarness<FlowKey, PathObservation, EncodedRow> harness,
            PathObservation... observations)
            throws Exception {
        for (PathObservation observation : observations) {
            harness.processElement(new StreamRecord<>(observation, NOW));
        }
    }

    private static List<String> rows(
            KeyedOneInputStreamOperatorTestHarness<FlowKey, PathObservation, EncodedRow> harness) {
        return harness.extractOutputValues().stream()
                .map(FlowPathFunctionTest::text)
                .toList();
    }

    private static String text(EncodedRow row) {
        return row.table() + " " + row.day() + " " + HexFormat.of().formatHex(row.bytes());
    }
}
