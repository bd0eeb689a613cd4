// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.flow.FlowAnalysisFunction;
import io.chokepoint.job.flow.FlowPathFunction;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.LedgerRows;
import io.chokepoint.job.sink.RowEncoder;
import io.chokepoint.job.sink.Table;
import io.chokepoint.job.source.BatchSplitter;
import io.chokepoint.job.source.KafkaRecord;
import io.chokepoint.job.source.RejectedRecord;
import io.chokepoint.job.source.WriterSchemas;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole graph between its ends, killed in the middle: the rows are those of the core, and the books balance. */
class RestartTest {
    private static final Set<Table> ROW_TABLES =
            Set.of(Table.LIMITATION_INTERVALS, Table.FLOWS, Table.LIMITATION_MINUTES);
    private static final int PARTITIONS = 2;
    private static final int FLOWS = 12;
    private static final long NOW_MILLIS = 1_800_000_000_000L;
    private static final BatchHeader HEADER =
            new BatchHeader("probe-1", "leaf1", 5, 0, PARTITIONS, 0, "NIC", Map.of("frames_received", 1000L));

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
                    .setNumberTaskManagers(1)
                    .setNumberSlotsPerTaskManager(2)
                    .build());

    private static final List<KafkaRecord> RECORDS = records();
    private static final Queue<EncodedRow> ROWS = new ConcurrentLinkedQueue<>();
    private static final Queue<RejectedRecord> REJECTED = new ConcurrentLinkedQueue<>();
    private static final AtomicInteger FAILURES = new AtomicInteger();

    @BeforeEach
    void nothingArrivedYet() {
        ROWS.clear();
        REJECTED.clear();
        FAILURES.set(0);
    }

    @ParameterizedTest(name = "parallelism {0}, {1}, {2} bytes of live flows")
    @CsvSource({"1, hashmap, 100000000", "2, hashmap, 9000", "2, rocksdb, 100000000", "2, rocksdb, 9000"})
    void aRestartChangesNothing(int parallelism, String backend, long liveBytes) throws Exception {
        run(parallelism, backend, liveBytes);

        assertThat(FAILURES).as("failures").hasValue(1);
        assertThat(rows()).isEqualTo(rowsOfTheCore());
        Map<String, List<Long>> ranges = sumsOfRanges();
        assertThat(totals()).isEqualTo(expectedTotals());
        assertThat(ranges).as("ranges, summed").isEqualTo(amounts(totals()));
        assertThat(REJECTED.stream().map(RejectedRecord::offset).distinct())
                .as("at least once")
                .hasSize(badRecords());
    }

    private static void run(int parallelism, String backend, long liveBytes) throws Exception {
        Configuration configuration = LimitationJob.configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(configuration)
                .setParallelism(parallelism);
        GeneratorFunction<Long, KafkaRecord> record = index -> RECORDS.get(index.intValue());
        DataGeneratorSource<KafkaRecord> source = new DataGeneratorSource<>(
                record, RECORDS.size(), RateLimiterStrategy.perCheckpoint(12 * parallelism), KafkaRecord.type());
        WatermarkStrategy<KafkaRecord> byTheLog = WatermarkStrategy.<KafkaRecord>forMonotonousTimestamps()
                .withTimestampAssigner((element, timestamp) -> element.appendedMillis());
        DataStream<KafkaRecord> records = environment
                .fromSource(source, byTheLog, "batches")
                .map(new FailOnce())
                .returns(KafkaRecord.type());
        LimitationJob.connect(
                records,
                new BatchSplitter(
                        new BatchSplitter.Topic("tcp-segments", PARTITIONS, 0),
                        new WriterSchemas(new None()),
                        AnalysisSettings.DEFAULT),
                new FlowAnalysisFunction(AnalysisSettings.DEFAULT, Duration.ofMinutes(30), "tcp-segments", liveBytes),
                new FlowPathFunction(Tenants.NONE),
                new Collect<>(Into.ROWS),
                new Collect<>(Into.REJECTED));
        environment.execute();
    }

    /** The records of partition 0, then as many of partition 1: a source of parallelism 2 reads one each. */
    private static List<KafkaRecord> records() {
        List<RunSpec> runs = new ArrayList<>();
        for (int flow = 0; flow < FLOWS; flow++) {
            runs.addAll(script(40_000 + flow, 20 + 10 * flow).runs(new RunCutter(8, true, false)));
        }
        runs.sort(Comparator.comparingLong(RunSpec::observedUntilNs));
        List<List<byte[]>> values = List.of(new ArrayList<>(), new ArrayList<>());
        SegmentBatchReader batch = new SegmentBatchReader();
        for (byte[] value : new BatchEncoder(HEADER).encode(runs, 3)) {
            assertThat(batch.read(value)).isEqualTo(DecodeStatus.OK);
            values.get(batch.partition()).add(value);
        }
        int length = 1 + Math.max(values.get(0).size(), values.get(1).size());
        List<KafkaRecord> records = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (int offset = 0; offset < length; offset++) {
                List<byte[]> good = values.get(partition);
                byte[] value = offset < good.size() ? good.get(offset) : new byte[] {1, 2, 3};
                records.add(new KafkaRecord(value, partition, 1000L * partition + offset, NOW_MILLIS + offset));
            }
        }
        return List.copyOf(records);
    }

    private static PacketScript script(int clientPort, int dataPackets) {
        return PacketScript.parse("""
            flow A 10.0.0.1:%d B 10.0.0.2:443
            timestamps
            mss 1448
            +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
            +0.001 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
            +0.000 A > B .  0:0(0) ack 1  win 502
            repeat %d {
            +0.029 A > B P. +1448  ack @
            +0.001 B > A .  0:0(0) ack @  win 509
            }
            end FIN
            """.formatted(clientPort, dataPackets));
    }

    private static Set<String> rows() {
        return ROWS.stream()
                .filter(row -> ROW_TABLES.contains(row.table()))
                .map(RestartTest::text)
                .collect(Collectors.toSet());
    }

    private static Set<String> rowsOfTheCore() {
        List<String> rows = new ArrayList<>();
        RowEncoder encoder = new RowEncoder();
        RowSink sink = new RowSink() {
            @Override
            public void accept(Row row) {
                rows.add(text(encoder.encode(row)));
            }

            @Override
            public void acceptMinute(MinuteRow row) {
                rows.add(text(encoder.encode(row)));
            }
        };
        Map<FlowKey, FlowAnalysis> flows = new HashMap<>();
        eachRun((batch, run) -> flows.computeIfAbsent(
                        run.key(), key -> new FlowAnalysis(AnalysisSettings.DEFAULT, batch.tap()))
                .onRun(run, batch.session(), batch.timestampResolutionNs(), sink));
        assertThat(rows).doesNotHaveDuplicates().hasSizeGreaterThan(2 * FLOWS);
        return Set.copyOf(rows);
    }

    private interface RunConsumer {
        void accept(SegmentBatchReader batch, Run run);
    }

    private static void eachRun(RunConsumer consumer) {
        SegmentBatchReader batch = new SegmentBatchReader();
        RunReader reader = new RunReader();
        Run run = new Run();
        for (KafkaRecord record : RECORDS) {
            byte[] value = record.value();
            if (batch.read(value) == DecodeStatus.OK) {
                for (int i = 0; i < batch.runs(); i++) {
                    reader.read(value, batch.runOffset(i), batch.runLength(i), run);
                    consumer.accept(batch, run);
                }
            }
        }
    }

    private static int badRecords() {
        SegmentBatchReader batch = new SegmentBatchReader();
        return (int) RECORDS.stream()
                .filter(record -> batch.read(record.value()) != DecodeStatus.OK)
                .count();
    }

    private static String text(EncodedRow row) {
        return row.table() + " " + HexFormat.of().formatHex(row.bytes());
    }

    /** As the table keeps them: of the rows of a key the one with the highest version. */
    private static Map<String, List<Long>> totals() {
        Map<String, List<Long>> totals = new TreeMap<>();
        for (EncodedRow row : ROWS) {
            if (row.table() == Table.LEDGER) {
                ByteBuffer bytes = ByteBuffer.wrap(row.bytes()).order(ByteOrder.LITTLE_ENDIAN);
                String tap = string(bytes);
                long session = bytes.getLong();
                String key =
                        tap + " " + session + " " + bytes.getShort() + " " + bytes.getShort() + " " + string(bytes);
                List<Long> total = List.of(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
                totals.merge(key, total, (one, other) -> one.get(3) >= other.get(3) ? one : other);
            }
        }
        return totals;
    }

    private static Map<String, List<Long>> amounts(Map<String, List<Long>> totals) {
        Map<String, List<Long>> amounts = new TreeMap<>();
        totals.forEach((key, total) -> amounts.put(key, total.subList(0, 3)));
        return amounts;
    }

    /** Batches, runs and packets of each key of {@link #totals()}, over the ranges as their table keeps them. */
    private static Map<String, List<Long>> sumsOfRanges() {
        Map<String, List<Long>> ranges = new HashMap<>();
        Map<String, String> keys = new HashMap<>();
        for (EncodedRow row : ROWS) {
            if (row.table() == Table.LEDGER_RANGES) {
                ByteBuffer bytes = ByteBuffer.wrap(row.bytes()).order(ByteOrder.LITTLE_ENDIAN);
                String origin = string(bytes) + " " + bytes.getLong() + " " + bytes.getShort() + " " + bytes.getShort();
                int minute = bytes.getInt();
                String key = origin + " " + string(bytes);
                long fromSequence = bytes.getLong();
                bytes.getLong();
                String range = key + " " + minute + " " + fromSequence + " " + bytes.getLong();
                bytes.getLong();
                List<Long> amount = List.of(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
                keys.put(range, key);
                ranges.merge(range, amount, (one, other) -> one.get(3) > other.get(3) ? one : other);
            }
        }
        Map<String, List<Long>> sums = new TreeMap<>();
        ranges.forEach((range, amount) -> sums.merge(
                requireNonNull(keys.get(range)),
                amount.subList(0, 3),
                (one, other) ->
                        List.of(one.get(0) + other.get(0), one.get(1) + other.get(1), one.get(2) + other.get(2))));
        return sums;
    }

    private static String string(ByteBuffer bytes) {
        byte[] text = new byte[bytes.get()];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static Map<String, List<Long>> expectedTotals() {
        Map<BatchOrigin, Amount> consumed = new LinkedHashMap<>();
        Map<Integer, Long> bad = new HashMap<>();
        SegmentBatchReader batch = new SegmentBatchReader();
        for (KafkaRecord record : RECORDS) {
            if (batch.read(record.value()) == DecodeStatus.OK) {
                BatchOrigin origin = new BatchOrigin(batch.tap(), batch.session(), batch.worker(), batch.partition());
                consumed.merge(origin, new Amount(1, batch.runs(), batch.packets()), RestartTest::sum);
            } else {
                bad.merge(record.partition(), 1L, Long::sum);
            }
        }
        LedgerRows rows = new LedgerRows();
        ROWS.clear();
        consumed.forEach((origin, amount) -> {
            ROWS.add(rows.ledger(origin, "consumed", amount, amount.sum()));
            Amount contributed = new Amount(0, amount.runs(), amount.packets());
            ROWS.add(rows.ledger(origin, "contributed", contributed, contributed.sum()));
        });
        bad.forEach((partition, count) -> ROWS.add(rows.ledger(
                BatchOrigin.unknown(partition), "rejected_not_single_object", new Amount(count, 0, 0), count)));
        return totals();
    }

    private static Amount sum(Amount one, Amount other) {
        return new Amount(one.batches() + other.batches(), one.runs() + other.runs(), one.packets() + other.packets());
    }

    /** Fails at the first record after a checkpoint in the middle of its share. */
    private static final class FailOnce extends RichMapFunction<KafkaRecord, KafkaRecord>
            implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        private transient int seen;
        private transient boolean isDue;

        @Override
        public KafkaRecord map(KafkaRecord record) {
            seen++;
            if (isDue && FAILURES.compareAndSet(0, 1)) {
                throw new IllegalStateException("planned failure");
            }
            return record;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            isDue = seen > RECORDS.size() / (2 * PARTITIONS);
        }
    }

    /** Nobody has published a schema. */
    private static final class None implements WriterSchemas.Directory {
        private static final long serialVersionUID = 1L;

        @Override
        public Optional<Schema> find(long fingerprint) {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }

    /** Where a sink puts what it gets: the cluster lives in this process. */
    private enum Into {
        ROWS,
        REJECTED
    }

    private record Collect<T>(Into into) implements Sink<T> {
        @Override
        public SinkWriter<T> createWriter(WriterInitContext context) {
            return new SinkWriter<>() {
                @Override
                public void write(T element, Context sinkContext) {
                    switch (into) {
                        case ROWS -> ROWS.add((EncodedRow) element);
                        case REJECTED -> REJECTED.add((RejectedRecord) element);
                    }
                }

                @Override
                public void flush(boolean endOfInput) {}

                @Override
                public void close() {}
            };
        }
    }
}
