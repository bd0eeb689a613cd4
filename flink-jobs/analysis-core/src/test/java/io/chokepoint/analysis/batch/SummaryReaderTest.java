// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.SummarySpec;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SummaryReaderTest {
    private static final Flow FLOW =
            Flow.between(new InetSocketAddress("10.0.0.1", 40000), new InetSocketAddress("10.0.0.2", 443));
    private static final BatchHeader HEADER = BatchHeader.ofTap("leaf1");
    static final SummarySpec SPEC = new SummarySpec(
            FLOW,
            1_700_000_000_000_000_000L,
            52_000_000,
            1_000_000_000,
            "IDLE",
            0,
            0xffff_ffffL,
            1,
            20_000_000L,
            1_000_000L,
            new SummarySpec.Sent(5, 1, 300, 40, 300, 300, 0, 1400, 7),
            new SummarySpec.Sent(4, 2, 1500, 80, 1500, 1400, 1, 1460, 7));

    private final SummaryReader reader = new SummaryReader();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBatchTellsWhereItsSummariesLie(boolean sizedBlocks) {
        BatchEncoder encoder = new BatchEncoder(HEADER, sizedBlocks);
        List<SummarySpec> specs = IntStream.range(0, 100).mapToObj(i -> SPEC).toList();
        byte[] value = encoder.singleObject(encoder.record(List.of(), specs, 0, 0, 0));
        SegmentBatchReader batch = new SegmentBatchReader();

        assertThat(batch.read(value)).isEqualTo(DecodeStatus.OK);

        assertThat(batch.summaries()).isEqualTo(100);
        assertThat(batch.summarisedPackets()).isEqualTo(900);
        assertThat(batch.packets()).isZero();
        for (int i = 0; i < batch.summaries(); i++) {
            assertThat(batch.summaryPackets(i)).isEqualTo(9);
            assertThat(reader.read(value, batch.summaryOffset(i), batch.summaryLength(i)))
                    .isEqualTo(DecodeStatus.OK);
            assertThat(reader.summary().clientSequenceNumber()).isEqualTo(-1);
            assertThat(reader.summary().sentByHigh())
                    .isEqualTo(new Summary.Sent(4, 2, 1500, 80, 1500, 1400, 1, 1460, 7));
        }
    }

    @ParameterizedTest(name = "{0}: {1} = {2}")
    @CsvSource(
            nullValues = "null",
            value = {
                "OK,        duration_ns, 9223372036854775807, -1",
                "BAD_VALUE, duration_ns, -1, 0",
                "BAD_VALUE, duration_ns, 9223372036854775807, 0",
                "BAD_VALUE, duration_ns, 19999999, 0",
                "BAD_VALUE, quiet_ns, -1, 0",
                "BAD_VALUE, quiet_ns, 9223372036854775807, 0",
                "BAD_VALUE, client, 2, 0",
                "BAD_VALUE, client, null, 0",
                "BAD_VALUE, client_sequence_number, 4294967296, 0",
                "BAD_VALUE, client_sequence_number, null, 0",
                "BAD_VALUE, syns, 257, 0",
                "BAD_VALUE, server_delay_ns, -1, 0",
                "BAD_VALUE, server_delay_ns, null, 0",
                "BAD_VALUE, client_delay_ns, 52000001, 0",
                "BAD_VALUE, domain, -1, 0",
                "BAD_VALUE, low_port, 65536, 0",
                "BAD_VALUE, vlan_id, 4096, 0",
            })
    void fieldsHaveRanges(DecodeStatus expected, String field, @Nullable Long value, long flowStart) {
        GenericRecord summary = BatchEncoder.summaryRecord(SPEC);
        put(summary, field, value);
        if (expected == DecodeStatus.OK) {
            put(summary, "flow_start_ns", flowStart - 1_000_000_000);
            put(summary, "quiet_ns", 0L);
        }
        assertThat(read(summary)).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: {1} = {2}")
    @CsvSource({
        "OK,        packets, 252",
        "BAD_VALUE, packets, 253",
        "BAD_VALUE, packets, 0",
        "BAD_VALUE, data_packets, 0",
        "BAD_VALUE, data_packets, 6",
        "BAD_VALUE, data_bytes, 0",
        "BAD_VALUE, data_bytes, 301",
        "BAD_VALUE, data_bytes, 16777216",
        "BAD_VALUE, header_bytes, -1",
        "BAD_VALUE, acknowledged_bytes, -1",
        "BAD_VALUE, largest_data_bytes, 301",
        "BAD_VALUE, largest_data_bytes, 0",
        "BAD_VALUE, full_packets, 2",
        "BAD_VALUE, maximum_segment_size, 65536",
        "BAD_VALUE, flags, -1",
        "OK,        flags, 15",
    })
    void fieldsOfADirectionHaveRanges(DecodeStatus expected, String field, long value) {
        GenericRecord summary = BatchEncoder.summaryRecord(SPEC);
        put((GenericRecord) summary.get("sent_by_low"), field, value);

        assertThat(read(summary)).isEqualTo(expected);
    }

    @Test
    void everyCutSummaryIsRefused() {
        byte[] bytes = new BatchEncoder(HEADER).avro(BatchEncoder.summaryRecord(SPEC));

        assertThat(reader.read(bytes, 0, bytes.length)).isEqualTo(DecodeStatus.OK);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(reader.read(bytes, 0, length)).as("%d bytes", length).isNotEqualTo(DecodeStatus.OK);
        }
        assertThat(reader.read(Arrays.copyOf(bytes, bytes.length + 1), 0, bytes.length + 1))
                .isEqualTo(DecodeStatus.TRAILING_BYTES);
    }

    @Test
    void falsifiedBytesAreRefusedOrReadButNeverThrow() {
        byte[] good = new BatchEncoder(HEADER).avro(BatchEncoder.summaryRecord(SPEC));
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = good.clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            if (reader.read(bytes, 0, bytes.length) == DecodeStatus.OK) {
                Summary summary = reader.summary();
                assertThat(summary.flowStartNs() + summary.durationNs() + summary.quietNs())
                        .isGreaterThanOrEqualTo(summary.flowStartNs());
            }
        }
    }

    private DecodeStatus read(GenericRecord summary) {
        byte[] bytes = new BatchEncoder(HEADER).avro(summary);
        return reader.read(bytes, 0, bytes.length);
    }

    private static void put(GenericRecord record, String field, @Nullable Long value) {
        Schema schema = record.getSchema().getField(field).schema();
        boolean isInt = schema.getType() == Schema.Type.INT
                || (schema.getType() == Schema.Type.UNION
                        && schema.getTypes().get(1).getType() == Schema.Type.INT);
        record.put(field, value == null ? null : isInt ? (Object) value.intValue() : value);
    }
}
