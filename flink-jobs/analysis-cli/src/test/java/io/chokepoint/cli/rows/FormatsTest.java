// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.Row.Table;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.cli.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FormatsTest {
    private static final Terminal NO_TERMINAL = new Terminal(0, false, false);

    @Test
    void aJsonLineHasAllSeenColumnsInTheirOrder() {
        String line = written(JsonRows::new, RowExamples.receiverWindow(Table.LIMITATION_INTERVALS))
                .get(0);

        String names = Arrays.stream(line.split("[{,]\"", -1))
                .skip(1)
                .map(member -> member.substring(0, member.indexOf('"')))
                .collect(Collectors.joining(" "));
        assertThat(names)
                .isEqualTo("record "
                        + Arrays.stream(RowField.values())
                                .filter(RowField::isSeen)
                                .map(RowField::seenName)
                                .collect(Collectors.joining(" ")));
    }

    @Test
    void aJsonLineHoldsNumbersTextsAndNull() {
        String line =
                written(JsonRows::new, RowExamples.receiverWindow(Table.FLOWS)).get(0);

        assertThat(line)
                .startsWith("{\"record\":\"flow\",\"flow_id\":\"00000000000000ff\",\"tap\":\"before\","
                        + "\"client_ip\":\"10.0.1.1\",\"client_port\":40000,\"server_ip\":\"10.0.2.2\","
                        + "\"server_port\":5201,\"vlan\":null,\"tunnel_id\":null,"
                        + "\"client_tenant\":\"acme\",\"server_tenant\":\"\","
                        + "\"direction\":\"client_to_server\",\"interval_start\":\"2023-11-14T22:13:20.000000000Z\",")
                .contains("\"confidence\":0.997,", "\"quality\":\"\",", "\"goodput_bits_per_second\":7200000,")
                .endsWith("\"throughput_ratio_percent\":84}");
    }

    @Test
    void jsonEscapesWhatATapIsCalled() {
        StringBuilder text = new StringBuilder();

        JsonText.append(text, Map.of("tap", "a\"b\\c\nd\u00e9"));

        assertThat(text).hasToString("{\"tap\":\"a\\\"b\\\\c\\u000ad\u00e9\"}");
    }

    @Test
    void theLedgerIsTheLastJsonLine() {
        List<String> lines = written(JsonRows::new, RowExamples.unknown(Table.FLOWS));

        assertThat(lines).hasSize(2).last().isEqualTo("{\"record\":\"ledger\",\"balanced\":true}");
    }

    @Test
    void csvHasOneLineOfNamesAndAsManyCells() {
        List<String> lines = written(CsvRows::new, RowExamples.unknown(Table.FLOWS));

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).startsWith("record,flow_id,tap,client_ip,").endsWith(",throughput_ratio_percent");
        assertThat(lines.get(1))
                .startsWith("flow,00000000000000ff,before,10.0.1.1,40000,")
                .contains("\"syn_missed,hole\"");
        assertThat(lines.get(1).replace("syn_missed,hole", "").split(",", -1))
                .hasSameSizeAs(lines.get(0).split(",", -1));
    }

    @Test
    void theTableShowsFlowsAndNoIntervals() {
        List<String> lines = written(
                out -> new VerdictTable(out, NO_TERMINAL),
                RowExamples.receiverWindow(Table.LIMITATION_INTERVALS),
                RowExamples.receiverWindow(Table.FLOWS));

        assertThat(lines)
                .containsExactly(
                        "tap before",
                        "CLIENT              SERVER           BYTES  DURATION      GOODPUT     CAPACITY  RTT MIN  RESENT  LIMITED BY       CONF",
                        "10.0.1.1:40000  ->  10.0.2.2:5201  1.00 MB    1.00 s  7.20 Mbit/s  10.0 Mbit/s  20.1 ms  10.0 %  receiver_window  1.00",
                        "    window_clamped: the window of 64 KB was full for 96 % of the time, lowest round trip 20100 us",
                        "    advice: Raise the receiver's socket buffer (SO_RCVBUF, tcp_rmem) to at least 250 KB.");
    }

    @Test
    void aNarrowTerminalGetsTwoLinesAndWrappedSentences() {
        List<String> lines = written(
                out -> new VerdictTable(out, new Terminal(80, false, false)), RowExamples.receiverWindow(Table.FLOWS));

        assertThat(lines).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
        assertThat(lines)
                .contains(
                        "10.0.1.1:40000  ->  10.0.2.2:5201  receiver_window  1.00",
                        "    1.00 MB    1.00 s  7.20 Mbit/s  10.0 Mbit/s  20.1 ms  10.0 %",
                        "    window_clamped: the window of 64 KB was full for 96 % of the time, lowest",
                        "      round trip 20100 us");
    }

    @Test
    void coloursDoNotMoveColumns() {
        Row[] rows = {RowExamples.receiverWindow(Table.FLOWS), RowExamples.unknown(Table.FLOWS)};
        List<String> plain = written(out -> new VerdictTable(out, new Terminal(200, false, false)), rows);
        List<String> coloured = written(out -> new VerdictTable(out, new Terminal(200, true, false)), rows);

        assertThat(coloured.get(2)).contains("\u001b[35mreceiver_window\u001b[0m");
        assertThat(coloured.stream().map(line -> line.replaceAll("\u001b\\[[0-9]*m", "")))
                .containsExactlyElementsOf(plain);
    }

    @Test
    void mostBytesComeFirst() {
        Row small = RowExamples.receiverWindow(Table.FLOWS).set(RowField.DATA_BYTES, 10);
        Row large = RowExamples.receiverWindow(Table.FLOWS).set(RowField.DATA_BYTES, 20);

        List<String> lines = written(out -> new VerdictTable(out, NO_TERMINAL), small, large);

        assertThat(lines.get(2)).contains(" 20 B ");
        assertThat(lines.get(5)).contains(" 10 B ");
    }

    @Test
    void aFullDiskIsToldByItsReason() {
        Output out = new Output(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        });
        out.line("x");

        assertThatThrownBy(out::flush)
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("No space left on device");
    }

    private static List<String> written(Function<Output, RowWriter> format, Row... rows) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Output out = new Output(bytes)) {
            RowWriter writer = format.apply(out);
            Arrays.stream(rows).forEach(writer::row);
            // A map of two would have no order.
            Map<String, Object> ledger = new LinkedHashMap<>();
            ledger.put("record", "ledger");
            ledger.put("balanced", true);
            writer.end(ledger);
        }
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
