// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.path.PathField;
import io.chokepoint.analysis.path.PathJudge;
import io.chokepoint.analysis.path.PathObservation;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.cli.Terminal;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PathFormatsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long MILLI = 1_000_000;

    @Test
    void aJsonLineHasAllColumnsInTheirOrder() {
        List<String> lines = written(JsonRows::new);

        assertThat(lines.get(1))
                .startsWith("{\"record\":\"flow_path_interval\",\"path_id\":\"")
                .contains(
                        "\"flow_id\":\"00000000000000ff\",\"client_ip\":\"10.0.1.1\",\"client_port\":40000,",
                        "\"taps\":[\"before\",\"after\"],\"tap_positions\":[0.25,null],",
                        "\"limit_segment\":\"receiver\",\"limit_from\":\"\",\"limit_to\":\"\",\"limit_evidence\":null,",
                        "\"goodput_bits_per_second\":7200000,")
                .contains(Arrays.stream(PathField.values())
                        .map(field -> "\"" + field.seenName() + "\":")
                        .toList());
        assertThat(lines).last().isEqualTo("{\"record\":\"ledger\"}");
    }

    @Test
    void csvHasATableOfItsOwn() {
        List<String> lines = written(CsvRows::new);

        assertThat(lines.subList(2, lines.size())).hasSize(3);
        assertThat(lines.get(2)).isEmpty();
        assertThat(lines.get(3))
                .isEqualTo("record,"
                        + Arrays.stream(PathField.values())
                                .map(PathField::seenName)
                                .collect(Collectors.joining(",")));
        assertThat(lines.get(4)).startsWith("flow_path_interval,").contains(",before;after,0.25;,");
        assertThat(lines.get(4).replaceAll("\"[^\"]*\"", "").split(",", -1))
                .hasSameSizeAs(lines.get(3).split(",", -1));
    }

    @Test
    void theTableEndsWithALineForEachPath() {
        List<String> lines = written(out -> new VerdictTable(out, new Terminal(0, false, false)));

        assertThat(lines.subList(lines.size() - 4, lines.size()))
                .containsExactly(
                        "",
                        "paths",
                        "10.0.1.1:40000  ->  10.0.2.2:5201  via before, after",
                        "    limited by the receiver (receiver_window): 1 of 1 intervals");
    }

    private static List<String> written(Function<Output, RowWriter> format) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Output out = new Output(bytes);
        RowWriter writer = format.apply(out);
        writer.row(RowExamples.receiverWindow(Row.Table.FLOWS));
        writer.path(path());
        writer.end(Map.of("record", "ledger"));
        out.flush();
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** Two taps, of which the second times nothing and loses itself in order. */
    private static PathRow path() {
        PathObservation before = observed(RowExamples.receiverWindow(Row.Table.LIMITATION_INTERVALS)
                .set(RowField.DOMAIN, 0)
                .set(RowField.SENDER_SIDE_MIN_NS, 10 * MILLI)
                .set(RowField.RECEIVER_SIDE_MIN_NS, 30 * MILLI));
        FlowIdentity flow = RowExamples.flow();
        Row other = new Row(
                Row.Table.LIMITATION_INTERVALS,
                new FlowIdentity(
                        flow.flowId(),
                        "after",
                        flow.clientHigh(),
                        flow.clientLow(),
                        flow.clientPort(),
                        flow.serverHigh(),
                        flow.serverLow(),
                        flow.serverPort(),
                        Row.NULL,
                        Row.NULL,
                        "",
                        ""));
        Row row = RowExamples.receiverWindow(Row.Table.LIMITATION_INTERVALS);
        for (RowField field : RowField.values()) {
            other.set(field, row.get(field));
        }
        other.set(RowField.DOMAIN, 0).set(RowField.LOST_BEFORE_TAP_BYTES, 1);
        return requireNonNull(PathJudge.judge(List.of(before, observed(other)), Tenants.NONE));
    }

    private static PathObservation observed(Row row) {
        return requireNonNull(PathObservation.of(row, SECOND));
    }
}
