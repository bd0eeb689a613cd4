// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.SummaryRows;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.analysis.batch.Summary;
import io.chokepoint.analysis.batch.SummaryReader;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.flow.FlowAtTap;
import io.chokepoint.job.flow.TapRun;
import io.chokepoint.job.sink.EncodedRow;
import io.chokepoint.job.sink.RowEncoder;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes batches apart into runs, which stay bytes, and summaries, each of which is a whole flow and becomes its rows here:
 * they need no state. A record is consumed or refused as a whole, with one reason, and the ledger is told which.
 */
public final class BatchSplitter extends ProcessFunction<KafkaRecord, TapRun> {
    /** What the ledger is told. */
    public static final OutputTag<LedgerEntry> LEDGER = new OutputTag<>("ledger", LedgerEntry.type());
    /** Rows of summaries. */
    public static final OutputTag<EncodedRow> ROWS = new OutputTag<>("rows", EncodedRow.type());
    /** Records that were refused. */
    public static final OutputTag<RejectedRecord> REJECTED = new OutputTag<>("rejected", RejectedRecord.type());

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(BatchSplitter.class);
    private static final long LOG_EVERY_MILLIS = 1000;
    private static final String CONTRIBUTED = RunFate.CONTRIBUTED.name().toLowerCase(Locale.ROOT);

    private final Topic topic;
    private final WriterSchemas schemas;
    private final long intervalNanos;
    private final Layer layer;
    private final int version;
    private final Tenants tenants;
    private transient AnalysisSettings settings;
    private transient SegmentBatchReader batch;
    private transient RunReader runReader;
    private transient Run run;
    private transient SummaryReader summaryReader;
    private transient RowEncoder encoder;
    private transient Counter summariesContributed;
    private transient Counter packetsContributed;
    private transient Counter consumed;
    private transient Counter converted;
    private transient Map<Rejection, Counter> rejected;
    private transient long loggedMillis;

    /**
     * What batches of a topic must agree on.
     *
     * @param partitions how many it has
     * @param hashSeed seed of the flow hash
     */
    public record Topic(String name, int partitions, long hashSeed) implements java.io.Serializable {}

    public BatchSplitter(Topic topic, WriterSchemas schemas, AnalysisSettings settings) {
        this.topic = topic;
        this.schemas = schemas;
        this.intervalNanos = settings.intervalNanos();
        this.layer = settings.layer();
        this.version = settings.version();
        this.tenants = settings.tenants();
    }

    @Override
    public void open(OpenContext context) {
        settings = new AnalysisSettings(intervalNanos, layer, version, tenants);
        batch = new SegmentBatchReader();
        summaryReader = new SummaryReader();
        encoder = new RowEncoder();
        runReader = new RunReader();
        run = new Run();
        consumed = getRuntimeContext().getMetricGroup().counter("batches_consumed");
        converted = getRuntimeContext().getMetricGroup().counter("batches_converted");
        summariesContributed = getRuntimeContext().getMetricGroup().counter("summaries_contributed");
        packetsContributed = getRuntimeContext().getMetricGroup().counter("packets_contributed_by_summaries");
        rejected = new EnumMap<>(Rejection.class);
        for (Rejection reason : Rejection.values()) {
            rejected.put(reason, getRuntimeContext().getMetricGroup().counter("batches_rejected_" + reason.label()));
        }
    }

    @Override
    public void close() {
        schemas.close();
    }

    @Override
    public void processElement(KafkaRecord record, Context context, Collector<TapRun> out) {
        byte[] value = record.value();
        if (value == null || value.length == 0) {
            rejectUnread(record, Rejection.EMPTY, context);
            return;
        }
        DecodeStatus status = batch.read(value);
        if (status == DecodeStatus.UNKNOWN_SCHEMA) {
            WriterSchemas.Conversion conversion = schemas.convert(value);
            byte[] bytes = conversion.bytes();
            if (bytes == null) {
                rejectUnread(record, conversion.reason(), context);
                return;
            }
            converted.inc();
            value = bytes;
            status = batch.read(value);
        }
        if (status != DecodeStatus.OK) {
            rejectUnread(record, Rejection.of(status), context);
            return;
        }
        Rejection reason = disagreement(record);
        if (reason != null) {
            reject(record, reason, context);
            return;
        }
        split(record, value, context, out);
    }

    private @Nullable Rejection disagreement(KafkaRecord record) {
        if (batch.hashSeed() != topic.hashSeed()) {
            return Rejection.HASH_SEED;
        }
        if (batch.partitionCount() != topic.partitions()) {
            return Rejection.PARTITION_COUNT;
        }
        return batch.partition() == record.partition() ? null : Rejection.PARTITION;
    }

