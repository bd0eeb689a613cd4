// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.report;

import io.chokepoint.analysis.row.RowField;
import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.Terminal;
import io.chokepoint.cli.VerdictStore;
import io.chokepoint.cli.WrongOption;
import io.chokepoint.cli.rows.Output;
import io.chokepoint.cli.rows.Verdict;
import io.chokepoint.cli.rows.VerdictTable;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@code chokepoint report}: the flows in ClickHouse as the table that {@code analyze} prints. */
public final class Report {
    /** What is printed for {@code help report}. */
    public static final String USAGE = """
            usage: chokepoint report [TAP]...
            Prints the flows in ClickHouse as analyze prints them, of all taps or of those given; at most 10,000, those with
            the most bytes.
            Where ClickHouse is, is taken from CHOKEPOINT_CLICKHOUSE, else from services.env of the run directory, else from
            the port of the demo. Ends with 1 if there is no flow.
            """;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final List<RowField> FIELDS = List.of(
            RowField.TAP,
            RowField.CLIENT_IP,
            RowField.CLIENT_PORT,
            RowField.SERVER_IP,
            RowField.SERVER_PORT,
            RowField.DIRECTION,
            RowField.DATA_BYTES,
            RowField.GOODPUT_BITS_PER_SECOND,
            RowField.CAPACITY_BITS_PER_SECOND,
            RowField.CAPACITY_KIND,
            RowField.RTT_MIN_SECONDS,
            RowField.EFFICIENCY_PERCENT,
            RowField.ROOT_CAUSE,
            RowField.SUB_CAUSE,
            RowField.CONFIDENCE,
            RowField.EVIDENCE,
            RowField.ADVICE,
            RowField.QUALITY);

    private Report() {}

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, IOException, InterruptedException {
        for (String arg : args) {
            if (arg.startsWith("-")) {
                throw new WrongOption("option " + arg + " is not known: report takes names of taps only");
            }
        }
        String answer = new VerdictStore(System.getenv()).ask(query(List.of(args)));
        if (answer.isEmpty()) {
            throw new IOException("there is no flow in ClickHouse" + (args.length == 0 ? "" : " of these taps"));
        }
        try (Output out = new Output(new FileOutputStream(FileDescriptor.out))) {
            VerdictTable table = new VerdictTable(out, Terminal.ofProcess());
            answer.lines().map(Report::verdict).forEach(table::verdict);
            table.end();
        }
        return ExitCode.OK;
    }

    static String query(List<String> taps) {
        String columns = FIELDS.stream().map(RowField::seenName).collect(Collectors.joining(", "));
        String condition = taps.stream()
                .map(tap -> "'" + tap.replace("\\", "\\\\").replace("'", "\\'") + "'")
                .collect(Collectors.joining(", ", "tap IN (", ")"));
        return "SELECT toUnixTimestamp64Nano(interval_end) - toUnixTimestamp64Nano(interval_start), " + columns
                + " FROM (SELECT * FROM flows WHERE " + (taps.isEmpty() ? "1" : condition)
                + " ORDER BY data_bytes DESC LIMIT 10000) ORDER BY tap FORMAT TabSeparated";
    }

    /** Reads one line of the answer to {@link #query}. */
    static Verdict verdict(String line) {
        String[] cells = line.split("\t", -1);
        Map<RowField, @Nullable Object> values = new EnumMap<>(RowField.class);
        for (int i = 0; i < FIELDS.size(); i++) {
            values.put(FIELDS.get(i), value(FIELDS.get(i), cells[i + 1]));
        }
        return Verdict.of(Long.parseLong(cells[0]) / NANOS_PER_SECOND, values::get);
    }

    private static @Nullable Object value(RowField field, String cell) {
        if (cell.equals("\\N")) {
            return null;
        }
        return switch (field.kind()) {
            case INTEGER, SCALED, RATE, EFFICIENCY -> Double.valueOf(cell);
            default -> cell.replace("\\'", "'").replace("\\t", "\t").replace("\\\\", "\\");
        };
    }
}
