// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/** Makes Kafka values of runs by the Avro library. An oracle: it shares no code with the reader. */
public final class BatchEncoder {
    /** The schema in this repository. */
    public static final Schema SCHEMA = readSchema();

    private static final Schema RUN = SCHEMA.getField("runs").schema().getElementType();
    private static final Schema COLUMN = RUN.getField("columns").schema().getElementType();
    private static final Schema SUMMARY = SCHEMA.getField("summaries").schema().getElementType();
    private static final Schema COUNTER = SCHEMA.getField("counters").schema().getElementType();
    private static final int MARKER = 0xc301;
    private static final int SINGLE_OBJECT_HEADER_BYTES = 10;

    private final BatchHeader header;
    private final boolean sizedBlocks;

    /**
     * An encoder for the batches of one worker.
     *
     * @param sizedBlocks whether arrays are written as blocks that start with a negative count and their size, the other
     *     of Avro's two legal forms
     */
    public BatchEncoder(BatchHeader header, boolean sizedBlocks) {
        this.header = header;
        this.sizedBlocks = sizedBlocks;
    }

    public BatchEncoder(BatchHeader header) {
        this(header, false);
    }

    /** Values of all partitions in the order of their first run, each with at most so many runs. */
    public List<byte[]> encode(List<RunSpec> runs, int maxRunsPerBatch) {
        Map<Integer, Position> positions = new TreeMap<>();
        Map<Integer, List<RunSpec>> open = new TreeMap<>();
        List<byte[]> values = new ArrayList<>();
        for (RunSpec run : runs) {
            int partition = header.partitionOf(run.flow());
            List<RunSpec> batch = open.computeIfAbsent(partition, p -> new ArrayList<>());
            batch.add(run);
            if (batch.size() == maxRunsPerBatch) {
                values.add(encodeNext(positions, partition, batch));
                batch.clear();
            }
        }
        open.forEach((partition, batch) -> {
            if (!batch.isEmpty()) {
                values.add(encodeNext(positions, partition, batch));
            }
        });
        return values;
    }

    private byte[] encodeNext(Map<Integer, Position> positions, int partition, List<RunSpec> runs) {
        Position position = positions.getOrDefault(partition, new Position(0, 0));
        int packets = runs.stream().mapToInt(run -> run.packets().size()).sum();
        positions.put(partition, new Position(position.sequence() + 1, position.packetsBefore() + packets));
        return singleObject(record(runs, partition, position.sequence(), position.packetsBefore()));
    }

    /** A batch as a record of the schema. */
    public GenericRecord record(List<RunSpec> runs, int partition, long sequence, long packetsBefore) {
        return header.builder(SCHEMA, COUNTER)
                .set("partition", partition)
                .set("sequence", sequence)
                .set("packets_before", packetsBefore)
                .set(
                        "packets",
                        runs.stream().mapToInt(run -> run.packets().size()).sum())
                .set("runs", runs.stream().map(BatchEncoder::runRecord).collect(Collectors.toList()))
                .build();
    }

    /** The same with summaries, before which there were none. */
    public GenericRecord record(
            List<RunSpec> runs, List<SummarySpec> summaries, int partition, long sequence, long packetsBefore) {
        GenericRecord batch = record(runs, partition, sequence, packetsBefore);
        batch.put(
                "summarised_packets",
                summaries.stream().mapToInt(SummarySpec::packets).sum());
        batch.put(
                "summaries", summaries.stream().map(BatchEncoder::summaryRecord).collect(Collectors.toList()));
        return batch;
    }

    /** A summary as a record of the schema. */
    public static GenericRecord summaryRecord(SummarySpec summary) {
        Flow flow = summary.flow();
        return place(SUMMARY, flow)
                .set("flow_start_ns", summary.flowStartNs())
                .set("duration_ns", summary.durationNs())
                .set("quiet_ns", summary.quietNs())
                .set(
                        "end_reason",
                        new GenericData.EnumSymbol(RUN.getField("end_reason").schema(), summary.endReason()))
                .set("client", summary.client())
                .set("client_sequence_number", summary.clientSequenceNumber())
                .set("syns", summary.syns())
                .set("server_delay_ns", summary.serverDelayNs())
                .set("client_delay_ns", summary.clientDelayNs())
                .set("sent_by_low", sentRecord(summary.sentByLow()))
                .set("sent_by_high", sentRecord(summary.sentByHigh()))
                .build();
    }

