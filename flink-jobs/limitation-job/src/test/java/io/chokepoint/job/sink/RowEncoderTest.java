// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.MinuteField;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.books.Span;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowEncoderTest {
    private static final long START = 1_767_225_600_000_000_000L;
    private static final FlowIdentity IDENTITY = new FlowIdentity(
            0x0123_4567_89ab_cdefL,
            "leaf1",
            0,
            0xffff_0a00_0001L,
            40_000,
            0x2001_0db8_0000_0000L,
            1,
            443,
            Row.NULL,
            0xffff_ffffL,
            "acme",
            "");

    private static Row row() {
        return new Row(Row.Table.LIMITATION_INTERVALS, IDENTITY)
                .set(RowField.DIRECTION, 1)
                .set(RowField.INTERVAL_START, START)
                .set(RowField.INTERVAL_END, START + 1)
                .set(RowField.VERSION, 2)
                .set(RowField.ROOT_CAUSE, 3);
    }

    @ParameterizedTest
    @CsvSource({
        "LIMITATION_INTERVALS, 9, true",
        "LIMITATION_INTERVALS, 10, false",
        "LIMITATION_INTERVALS, -5, true",
        "FLOWS, 0, false"
    })
    void intervalsThatEndedJustNowAreAwaited(Row.Table table, long secondsAgo, boolean isAwaited) {
        Instant end = Instant.ofEpochSecond(0, START);
        RowEncoder encoder = new RowEncoder(InstantSource.fixed(end.plusSeconds(secondsAgo)));
        Row row = new Row(table, IDENTITY)
                .set(RowField.DIRECTION, 1)
                .set(RowField.INTERVAL_START, START - 1)
                .set(RowField.INTERVAL_END, START)
                .set(RowField.VERSION, 2)
                .set(RowField.ROOT_CAUSE, 3);

        assertThat(encoder.encode(row).isAwaited()).isEqualTo(isAwaited);
    }

    @Test
    void aRowIsItsIdentityAndThenItsColumns() {
        EncodedRow encoded = new RowEncoder().encode(row().set(RowField.CONFIDENCE, 900));

        String hex = HexFormat.of().formatHex(encoded.bytes());
        assertThat(hex)
                .startsWith(
                        HexFormat.of().formatHex("0123456789abcdef".getBytes(StandardCharsets.US_ASCII))
                                + "05" + "6c65616631" // tap
                                + "00000000000000000000ffff0a000001" + "409c" // client
                                + "20010db8000000000000000000000001" + "bb01" // server
                                + "01" // no VLAN
                                + "00" + "ffffffff" // tunnel
                                + "0461636d65" + "00" // tenants
                                + "01" // direction
                                + "0000fa"
                                + HexFormat.of().toHexDigits(0x00ed_5172_8618L).substring(6)
                                + "0100fa"
                                + HexFormat.of().toHexDigits(0x00ed_5172_8618L).substring(6)
                                + "02000000" // version
                                + "03" // root cause
                                + "01" // no sub-cause
                                + "00" + "8403" // confidence
                        );
        assertThat(encoded.table()).isEqualTo(Table.LIMITATION_INTERVALS);
        assertThat(encoded.day()).isEqualTo((int) (START / 86_400_000_000_000L));
    }

    @Test
    void equalRowsHaveEqualBytes() {
        RowEncoder encoder = new RowEncoder();
        byte[] first = encoder.encode(row()).bytes();
        encoder.encode(row().set(RowField.LOST_BYTES, -1));

        assertThat(encoder.encode(row()).bytes()).isEqualTo(first);
    }

    @ParameterizedTest
    @CsvSource({
        "CONFIDENCE,   65536,                'confidence_permille is 65536, expected 0..65535'",
        "CONFIDENCE,   -1,                   'confidence_permille is -1, expected 0..65535'",
        "DATA_PACKETS, 4294967296,           'data_packets is 4294967296, expected 0..4294967295'",
        "ROOT_CAUSE,   128,                  'root_cause is 128, expected 0..127'",
        "ROOT_CAUSE,   -9223372036854775808, 'root_cause is NULL'",
    })
    void aRowThatItsTableCannotHoldIsRejectedWithTheReason(RowField field, long value, String reason) {
        EncodedRow encoded = new RowEncoder().encode(row().set(field, value));

        assertThat(encoded.table()).isEqualTo(Table.REJECTED_ROWS);
        assertThat(new String(encoded.bytes(), StandardCharsets.UTF_8))
                .contains("limitation_intervals_stored", reason, "leaf1");
    }

    @Test
    void aMinuteIsItsIdentityItsKeyAndThenItsSums() {
        long[] sums = new long[MinuteField.values().length];
        sums[MinuteField.INTERVALS.ordinal()] = 60;
        sums[MinuteField.APPLICATION_NS.ordinal()] = 1;
        MinuteRow row = new MinuteRow(IDENTITY, Direction.SERVER_TO_CLIENT, START, 2, sums);

        EncodedRow encoded = new RowEncoder().encode(row);

        assertThat(HexFormat.of().formatHex(encoded.bytes()))
                .contains("0461636d65" + "00" // tenants
                        + "01" // direction
                        + "0000fa"
                        + HexFormat.of().toHexDigits(0x00ed_5172_8618L).substring(6) // minute
                        + "02000000" // version
                        + "3c000000" // intervals
                        + "0100000000000000")
                .endsWith(
                        "01" // no round trip
                                + "00000000");
        assertThat(encoded.table()).isEqualTo(Table.LIMITATION_MINUTES);
        sums[MinuteField.LOSS_EVENTS.ordinal()] = 1L << 32;
        assertThat(new String(new RowEncoder().encode(row).bytes(), StandardCharsets.UTF_8))
                .contains("limitation_minutes_stored", "loss_events is 4294967296, expected 0..4294967295");
    }

    @Test
    void rowsOfTheBooksAreInTheOrderOfTheirTables() {
        BatchOrigin origin = new BatchOrigin("leaf1", -2, 3, 4);
        LedgerRows rows = new LedgerRows();

        assertThat(HexFormat.of()
                        .formatHex(rows.ledger(origin, "repeated", new Amount(1, 2, 3), 6)
                                .bytes()))
                .isEqualTo("056c65616631" + "feffffffffffffff" + "0300" + "0400" + "087265706561746564"
                        + "0100000000000000" + "0200000000000000" + "0300000000000000" + "0600000000000000");
        EncodedRow range = rows.range(origin, 1441, "c", new Span(4, 5, 6, 9), new Amount(1, 2, 3), 7);
        assertThat(HexFormat.of().formatHex(range.bytes()))
                .isEqualTo("056c65616631" + "feffffffffffffff" + "0300" + "0400" + "bc510100" + "0163"
                        + "0400000000000000" + "0500000000000000" + "0600000000000000" + "0900000000000000"
                        + "0100000000000000" + "0200000000000000" + "0300000000000000" + "0700000000000000");
        assertThat(range.day()).isEqualTo(1);
        EncodedRow counter = rows.counter(origin, "p", "c", 1441, 9);
        assertThat(HexFormat.of().formatHex(counter.bytes()))
                .isEqualTo("0170" + "056c65616631" + "feffffffffffffff" + "0300" + "0400" + "0163" + "bc510100"
                        + "0900000000000000");
        assertThat(counter.day()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"127, 7f", "128, 8001", "300, ac02", "16384, 808001"})
    void textsLieBehindTheirLength(int length, String leb128) {
        byte[] bytes = new RowBinary().putString("x".repeat(length)).toByteArray();

        assertThat(HexFormat.of().formatHex(bytes)).startsWith(leb128 + "78").hasSize(leb128.length() + 2 * length);
    }
}
