// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SegmentBatchReaderTest {
    private static final Flow FLOW =
            Flow.between(new InetSocketAddress("10.0.0.2", 443), new InetSocketAddress("10.0.0.1", 40000));
    private static final Map<String, Long> COUNTERS = new LinkedHashMap<>();

    static {
        COUNTERS.put("frames_received", 1_000_000L);
        COUNTERS.put("frames_not_tcp", Long.MAX_VALUE);
    }

    private static final BatchHeader HEADER =
            new BatchHeader("probe-ä", "leaf1", Long.MIN_VALUE, 65_535, 32, 0x5eedL, "NIC", COUNTERS);

    private final SegmentBatchReader reader = new SegmentBatchReader();

    @Test
    void theFingerprintIsThatOfTheSchema() {
        assertThat(SegmentBatchReader.FINGERPRINT)
                .isEqualTo(SchemaNormalization.parsingFingerprint64(BatchEncoder.SCHEMA));
    }

    @Test
    void readsTheHeader() {
        List<byte[]> values = new BatchEncoder(HEADER).encode(runsOf(600), 2);

        assertThat(reader.read(values.get(1))).isEqualTo(DecodeStatus.OK);

        assertThat(reader.probe()).isEqualTo("probe-ä");
        assertThat(reader.tap()).isEqualTo("leaf1");
        assertThat(reader.session()).isEqualTo(Long.MIN_VALUE);
        assertThat(reader.worker()).isEqualTo(65_535);
        assertThat(reader.partitionCount()).isEqualTo(32);
        assertThat(reader.hashSeed()).isEqualTo(0x5eedL);
        assertThat(reader.sequence()).isEqualTo(1);
        assertThat(reader.packetsBefore()).isEqualTo(512);
        assertThat(reader.packets()).isEqualTo(88);
        assertThat(reader.timestampSource()).isEqualTo(TimestampSource.NIC);
        assertThat(reader.timestampResolutionNs()).isEqualTo(1);
    }

    @Test
    void thePartitionIsThatOfTheFlowHash() {
        reader.read(new BatchEncoder(HEADER).encode(runsOf(1), 1).get(0));
        Run run = new Run();
        byte[] bytes = reader.copyRun(0);

        assertThat(new RunReader().readHeader(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);

        long hash = FlowHash.of(run.key(), reader.hashSeed());
        assertThat(reader.partition()).isEqualTo(FlowHash.partition(hash, reader.partitionCount()));
    }

    @Test
    void readsTheCountersInTheirOrder() {
        reader.read(new BatchEncoder(HEADER).encode(runsOf(1), 1).get(0));

        assertThat(IntStream.range(0, reader.counters()).mapToObj(reader::counterName))
                .containsExactly("frames_received", "frames_not_tcp");
        assertThat(IntStream.range(0, reader.counters()).mapToLong(reader::counterValue))
                .containsExactly(1_000_000L, Long.MAX_VALUE);
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void cutsTheRunsOutWhateverTheFormOfTheArrays(boolean sizedBlocks) {
        List<RunSpec> specs = runsOf(700);
        BatchEncoder encoder = new BatchEncoder(HEADER, sizedBlocks);

        reader.read(encoder.encode(specs, 100).get(0));

        assertThat(reader.runs()).isEqualTo(specs.size()).isEqualTo(4);
        for (int i = 0; i < specs.size(); i++) {
            assertThat(reader.runPackets(i)).isEqualTo(specs.get(i).packets().size());
            assertThat(decoded(i)).isEqualTo(specs.get(i).packets());
        }
    }

    @Test
    void moreRunsThanWereEverReadBefore() {
        List<RunSpec> specs = new RunCutter(1, false, false).cut(FLOW, packets(1000));

        reader.read(new BatchEncoder(HEADER).encode(specs, 1000).get(0));

        assertThat(reader.runs()).isEqualTo(1000);
        assertThat(decoded(999)).isEqualTo(specs.get(999).packets());
    }

    @Test
    void anEmptyBatchIsABatch() {
        assertThat(reader.read(valueWith("runs", List.of(), "packets", 0))).isEqualTo(DecodeStatus.OK);
        assertThat(reader.runs()).isZero();
    }

    @Test
    void aSecondReadForgetsTheFirst() {
        reader.read(new BatchEncoder(HEADER).encode(runsOf(600), 10).get(0));
        reader.read(new BatchEncoder(BatchHeader.ofTap("leaf2"))
                .encode(runsOf(1), 1)
                .get(0));

        assertThat(reader.tap()).isEqualTo("leaf2");
        assertThat(reader.runs()).isEqualTo(1);
        assertThat(reader.counters()).isZero();
    }

    @ParameterizedTest(name = "{0}: {1} = {2}")
    @CsvSource({
        "BAD_VALUE,      worker,                  -1",
        "BAD_VALUE,      worker,                  65536",
        "BAD_VALUE,      partition,               32",
        "BAD_VALUE,      partition_count,         0",
        "BAD_VALUE,      partition_count,         65537",
        "BAD_VALUE,      sequence,                -1",
        "BAD_VALUE,      packets_before,          -1",
        "BAD_VALUE,      timestamp_resolution_ns, 0",
        "BAD_VALUE,      timestamp_resolution_ns, 1000000001",
        "COUNT_MISMATCH, packets,                 4",
        "COUNT_MISMATCH, packets,                 2",
        "OK,             packets,                 3",
        "COUNT_MISMATCH, summarised_packets,      1",
        "BAD_VALUE,      summarised_packets,      -1",
        "BAD_VALUE,      summarised_packets_before, -1",
    })
    void fieldsHaveRanges(DecodeStatus expected, String field, long value) {
        assertThat(reader.read(valueWith(field, value))).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: tap of {1} bytes")
    @CsvSource({"BAD_VALUE, 0", "OK, 1", "OK, 255", "BAD_VALUE, 256"})
    void namesAreNeitherEmptyNorLong(DecodeStatus expected, int length) {
        assertThat(reader.read(valueWith("tap", "x".repeat(length)))).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: byte {1} = {2}")
    @CsvSource({
        "NOT_SINGLE_OBJECT, 0, 0",
        "NOT_SINGLE_OBJECT, 1, 2",
        "UNKNOWN_SCHEMA,    2, 0",
        "UNKNOWN_SCHEMA,    9, 0",
        "BAD_LENGTH,        10, 1",
    })
    void theFirstBytesSayWhatItIs(DecodeStatus expected, int index, byte value) {
        byte[] bytes = valueWith("packets", 3L);
        bytes[index] = value;

        assertThat(reader.read(bytes)).isEqualTo(expected);
    }

    @Test
    void bytesBehindTheBatchAreRefused() {
        byte[] bytes = valueWith("packets", 3L);

        assertThat(reader.read(Arrays.copyOf(bytes, bytes.length + 1))).isEqualTo(DecodeStatus.TRAILING_BYTES);
    }

    @Test
    void everyCutValueIsRefused() {
        byte[] bytes = new BatchEncoder(HEADER, true).encode(runsOf(300), 10).get(0);

        for (int length = 0; length < bytes.length; length++) {
            assertThat(reader.read(bytes, 0, length))
                    .as("first %d bytes", length)
                    .isNotEqualTo(DecodeStatus.OK);
        }
    }

    /** A batch of three packets with one field set otherwise. */
    private static byte[] valueWith(Object... fieldsAndValues) {
        List<RunSpec> runs = runsOf(3);
        BatchEncoder encoder = new BatchEncoder(HEADER);
        GenericRecord batch = encoder.record(runs, 5, 0, 0);
        for (int i = 0; i < fieldsAndValues.length; i += 2) {
            String field = (String) fieldsAndValues[i];
            Object value = fieldsAndValues[i + 1];
            boolean isInt = batch.getSchema().getField(field).schema().getType() == org.apache.avro.Schema.Type.INT;
            batch.put(field, isInt ? (Object) ((Number) value).intValue() : value);
        }
        assertThat(GenericData.get().validate(batch.getSchema(), batch)).isTrue();
        return encoder.singleObject(batch);
    }

    private static List<RunSpec> runsOf(int packets) {
        return new RunCutter(256, true, false).cutAndEnd(FLOW, packets(packets), "FIN", 0);
    }

    private static List<Packet> packets(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Packet(
                        1_700_000_000_000_000_000L + i,
                        i % 3 != 0,
                        i * 1448,
                        1,
                        1448,
                        40,
                        Packet.ACK,
                        502,
                        new Packet.Ip(i, 64, 0),
                        TcpOptions.NONE))
                .toList();
    }

    private List<Packet> decoded(int index) {
        Run run = new Run();
        byte[] bytes = reader.copyRun(index);
        assertThat(new RunReader().read(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);
        return RunPackets.packetsOf(run, FLOW.isALow());
    }
}