    private static GenericRecord sentRecord(SummarySpec.Sent sent) {
        return new GenericRecordBuilder(SUMMARY.getField("sent_by_low").schema())
                .set("packets", sent.packets())
                .set("data_packets", sent.dataPackets())
                .set("data_bytes", sent.dataBytes())
                .set("header_bytes", sent.headerBytes())
                .set("acknowledged_bytes", sent.acknowledgedBytes())
                .set("largest_data_bytes", sent.largestDataBytes())
                .set("full_packets", sent.fullPackets())
                .set("maximum_segment_size", sent.maximumSegmentSize())
                .set("flags", sent.flags())
                .build();
    }

    private static GenericRecordBuilder place(Schema schema, Flow flow) {
        return new GenericRecordBuilder(schema)
                .set("domain", flow.domain())
                .set("low_address", ByteBuffer.wrap(flow.low().getAddress().getAddress()))
                .set("low_port", flow.low().getPort())
                .set("high_address", ByteBuffer.wrap(flow.high().getAddress().getAddress()))
                .set("high_port", flow.high().getPort())
                .set("vlan_id", flow.vlanId())
                .set("tunnel_id", flow.tunnelId());
    }

    /** A run as a record of the schema. */
    public static GenericRecord runRecord(RunSpec run) {
        Flow flow = run.flow();
        List<GenericRecord> columns = new ArrayList<>();
        ColumnEncoder.encode(flow, run.packets()).forEach((id, data) -> columns.add(columnRecord(id, data)));
        return place(RUN, flow)
                .set("flow_start_ns", run.flowStartNs())
                .set("packets_before", run.packetsBefore())
                .set("observed_until_ns", run.observedUntilNs())
                .set(
                        "end_reason",
                        new GenericData.EnumSymbol(RUN.getField("end_reason").schema(), run.endReason()))
                .set("packets", run.packets().size())
                .set("columns", columns)
                .build();
    }

    /** A column as a record of the schema. */
    public static GenericRecord columnRecord(int id, byte[] data) {
        return new GenericRecordBuilder(COLUMN)
                .set("id", id)
                .set("data", ByteBuffer.wrap(data))
                .build();
    }

    /** The bytes of one run, as they lie in a batch. */
    public byte[] run(RunSpec run) {
        return avro(runRecord(run));
    }

    /** The Kafka value of a record of the schema. */
    public byte[] singleObject(GenericRecord batch) {
        byte[] record = avro(batch);
        long fingerprint = SchemaNormalization.parsingFingerprint64(batch.getSchema());
        return ByteBuffer.allocate(SINGLE_OBJECT_HEADER_BYTES + record.length)
                .putShort((short) MARKER)
                .putLong(Long.reverseBytes(fingerprint))
                .put(record)
                .array();
    }

    /** The Avro binary of any record. */
    public byte[] avro(GenericRecord record) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        EncoderFactory factory = new EncoderFactory().configureBlockSize(64);
        BinaryEncoder encoder =
                sizedBlocks ? factory.blockingBinaryEncoder(out, null) : factory.binaryEncoder(out, null);
        try {
            new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
            encoder.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** A batch stream: each value behind its little-endian u32 length. */
    public static byte[] stream(List<byte[]> values) {
        ByteBuffer out = ByteBuffer.allocate(values.stream()
                        .mapToInt(value -> Integer.BYTES + value.length)
                        .sum())
                .order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(value -> out.putInt(value.length).put(value));
        return out.array();
    }

    private static Schema readSchema() {
        try (InputStream in = BatchEncoder.class.getResourceAsStream("segment_batch.avsc")) {
            if (in == null) {
                throw new IllegalStateException("segment_batch.avsc is not on the classpath");
            }
            return new Schema.Parser().parse(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Position(long sequence, long packetsBefore) {}
}
