// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.job.JobOptions.WrongOption;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.Books;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.flow.FlowAnalysisFunction;
import io.chokepoint.job.flow.FlowAnalysisOperator;
import io.chokepoint.job.flow.FlowAtTap;
import io.chokepoint.job.flow.FlowPathFunction;
import io.chokepoint.job.flow.PathObservations;
import io.chokepoint.job.flow.TapRun;
import io.chokepoint.job.group.GroupFunction;
import io.chokepoint.job.group.TapObservation;
import io.chokepoint.job.group.TapWindow;
import io.chokepoint.job.sink.ClickHouseSink;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.source.BatchSplitter;
import io.chokepoint.job.source.KafkaRecord;
import io.chokepoint.job.source.RejectedRecord;
import io.chokepoint.job.source.SchemaTopic;
import io.chokepoint.job.source.WriterSchemas;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka in, keyed analysis, ClickHouse out.
 *
 * <pre>
 * batches ─ split ─ keyBy(flow, tap) ─ analyse ─ rows ──────────┐
 *             │                           ├─ keyBy(tap, window) ─ groups ┤
 *             │                           ├─ keyBy(flow) ─ paths ┤
 *             ├─ rows of short flows ─────┼─────────────────────┤
 *             │                           │                     ├─ ClickHouse
 *             ├───────────── ledger ──────┴─ keyBy(origin) ─ books ┘
 *             └─ refused ────────────────────────────────────────── Kafka
 * </pre>
 */
public final class LimitationJob {
    private static final Logger LOG = LoggerFactory.getLogger(LimitationJob.class);
    /**
     * A partition without records for so long no longer holds back the cleaning up. Long, because one whose broker is
     * only slow would otherwise have its flows ended before the rest of them is read.
     */
    private static final Duration IDLE_PARTITION = Duration.ofMinutes(10);
    /** Fixed for the life of the state, so it does not depend on the cluster. */
    private static final int MAX_PARALLELISM = 1024;

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int WRONG_OPTIONS = 2;
    private static final int FAILED = 1;

    private LimitationJob() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--print-options")) {
            System.out.print(JobOptions.markdown());
            return;
        }
        try {
            JobOptions options = JobOptions.parse(arguments, System.getenv());
            LOG.info("effective options {}", options);
            int partitions = partitions(options);
            StreamExecutionEnvironment environment =
                    StreamExecutionEnvironment.getExecutionEnvironment(configuration());
            build(environment, options, partitions);
            environment.execute(options.group());
        } catch (WrongOption e) {
            System.err.println("limitation-job: " + e.getMessage());
            System.exit(WRONG_OPTIONS);
        } catch (KafkaException e) {
            System.err.println("limitation-job: Kafka does not answer or lacks the topic: " + e.getMessage());
            System.exit(FAILED);
        }
    }

    static Configuration configuration() {
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.GENERIC_TYPES, false);
        configuration.set(PipelineOptions.OBJECT_REUSE, true);
        configuration.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
        return configuration;
    }

    /** The partition count of a topic never changes, so it is asked once. */
    private static int partitions(JobOptions options) throws WrongOption {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(options.kafka(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            int partitions = consumer.partitionsFor(options.topic(), PATIENCE).size();
            if (partitions == 0) {
                throw new WrongOption("topic " + options.topic() + " does not exist: chokepoint migrate makes it");
            }
            return partitions;
        }
    }

    static void build(StreamExecutionEnvironment environment, JobOptions options, int partitions) throws WrongOption {
        BatchSplitter.Topic topic = new BatchSplitter.Topic(options.topic(), partitions, options.hashSeed());
        WriterSchemas schemas = new WriterSchemas(new SchemaTopic(options.kafka(), options.schemaTopic()));
        DataStream<KafkaRecord> records =
                environment.fromSource(source(options), byTheLog(), "batches").uid("batches");
        connect(
                records,
                new BatchSplitter(topic, schemas, options.settings()),
                new FlowAnalysisFunction(options.settings(), options.idle(), options.topic(), options.liveBytes()),
                new FlowPathFunction(options.settings().tenants()),
                new ClickHouseSink(options.clickHouse()),
                rejected(options));
    }

    /** Everything between the ends, which tests replace. */
    static void connect(
            DataStream<KafkaRecord> records,
            BatchSplitter splitter,
            FlowAnalysisFunction analysis,
            FlowPathFunction paths,
            Sink<EncodedRow> rowSink,
            Sink<RejectedRecord> rejectedSink) {
        SingleOutputStreamOperator<TapRun> runs =
                records.process(splitter).returns(TapRun.type()).name("split").uid("split");

        SingleOutputStreamOperator<EncodedRow> rows = runs.keyBy(TapRun::key, FlowAtTap.type())
                .transform("analyse", EncodedRow.type(), new FlowAnalysisOperator(analysis))
                .uid("analyse");

        DataStream<EncodedRow> groups = rows.getSideOutput(FlowAnalysisFunction.OBSERVATIONS)
                .keyBy(TapObservation::window, TapWindow.type())
                .process(new GroupFunction(analysis.version()), EncodedRow.type())
                .name("groups")
                .uid("groups");

        DataStream<LedgerEntry> ledger =
                runs.getSideOutput(BatchSplitter.LEDGER).union(rows.getSideOutput(FlowAnalysisFunction.LEDGER));
        DataStream<EncodedRow> books = ledger.keyBy(LedgerEntry::origin, BatchOrigin.type())
                .process(new Books(), EncodedRow.type())
                .name("books")
                .uid("books");

        DataStream<EncodedRow> pathRows = rows.getSideOutput(FlowAnalysisFunction.PATH_OBSERVATIONS)
                .keyBy(PathObservation::key, PathObservations.keyType())
                .process(paths, EncodedRow.type())
                .name("paths")
                .uid("paths");

        rows.union(runs.getSideOutput(BatchSplitter.ROWS), books, groups, pathRows)
                .sinkTo(rowSink)
                .setParallelism(1)
                .name("clickhouse")
                .uid("clickhouse");
        runs.getSideOutput(BatchSplitter.REJECTED)
                .union(rows.getSideOutput(FlowAnalysisFunction.REJECTED))
                .sinkTo(rejectedSink)
                .name("rejected")
                .uid("rejected");
    }

    private static KafkaSource<KafkaRecord> source(JobOptions options) throws WrongOption {
        KafkaSourceBuilder<KafkaRecord> builder = KafkaSource.<KafkaRecord>builder()
                .setProperties(options.kafka())
                .setTopics(options.topic())
                .setGroupId(options.group())
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setProperty("partition.discovery.interval.ms", "-1")
                .setDeserializer(new KafkaRecord.FromKafka());
        return (options.isBounded() ? builder.setBounded(OffsetsInitializer.latest()) : builder).build();
    }

    /** Log-append time: it only cleans up, so that no tap's clock can delay or hasten another's rows. */
    private static WatermarkStrategy<KafkaRecord> byTheLog() {
        return WatermarkStrategy.<KafkaRecord>forMonotonousTimestamps()
                .withTimestampAssigner((record, timestamp) -> record.appendedMillis())
                .withIdleness(IDLE_PARTITION);
    }

    private static KafkaSink<RejectedRecord> rejected(JobOptions options) throws WrongOption {
        return KafkaSink.<RejectedRecord>builder()
                .setKafkaProducerConfig(options.kafka())
                .setBootstrapServers(options.kafka().getProperty("bootstrap.servers"))
                .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                .setRecordSerializer(new RejectedRecord.ToKafka(options.rejectedTopic()))
                .build();
    }
}
