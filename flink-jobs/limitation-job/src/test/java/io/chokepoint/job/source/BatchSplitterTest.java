// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.flow.TapRun;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.Table;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.SummarySpec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.ProcessFunctionTestHarnesses;
import org.apache.flink.util.OutputTag;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class BatchSplitterTest {
    private static final int PARTITION = 0;
    private static final long NOW = 1_800_000_000_000L;
    private static final Map<String, Long> COUNTERS = Map.of("frames_received", 1000L);
    private static final BatchHeader HEADER = new BatchHeader("probe-1", "leaf1", 5, 3, 1, 0x5eedL, "NIC", COUNTERS);
    private static final BatchEncoder ENCODER = new BatchEncoder(HEADER);
    private static final BatchOrigin ORIGIN = new BatchOrigin("leaf1", 5, 3, PARTITION);
    private static final List<RunSpec> RUNS =
            PacketScript.load("receiver-window-limited").runs(RunCutter.PROBE);
    private static final byte[] GOOD = ENCODER.encode(RUNS, RUNS.size()).get(0);

    private static final SummarySpec MOUSE = new SummarySpec(
            RUNS.get(0).flow(),
            NOW * 1_000_000,
            52_000_000,
            0,
            "FIN",
            0,
            99L,
            1,
            20_000_000L,
            1_000_000L,
            new SummarySpec.Sent(5, 1, 300, 40, 300, 300, 0, 1400, 7),
            new SummarySpec.Sent(4, 2, 1500, 80, 1500, 1400, 1, 1460, 7));

    private final SchemasInMemory directory = new SchemasInMemory();
    private OneInputStreamOperatorTestHarness<KafkaRecord, TapRun> harness;

    @BeforeEach
    void open() throws Exception {
        BatchSplitter.Topic topic = new BatchSplitter.Topic("tcp-segments", 1, 0x5eedL);
        harness = ProcessFunctionTestHarnesses.forProcessFunction(
                new BatchSplitter(topic, new WriterSchemas(directory), AnalysisSettings.DEFAULT));
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    @Test
    void aBatchBecomesItsRunsAsTheyLay() throws Exception {
        feed(GOOD);

        List<TapRun> runs = harness.extractOutputValues();
        assertThat(runs).extracting(BatchSplitterTest::hex).containsExactlyElementsOf(hexOf(RUNS));
        assertThat(runs).extracting(TapRun::origin).containsOnly(ORIGIN);
        assertThat(runs).extracting(run -> run.key().tap()).containsOnly("leaf1");
        assertThat(runs).extracting(run -> run.key().flow().lowPort()).containsOnly(40_000);
        assertThat(runs).extracting(TapRun::timestampResolutionNs).containsOnly(1L);
        assertThat(runs)
                .extracting(TapRun::packets)
                .containsExactlyElementsOf(
                        RUNS.stream().map(run -> run.packets().size()).toList());
    }

    @Test
    void theLedgerIsToldOfABatch() throws Exception {
        feed(GOOD);

        int packets = RUNS.stream().mapToInt(run -> run.packets().size()).sum();
        assertThat(ledger())
                .containsExactly(new LedgerEntry.Batch(
                        ORIGIN, "consumed", "probe-1", 0, 0, new Amount(1, RUNS.size(), packets), NOW, COUNTERS));
    }

    /** Bad runs have a fate of their own, where they are decoded. */
    @ParameterizedTest
    @EnumSource(
            value = Rejection.class,
            mode = Mode.EXCLUDE,
            names = {"COLUMN_ORDER", "MISSING_COLUMN", "BAD_COLUMN"})
    void everyReasonIsCountedAndNothingElseIsAffected(Rejection reason) throws Exception {
        byte[] bad = refusedFor(reason);
        int recordPartition = reason == Rejection.PARTITION ? 1 : PARTITION;

        feed(GOOD);
        for (int i = 0; i < 3; i++) {
            harness.processElement(new StreamRecord<>(new KafkaRecord(bad, recordPartition, 70 + i, NOW)));
            feed(GOOD);
        }

        assertThat(rejected()).hasSize(3).allSatisfy(record -> {
            assertThat(record.reason()).isEqualTo(reason);
            assertThat(record.value()).isEqualTo(bad == null ? new byte[0] : bad);
            assertThat(record.partition()).isEqualTo(recordPartition);
        });
        assertThat(rejected()).extracting(RejectedRecord::offset).containsExactly(70L, 71L, 72L);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            expected.addAll(hexOf(RUNS));
        }
        assertThat(harness.extractOutputValues())
                .extracting(BatchSplitterTest::hex)
                .containsExactlyElementsOf(expected);
        assertThat(ledger()).hasSize(4 + 3);
        for (int i = 0; i < 3; i++) {
            assertThat(ledger().get(2 * i + 1)).isEqualTo(refusal(reason, recordPartition, 70 + i));
        }
    }

    /** Of a batch that could be read the ledger learns what is in it, of another record where it lies. */
    private static LedgerEntry refusal(Rejection reason, int recordPartition, long offset) {
        String fate = "rejected_" + reason.label();
        boolean isRead = EnumSet.of(Rejection.HASH_SEED, Rejection.PARTITION_COUNT, Rejection.PARTITION)
                .contains(reason);
        int packets = RUNS.stream().mapToInt(run -> run.packets().size()).sum();
        return isRead
                ? new LedgerEntry.Batch(
                        ORIGIN, fate, "probe-1", 0, 0, new Amount(1, RUNS.size(), packets), NOW, COUNTERS)
                : new LedgerEntry.Batch(
                        BatchOrigin.unknown(recordPartition), fate, "", offset, 0, new Amount(1, 0, 0), NOW, Map.of());
    }

    private byte[] refusedFor(Rejection reason) {
        GenericRecord batch = ENCODER.record(RUNS, PARTITION, 0, 0);
        return switch (reason) {
            case EMPTY -> null;
            case NOT_SINGLE_OBJECT -> "not a batch, but a line".getBytes(StandardCharsets.US_ASCII);
            case UNKNOWN_SCHEMA -> withFingerprint(0x0123_4567_89ab_cdefL, GOOD);
            case TRUNCATED -> Arrays.copyOf(GOOD, GOOD.length - 1);
            case BAD_VARINT -> withBytesBehindHeader(0xff, 10);
            case BAD_LENGTH -> withBytesBehindHeader(0x01, 1);
            case BAD_VALUE -> encoded(batch, "timestamp_resolution_ns", 0L);
            case COUNT_MISMATCH -> encoded(batch, "packets", 1);
            case TRAILING_BYTES -> Arrays.copyOf(GOOD, GOOD.length + 1);
            case NOT_CONVERTIBLE -> publishedWithout("tap");
            case HASH_SEED -> encoded(batch, "hash_seed", 1L);
            case PARTITION_COUNT -> encoded(batch, "partition_count", 2);
            case PARTITION -> GOOD;
            case COLUMN_ORDER, MISSING_COLUMN, BAD_COLUMN -> throw new IllegalArgumentException(reason + " is of runs");
        };
    }

    private static byte[] encoded(GenericRecord batch, String field, Object value) {
        batch.put(field, value);
        return ENCODER.singleObject(batch);
    }

    private static byte[] withFingerprint(long fingerprint, byte[] value) {
        return ByteBuffer.wrap(value.clone())
                .putLong(2, Long.reverseBytes(fingerprint))
                .array();
    }

    /** The length of the probe's name comes first. */
    private static byte[] withBytesBehindHeader(int value, int count) {
        byte[] bytes = GOOD.clone();
        int from = SegmentBatchReader.SINGLE_OBJECT_HEADER_BYTES;
        Arrays.fill(bytes, from, from + count, (byte) value);
        return bytes;
    }

    private byte[] publishedWithout(String field) {
        Schema lacking = reduced(field);
        directory.publish(lacking);
        return withFingerprint(SchemaNormalization.parsingFingerprint64(lacking), GOOD);
    }

    /** A schema that nothing can be converted from. */
    private static Schema reduced(String field) {
        List<Schema.Field> fields = BatchEncoder.SCHEMA.getFields().stream()
                .filter(known -> !known.name().equals(field))
                .map(known -> new Schema.Field(known, known.schema()))
                .toList();
        Schema schema = BatchEncoder.SCHEMA;
        return Schema.createRecord(schema.getName(), schema.getDoc(), schema.getNamespace(), false, fields);
    }

    @Test
    void aBatchOfANewerProbeIsConvertedIfItsSchemaIsPublished() throws Exception {
        Schema newer = withFieldInFront();
        GenericRecord batch = ENCODER.record(RUNS, PARTITION, 0, 0);
        GenericRecord newerBatch = new GenericData.Record(newer);
        newerBatch.put("invented_later", 7L);
        batch.getSchema().getFields().forEach(field -> newerBatch.put(field.name(), batch.get(field.name())));
        byte[] value = ENCODER.singleObject(newerBatch);

        feed(value);
        assertThat(rejected()).extracting(RejectedRecord::reason).containsExactly(Rejection.UNKNOWN_SCHEMA);
        directory.publish(newer);
        feed(value);
        feed(value);

        List<String> expected = new ArrayList<>(hexOf(RUNS));
        expected.addAll(hexOf(RUNS));
        assertThat(harness.extractOutputValues())
                .extracting(BatchSplitterTest::hex)
                .containsExactlyElementsOf(expected);
        assertThat(rejected()).hasSize(1);
        assertThat(directory.asked).as("looks at the directory").isEqualTo(2);
    }

    @Test
    void aRecordIsNotRefusedWhileNobodyKnowsItsSchema() throws Exception {
        GenericRecord batch = ENCODER.record(RUNS, PARTITION, 0, 0);
        byte[] value = ENCODER.singleObject(batch);
        value[2] ^= 1; // another fingerprint
        directory.fails = true;

        assertThatThrownBy(() -> feed(value)).isInstanceOf(TimeoutException.class);
        assertThat(rejected()).isEmpty();
        assertThat(ledger()).isEmpty();
    }

    private static Schema withFieldInFront() {
        List<Schema.Field> fields = new ArrayList<>();
        fields.add(new Schema.Field("invented_later", Schema.create(Schema.Type.LONG), "Later.", 0L));
        BatchEncoder.SCHEMA.getFields().forEach(field -> fields.add(new Schema.Field(field, field.schema())));
        Schema schema = BatchEncoder.SCHEMA;
        return Schema.createRecord(schema.getName(), schema.getDoc(), schema.getNamespace(), false, fields);
    }

    @Test
    void aSummaryBecomesItsRowsAtOnce() throws Exception {
        feed(ENCODER.singleObject(ENCODER.record(RUNS, List.of(MOUSE, MOUSE), PARTITION, 3, 0)));

        int packets = RUNS.stream().mapToInt(run -> run.packets().size()).sum();
        assertThat(harness.extractOutputValues()).hasSameSizeAs(RUNS);
        assertThat(rows()).hasSize(4).extracting(EncodedRow::table).containsOnly(Table.FLOWS);
        assertThat(ledger())
                .containsExactly(
                        new LedgerEntry.Batch(
                                ORIGIN,
                                "consumed",
                                "probe-1",
                                3,
                                0,
                                new Amount(1, RUNS.size() + 2, packets + 18),
                                NOW,
                                COUNTERS),
                        new LedgerEntry.Fate(ORIGIN, NOW / 60_000, "contributed", new Amount(0, 2, 18)));
    }

    @Test
    void aRecordWithABadSummaryIsRefusedAsAWhole() throws Exception {
        GenericRecord batch = ENCODER.record(RUNS, List.of(MOUSE, MOUSE), PARTITION, 0, 0);
        ((GenericRecord) ((List<?>) batch.get("summaries")).get(1)).put("duration_ns", -1L);
        feed(ENCODER.singleObject(batch));

        assertThat(rejected()).extracting(RejectedRecord::reason).containsExactly(Rejection.BAD_VALUE);
        assertThat(harness.extractOutputValues()).isEmpty();
        assertThat(rows()).isEmpty();
    }

    /** Of the first release, which knew no summaries. */
    @Test
    void aBatchOfAnOlderProbeIsConverted() throws Exception {
        Schema older = new Schema.Parser()
                .parse(Path.of(System.getProperty("chokepoint.root"), "schemas/avro/released/v1/segment_batch.avsc")
                        .toFile());
        GenericRecord batch = ENCODER.record(RUNS, PARTITION, 0, 0);
        GenericRecord olderBatch = new GenericData.Record(older);
        older.getFields().forEach(field -> olderBatch.put(field.name(), batch.get(field.name())));
        directory.publish(older);
        feed(ENCODER.singleObject(olderBatch));

        assertThat(harness.extractOutputValues())
                .extracting(BatchSplitterTest::hex)
                .containsExactlyElementsOf(hexOf(RUNS));
    }

    private List<EncodedRow> rows() {
        return sideOutput(BatchSplitter.ROWS);
    }

    private void feed(byte[] value) throws Exception {
        harness.processElement(new StreamRecord<>(new KafkaRecord(value, PARTITION, 7, NOW)));
    }

    private List<LedgerEntry> ledger() {
        return sideOutput(BatchSplitter.LEDGER);
    }

    private List<RejectedRecord> rejected() {
        return sideOutput(BatchSplitter.REJECTED);
    }

    private <T> List<T> sideOutput(OutputTag<T> tag) {
        var records = harness.getSideOutput(tag);
        return records == null
                ? List.of()
                : records.stream().map(StreamRecord::getValue).toList();
    }

    private static List<String> hexOf(List<RunSpec> runs) {
        return runs.stream()
                .map(run -> HexFormat.of().formatHex(ENCODER.run(run)))
                .toList();
    }

    private static String hex(TapRun run) {
        return HexFormat.of().formatHex(run.bytes(), run.from(), run.from() + run.length());
    }

    /** What probes have published so far. */
    private static final class SchemasInMemory implements WriterSchemas.Directory {
        private static final long serialVersionUID = 1L;

        private final transient Map<Long, Schema> published = new LinkedHashMap<>();
        private int asked;
        private boolean fails;

        void publish(Schema schema) {
            published.put(SchemaNormalization.parsingFingerprint64(schema), schema);
        }

        @Override
        public Optional<Schema> find(long fingerprint) {
            asked++;
            if (fails) {
                throw new TimeoutException("no broker answers");
            }
            return Optional.ofNullable(published.get(fingerprint));
        }

        @Override
        public void close() {}
    }
}