    private void split(KafkaRecord record, byte[] value, Context context, Collector<TapRun> out) {
        BatchOrigin origin = new BatchOrigin(batch.tap(), batch.session(), batch.worker(), batch.partition());
        // All keys and summaries before the first run leaves: a record is used as a whole or not at all.
        FlowAtTap[] keys = new FlowAtTap[batch.runs()];
        for (int i = 0; i < keys.length; i++) {
            DecodeStatus status = runReader.readHeader(value, batch.runOffset(i), batch.runLength(i), run);
            if (status != DecodeStatus.OK) {
                reject(record, Rejection.of(status), context);
                return;
            }
            keys[i] = new FlowAtTap(run.key(), origin.tap());
        }
        Summary[] summaries = new Summary[batch.summaries()];
        for (int i = 0; i < summaries.length; i++) {
            DecodeStatus status = summaryReader.read(value, batch.summaryOffset(i), batch.summaryLength(i));
            if (status != DecodeStatus.OK) {
                reject(record, Rejection.of(status), context);
                return;
            }
            summaries[i] = summaryReader.summary();
        }
        for (int i = 0; i < keys.length; i++) {
            out.collect(new TapRun(
                    keys[i],
                    origin,
                    record.offset(),
                    batch.timestampResolutionNs(),
                    batch.runPackets(i),
                    value,
                    batch.runOffset(i),
                    batch.runLength(i)));
        }
        consumed.inc();
        context.output(LEDGER, entry(LedgerEntry.CONSUMED, record));
        writeRows(summaries, origin, record, context);
    }

    private void writeRows(Summary[] summaries, BatchOrigin origin, KafkaRecord record, Context context) {
        if (summaries.length == 0) {
            return;
        }
        for (Summary summary : summaries) {
            SummaryRows.write(settings, origin.tap(), summary, row -> context.output(ROWS, encoder.encode(row)));
        }
        summariesContributed.inc(summaries.length);
        packetsContributed.inc(batch.summarisedPackets());
        context.output(
                LEDGER,
                new LedgerEntry.Fate(
                        origin,
                        LedgerEntry.minuteOf(record.appendedMillis()),
                        CONTRIBUTED,
                        new Amount(0, summaries.length, batch.summarisedPackets())));
    }

    /** What the header says, of a batch that was read. */
    private LedgerEntry entry(String fate, KafkaRecord record) {
        Map<String, Long> counters = new LinkedHashMap<>();
        for (int i = 0; i < batch.counters(); i++) {
            counters.put(batch.counterName(i), batch.counterValue(i));
        }
        return new LedgerEntry.Batch(
                new BatchOrigin(batch.tap(), batch.session(), batch.worker(), batch.partition()),
                fate,
                batch.probe(),
                batch.sequence(),
                batch.packetsBefore() + batch.summarisedPacketsBefore(),
                new Amount(1, batch.runs() + batch.summaries(), (long) batch.packets() + batch.summarisedPackets()),
                record.appendedMillis(),
                counters);
    }

    /** A batch whose header could be read: its packets are refused, and not missing. */
    private void reject(KafkaRecord record, Rejection reason, Context context) {
        reject(record, reason, entry(reason.fate(), record), context);
    }

    /** A record of which nothing can be believed. */
    private void rejectUnread(KafkaRecord record, Rejection reason, Context context) {
        LedgerEntry entry = new LedgerEntry.Batch(
                BatchOrigin.unknown(record.partition()),
                reason.fate(),
                "",
                record.offset(),
                0,
                new Amount(1, 0, 0),
                record.appendedMillis(),
                Map.of());
        reject(record, reason, entry, context);
    }

    private void reject(KafkaRecord record, Rejection reason, LedgerEntry entry, Context context) {
        requireNonNull(rejected.get(reason)).inc();
        context.output(REJECTED, RejectedRecord.of(record, reason, topic.name()));
        context.output(LEDGER, entry);
        // By the time of the log, so that a flood of bad records does not become a flood of lines.
        if (record.appendedMillis() >= loggedMillis + LOG_EVERY_MILLIS || record.appendedMillis() < loggedMillis) {
            loggedMillis = record.appendedMillis();
            LOG.error(
                    "record refused reason={} topic={} partition={} offset={} expected_partitions={}"
                            + " expected_hash_seed={}",
                    reason.label(),
                    topic.name(),
                    record.partition(),
                    record.offset(),
                    topic.partitions(),
                    topic.hashSeed());
        }
    }
}
