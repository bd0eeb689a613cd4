// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.flow.FlowAtTap;
import io.chokepoint.job.flow.TapRun;
import io.chokepoint.job.group.TapWindow;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.LedgerRows;
import io.chokepoint.job.source.KafkaRecord;
import io.chokepoint.job.source.RejectedRecord;
import io.chokepoint.job.source.Rejection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ValueSerializerTest {
    private static final BatchOrigin ORIGIN = new BatchOrigin("läaf", Long.MIN_VALUE, 65_535, 31);
    private static final BatchOrigin OTHER = new BatchOrigin("läaf", 7, 0, 0);
    private static final FlowKey KEY = new FlowKey(3, 0, 0xffff_0a00_0001L, 65_535, 0x2001_0db8_0000_0000L, -1, 443);
    private static final FlowAtTap FLOW = new FlowAtTap(KEY, "läaf");

    /** A type, and values that follow each other. */
    private record Sample<T>(TypeInformation<T> type, List<T> values) {
        @Override
        public String toString() {
            return type.toString();
        }
    }

    static Stream<Sample<?>> samples() {
        byte[] bytes = {1, 2, 3, 4};
        Map<String, Long> counters = new LinkedHashMap<>();
        counters.put("z", 1L);
        counters.put("a", Long.MAX_VALUE);
        KafkaRecord record = new KafkaRecord(bytes, 7, 4242, 1_800_000_000_000L);
        LedgerRows rows = new LedgerRows();
        return Stream.of(
                new Sample<>(BatchOrigin.type(), List.of(ORIGIN, ORIGIN, OTHER, BatchOrigin.unknown(3), ORIGIN)),
                new Sample<>(TapWindow.type(), List.of(new TapWindow("läaf", Long.MIN_VALUE), new TapWindow("", 0))),
                new Sample<>(FlowAtTap.type(), List.of(FLOW, new FlowAtTap(KEY, ""))),
                new Sample<>(
                        TapRun.type(),
                        List.of(
                                new TapRun(FLOW, ORIGIN, 1, 1000, 256, bytes, 0, 4),
                                new TapRun(FLOW, ORIGIN, 2, 1, 0, new byte[0], 0, 0))),
                new Sample<>(KafkaRecord.type(), List.of(record, new KafkaRecord(null, 0, 0, -1))),
                new Sample<>(
                        RejectedRecord.type(),
                        List.of(RejectedRecord.of(record, Rejection.PARTITION_COUNT, "tcp-segments"))),
                new Sample<>(
                        EncodedRow.type(),
                        List.of(
                                rows.ledger(ORIGIN, "consumed", new Amount(1, 2, 3), 6),
                                rows.counter(ORIGIN, "p", "c", 30_000_000, 4))),
                new Sample<>(
                        LedgerEntry.type(),
                        List.of(
                                new LedgerEntry.Batch(ORIGIN, "consumed", "p", 1, 2, new Amount(1, 2, 3), 4, counters),
                                new LedgerEntry.Batch(
                                        OTHER, "rejected_partition", "p", 1, 2, new Amount(1, 2, 3), 4, Map.of()),
                                new LedgerEntry.Fate(OTHER, 30_000_000, "repeated", new Amount(0, 5, 6)))));
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void whatIsReadIsWhatWasWritten(Sample<T> sample) throws IOException {
        TypeSerializer<T> writer = serializer(sample.type());
        DataOutputSerializer out = new DataOutputSerializer(64);
        for (T value : sample.values()) {
            writer.serialize(value, out);
        }

        TypeSerializer<T> reader = serializer(sample.type());
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        for (T value : sample.values()) {
            assertThat(reader.deserialize(in)).usingRecursiveComparison().isEqualTo(value);
        }
        assertThat(in.available()).as("bytes left").isZero();
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void bytesAreCopiedAsTheyAre(Sample<T> sample) throws IOException {
        TypeSerializer<T> serializer = serializer(sample.type());
        byte[] bytes = written(serializer, sample.values().get(0));
        DataOutputSerializer out = new DataOutputSerializer(64);

        serializer(sample.type()).copy(new DataInputDeserializer(bytes), out);

        assertThat(out.getCopyOfBuffer()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void aSnapshotRestoresTheSerializer(Sample<T> sample) throws IOException {
        TypeSerializer<T> serializer = serializer(sample.type());
        DataOutputSerializer out = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(out, serializer.snapshotConfiguration());

        TypeSerializerSnapshot<T> old = TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(out.getCopyOfBuffer()), ValueSerializerTest.class.getClassLoader());

        assertThat(old.restoreSerializer()).isEqualTo(serializer);
        assertThat(serializer
                        .snapshotConfiguration()
                        .resolveSchemaCompatibility(old)
                        .isCompatibleAsIs())
                .isTrue();
    }

    @Test
    void aRunIsCutOutOfItsBatch() throws IOException {
        byte[] batch = {9, 9, 1, 2, 3, 9};
        TapRun run = new TapRun(FLOW, ORIGIN, 1, 1000, 256, batch, 2, 3);
        TypeSerializer<TapRun> serializer = serializer(TapRun.type());

        TapRun read = serializer.deserialize(new DataInputDeserializer(written(serializer, run)));

        assertThat(read.bytes()).containsExactly(1, 2, 3);
        assertThat(read.from()).isZero();
        assertThat(read.length()).isEqualTo(3);
    }

    /** Keys decide where state lies in a savepoint, by their bytes and by their hash. */
    @Test
    void keysOfVersion1AreThoseOfToday() {
        assertThat(GoldenFile.bytes("state/v1/flow-at-tap.hex", () -> keyBytes(FlowAtTap.type(), FLOW)))
                .isEqualTo(keyBytes(FlowAtTap.type(), FLOW));
        assertThat(GoldenFile.bytes("state/v1/batch-origin.hex", () -> keyBytes(BatchOrigin.type(), ORIGIN)))
                .isEqualTo(keyBytes(BatchOrigin.type(), ORIGIN));
        assertThat(FLOW.hashCode()).isEqualTo(466944503);
        assertThat(ORIGIN.hashCode()).isEqualTo(1540764355);
    }

    private static <T> byte[] keyBytes(TypeInformation<T> type, T key) {
        try {
            return written(serializer(type), key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> byte[] written(TypeSerializer<T> serializer, T value) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(value, out);
        return out.getCopyOfBuffer();
    }

    private static <T> TypeSerializer<T> serializer(TypeInformation<T> type) {
        return type.createSerializer(new SerializerConfigImpl());
    }
}
