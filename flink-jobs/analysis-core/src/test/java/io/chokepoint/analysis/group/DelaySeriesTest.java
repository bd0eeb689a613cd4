// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.Direction;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DelaySeriesTest {
    private static final long START = 7_000_000_001L; // of the running second, in the flow's time
    private static final long EPOCH_SECOND = 1_800_000_000_000_000_000L;
    private static final long MILLI = 1_000_000;

    private DelaySeries series = new DelaySeries();

    @BeforeEach
    void begin() {
        series.begin(START);
    }

    private @Nullable Observation observe() {
        return series.observe(1, Direction.CLIENT_TO_SERVER, EPOCH_SECOND, 10 * MILLI, 20 * MILLI, 5);
    }

    @Test
    void delaysFallIntoTheBinInWhichTheirDataPassed() throws IOException {
        series.addBytes(3_000);
        series.addAfterTap(START + 10 * MILLI, 30 * MILLI);
        series.addAfterTap(START + 49 * MILLI, 32 * MILLI);
        series.addAfterTap(START + 50 * MILLI, 40 * MILLI);
        series.addAfterTap(START - 1, 50 * MILLI); // of the second before, and late
        series.addAfterTap(START - 1_100 * MILLI, 90 * MILLI); // of the one before that
        series = restored(series);

        Observation observation = requireNonNull(observe());

        assertThat(observation.side()).isEqualTo(BottleneckSide.AFTER_TAP);
        assertThat(observation.layerBytes()).isEqualTo(3_000);
        assertThat(observation.delaysMicros()).hasSize(40);
        assertThat(observation.delaysMicros()[19]).isEqualTo(50_000);
        assertThat(observation.delaysMicros()[20]).as("mean").isEqualTo(31_000);
        assertThat(observation.delaysMicros()[21]).isEqualTo(40_000);
        assertThat(observation.queueNanos()).as("mean of the bins − 20 ms").isBetween(20_333_333L, 20_333_334L);
        assertThat(restored(observation)).isEqualTo(observation);
    }

    @Test
    void theSideThatIsHeldUpLongerHasTheQueue() {
        series.addBytes(1);
        for (int bin = 0; bin < 20; bin++) {
            series.addAfterTap(START + bin * DelaySeries.BIN_NANOS, 21 * MILLI);
            series.addBeforeTap(START + bin * DelaySeries.BIN_NANOS, 13 * MILLI);
        }

        assertThat(requireNonNull(observe()).side()).isEqualTo(BottleneckSide.BEFORE_TAP);
    }

    @Test
    void withoutAQueueNothingIsTold() {
        series.addBytes(1);
        for (int bin = 0; bin < 20; bin++) {
            series.addAfterTap(START + bin * DelaySeries.BIN_NANOS, 20 * MILLI + 600_000);
        }

        assertThat(observe()).isNull();
    }

    @Test
    void whoSentNothingTellsNothing() {
        series.addAfterTap(START, 50 * MILLI);
        series.addAfterTap(START + DelaySeries.BIN_NANOS, 50 * MILLI);

        assertThat(observe()).isNull();
    }

    @Test
    void theNextSecondBeginsEmpty() throws IOException {
        series.addBytes(1);
        series.addAfterTap(START, 50 * MILLI);
        series.begin(START + DelaySeries.SECOND_NANOS);
        series.addBytes(1);

        assertThat(observe()).isNull();
        assertThat(bytes(series).length).as("bytes of an idle series").isLessThan(12);
    }

    @Test
    void anObservationKeepsItsTenantsWhichDoNotMakeItAnother() throws IOException {
        Observation nobodys = Queues.flow(1, bin -> 5_000, 0, 100).get(0);
        Observation ours = nobodys.between("server", "client");

        assertThat(restored(ours).tenants()).containsExactly("client", "server");
        assertThat(restored(nobodys.between("", "one")).tenants()).containsExactly("one");
        assertThat(nobodys.between("one", "one").tenants()).containsExactly("one");
        assertThat(restored(nobodys).tenants()).isEmpty();
        assertThat(restored(ours)).isEqualTo(nobodys).hasSameHashCodeAs(nobodys);
    }

    private static byte[] bytes(DelaySeries series) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        series.writeTo(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static DelaySeries restored(DelaySeries series) throws IOException {
        DelaySeries restored = new DelaySeries();
        restored.readFrom(new DataInputStream(new ByteArrayInputStream(bytes(series))));
        return restored;
    }

    private static Observation restored(Observation observation) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        observation.writeTo(new DataOutputStream(bytes));
        return Observation.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    }
}
