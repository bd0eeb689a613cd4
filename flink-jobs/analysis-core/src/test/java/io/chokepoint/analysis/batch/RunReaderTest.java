// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunReaderTest {
    private static final Flow FLOW =
            Flow.between(new InetSocketAddress("10.0.0.1", 40000), new InetSocketAddress("10.0.0.2", 443));
    private static final BatchEncoder ENCODER = new BatchEncoder(BatchHeader.ofTap("leaf1"));

    private final Run run = new Run();

    /** Columns 1 to 12 of three packets, A then B then A; hexadecimal. */
    private static final List<String> COLUMNS = List.of(
            "0202 02", // 1 ns apart
            "02", // bit 1: the second packet comes from the high endpoint
            "00c80100", // sequence numbers 0, 100, 0 + 10: predicted
            "020402", // acknowledgment numbers 1, 2, 2
            "0a0000", // 10 bytes, then none
            "500150010001", // 40 each: first of its direction, twice; then no change
            "200120010001", // ACK
            "0a0c03", // windows 5, 6, 5 - 2
            "0003", // ids 0, 0, 1
            "7e01800101 0001", // 63, 64, 63
            "0003",
            "0003");

    @Test
    void decodesBytesThatWereWrittenByHand() {
        assertThat(read(COLUMNS)).isEqualTo(DecodeStatus.OK);

        assertThat(run.timeNs()).startsWith(1, 2, 3);
        assertThat(run.direction()).startsWith(new byte[] {0, 1, 0});
        assertThat(run.sequenceNumber()).startsWith(0, 100, 10);
        assertThat(run.acknowledgmentNumber()).startsWith(1, 2, 2);
        assertThat(run.payloadBytes()).startsWith(10, 0, 0);
        assertThat(run.headerBytes()).startsWith(40, 40, 40);
        assertThat(run.tcpFlags()).startsWith(16, 16, 16);
        assertThat(run.windowField()).startsWith(5, 6, 3);
        assertThat(run.hasIpId()).isTrue();
        assertThat(run.ipId()).startsWith(0, 0, 1);
        assertThat(run.timeToLive()).startsWith(63, 64, 63);
        assertThat(run.windowScale()).startsWith(-1, -1, -1);
        assertThat(run.sackOffset()).startsWith(0, 0, 0, 0);
    }

    @ParameterizedTest(name = "{0}: {3}")
    @CsvSource({
        "BAD_COLUMN,     1, 0202,               two times for three packets",
        "BAD_COLUMN,     1, 02020202,           four times",
        "MISSING_COLUMN, 1, '',                 no times",
        "MISSING_COLUMN, 2, '',                 no directions",
        "BAD_COLUMN,     2, 0a,                 a direction beyond the last packet",
        "BAD_COLUMN,     2, 0200,               a byte of directions too many",
        "MISSING_COLUMN, 3, '',                 no sequence numbers",
        "BAD_COLUMN,     3, 8080808010 0000,    a difference of 33 bits",
        "OK,             3, ffffffff0f 0000,    a difference of 32 bits",
        "BAD_COLUMN,     5, 8080808004 0000,    payload of 2^30",
        "OK,             5, ffffffff03 0000,    payload just below",
        "BAD_COLUMN,     6, 010150010001,       negative header bytes",
        "BAD_COLUMN,     7, 8004012001 0001,    flags beyond eight bits",
        "BAD_COLUMN,     7, 2000,               a repeat count of zero",
        "BAD_COLUMN,     7, 2004,               a repeat count beyond the packets",
        "BAD_COLUMN,     7, 2002,               repeat counts short of the packets",
        "BAD_COLUMN,     7, 20ffffffffffffffffff01, a repeat count that is negative as a long",
        "BAD_COLUMN,     8, 01 00 00,           a negative window",
        "BAD_COLUMN,     8, 808008 00 00,       a window of 65536",
        "OK,             9, '',                 no identifications",
        "MISSING_COLUMN, 10, '',                no TTL",
        "BAD_COLUMN,     11, 800401 0002,       a traffic class of 256",
        "MISSING_COLUMN, 12, '',                no options",
        "MISSING_COLUMN, 12, 020100 02,         timestamps announced and absent",
        "OK,             12, 80010100 02,       an option of the future",
    })
    void columnsHoldExactlyTheirValues(DecodeStatus expected, int id, String data, String name) {
        List<String> columns = new ArrayList<>(COLUMNS);
        columns.set(id - 1, data);

        assertThat(read(columns)).as(name).isEqualTo(expected);
    }

    @Test
    void columnsOfTheFutureAreSkippedAndCounted() {
        GenericRecord record = record(COLUMNS);
        columnsOf(record).add(BatchEncoder.columnRecord(18, new byte[] {1, 2, 3}));
        columnsOf(record).add(BatchEncoder.columnRecord(65_535, new byte[0]));

        assertThat(read(record)).isEqualTo(DecodeStatus.OK);
        assertThat(run.unknownColumns()).isEqualTo(2);
    }

    @ParameterizedTest(name = "{0}: a column {1} behind the last")
    @CsvSource({"COLUMN_ORDER, 12", "COLUMN_ORDER, 1", "BAD_VALUE, 0", "BAD_VALUE, 65536", "BAD_VALUE, -1"})
    void columnIdsAscend(DecodeStatus expected, int id) {
        GenericRecord record = record(COLUMNS);
        columnsOf(record).add(BatchEncoder.columnRecord(id, new byte[0]));

        assertThat(read(record)).isEqualTo(expected);
    }

    @Test
    void aRunInItsOtherLegalFormIsTheSame() {
        byte[] bytes = new BatchEncoder(BatchHeader.ofTap("leaf1"), true).avro(record(COLUMNS));

        assertThat(bytes).isNotEqualTo(ENCODER.avro(record(COLUMNS)));
        assertThat(new RunReader().read(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);
        assertThat(run.windowField()).startsWith(5, 6, 3);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "OK,         01 04 24 00 00, one item of two bytes",
        "OK,         01 04 24 00 01 04 26 00 00, two blocks",
        "BAD_LENGTH, 01 02 24 00 00, one item that is longer than its block",
        "BAD_LENGTH, 01 06 24 00 00, one item that is shorter than its block",
        "BAD_LENGTH, 03 02 24 00 00, more items than the block has bytes",
        "BAD_LENGTH, 01 01 24 00 00, a block of negative size",
        "TRUNCATED,  01 08 24 00 00, a block beyond the end",
        "BAD_LENGTH, ffffffffffffffffff01 04 24 00 00, the count whose negative is negative",
        "BAD_LENGTH, 08 24 00 00,    more items than bytes",
        "TRUNCATED,  02 24 00,       no end of the array",
    })
    void aBlockEndsWhereItSays(DecodeStatus expected, String columns, String name) {
        byte[] mark = ENCODER.run(new RunSpec(FLOW, 5, 7, 1_000_000_005, "NONE", List.of()));
        byte[] array = HexFormat.of().parseHex(columns.replace(" ", ""));
        byte[] bytes = Arrays.copyOf(mark, mark.length - 1 + array.length);
        System.arraycopy(array, 0, bytes, mark.length - 1, array.length);

        assertThat(new RunReader().read(bytes, 0, bytes.length, run)).as(name).isEqualTo(expected);
    }

    @Test
    void aMarkHasNoColumns() {
        RunSpec mark = new RunSpec(FLOW, 5, 7, 1_000_000_005, "NONE", List.of());

        assertThat(read(BatchEncoder.runRecord(mark))).isEqualTo(DecodeStatus.OK);
        assertThat(run.packets()).isZero();
        assertThat(run.packetsBefore()).isEqualTo(7);
        assertThat(run.observedUntilNs()).isEqualTo(1_000_000_005);
    }

    @ParameterizedTest(name = "{0}: {1} = {2}")
    @CsvSource({
        "BAD_VALUE, domain, -1",
        "BAD_VALUE, low_port, 65536",
        "BAD_VALUE, high_port, -1",
        "BAD_VALUE, vlan_id, 4096",
        "BAD_VALUE, packets_before, -1",
        "BAD_VALUE, packets, 257",
        "BAD_VALUE, packets, -1",
        "BAD_COLUMN, packets, 2",
        "BAD_COLUMN, packets, 4",
        "BAD_COLUMN, packets, 0",
        "OK, packets, 3",
    })
    void identityFieldsHaveRanges(DecodeStatus expected, String field, int value) {
        GenericRecord record = record(COLUMNS);
        record.put(field, field.endsWith("before") ? (Object) (long) value : (Object) value);

        assertThat(read(record)).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "OK,        00000000000000000000ffff0a000001, IPv4 in its long form",
        "BAD_VALUE, 0a0000,                           three bytes",
        "BAD_VALUE, '',                               no address",
        "BAD_VALUE, 0a000003,                         the higher endpoint first",
        "BAD_VALUE, ff000000000000000000000000000000, the higher endpoint first in its upper half",
    })
    void addressesAreFourOrSixteenBytesAndOrdered(DecodeStatus expected, String lowAddress, String name) {
        GenericRecord record = record(COLUMNS);
        record.put("low_address", ByteBuffer.wrap(HexFormat.of().parseHex(lowAddress)));

        assertThat(read(record)).as(name).isEqualTo(expected);
    }

    @Test
    void sackBlocksAreRelativeToTheAcknowledgment() {
        TcpOptions options = TcpOptions.NONE.withSackBlocks(
                List.of(new TcpOptions.SackBlock(-1, 1447), new TcpOptions.SackBlock(2895, 4343)));
        Packet packet = new Packet(1, true, 0, -1449, 0, 72, 16, 9, new Packet.Ip(0, 64, 0), options);

        assertThat(read(BatchEncoder.runRecord(new RunSpec(FLOW, 1, 0, 1, "NONE", List.of(packet)))))
                .isEqualTo(DecodeStatus.OK);

        assertThat(run.sackOffset()).startsWith(0, 2);
        assertThat(run.sackLeft()).startsWith(-1, 2895);
        assertThat(run.sackRight()).startsWith(1447, 4343);
    }

    private DecodeStatus read(List<String> columns) {
        return read(record(columns));
    }

    private DecodeStatus read(GenericRecord record) {
        byte[] bytes = ENCODER.avro(record);
        return new RunReader().read(bytes, 0, bytes.length, run);
    }

    private static GenericRecord record(List<String> columns) {
        GenericRecord record = BatchEncoder.runRecord(new RunSpec(FLOW, 1, 0, 3, "NONE", List.of()));
        record.put("packets", 3);
        List<GenericRecord> encoded = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            byte[] data = HexFormat.of().parseHex(columns.get(i).replace(" ", ""));
            if (data.length > 0) {
                encoded.add(BatchEncoder.columnRecord(i + 1, data));
            }
        }
        record.put("columns", encoded);
        return record;
    }

    @SuppressWarnings("unchecked")
    private static List<GenericRecord> columnsOf(GenericRecord record) {
        return (List<GenericRecord>) record.get("columns");
    }
}
