// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import com.clickhouse.client.api.query.QuerySettings;
import com.clickhouse.data.ClickHouseFormat;
import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.Terminal;
import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/** {@code chokepoint sql}: asks the tables, as a user who may only read. */
public final class Sql {
    /** What is printed for {@code help sql}. */
    public static final String USAGE = """
        usage: chokepoint sql [OPTION]... "SELECT ..."
        Asks the verdicts in ClickHouse; - reads the query from standard input.

          --format NAME             format of ClickHouse: JSONEachRow, CSVWithNames, Vertical ...
                                    (default: PrettyCompact on a terminal, else TabSeparatedWithNames)
          --clickhouse URL          HTTP interface (CHOKEPOINT_CLICKHOUSE, default http://127.0.0.1:18123)
          --database NAME           database (CHOKEPOINT_CLICKHOUSE_DATABASE, default chokepoint)
          --user NAME               who asks (CHOKEPOINT_CLICKHOUSE_READER_USER, default chokepoint_reader)
          --password-file FILE      password (else CHOKEPOINT_CLICKHOUSE_PASSWORD or CHOKEPOINT_CLICKHOUSE_READER_PASSWORD)

        Views: limitation_intervals, limitation_minutes, limitation_hours, limitation_hours_by_cause, limitation_intervals_refined,
        flows, flow_path_intervals, bottleneck_groups, probe_counters, ledger, ledger_ranges, ledger_balance. DESCRIBE tells columns, units and what NULL means.
        """;

    private static final Set<String> OPTIONS =
            Set.of("--format", "--clickhouse", "--database", "--user", "--password-file");

    private Sql() {}

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, IOException, InterruptedException {
        return run(Settings.processEnvironment(), System.in, System.out, args);
    }

    static int run(Map<String, String> environment, InputStream in, OutputStream out, String... args)
            throws WrongOption, IOException, InterruptedException {
        Settings settings = Settings.parse(OPTIONS, environment, args);
        if (settings.arguments().size() != 1) {
            throw new WrongOption(settings.arguments().size()
                    + " queries are given: expected one, in quotes, or - for standard input");
        }
        String argument = settings.arguments().get(0);
        String query = argument.equals("-") ? new String(in.readAllBytes(), StandardCharsets.UTF_8) : argument;
        Terminal terminal = Terminal.ofProcess();
        ClickHouseFormat format = format(settings, terminal);
        QuerySettings querySettings = new QuerySettings()
                .serverSetting("output_format_pretty_color", terminal.colours() ? "1" : "0")
                .serverSetting("output_format_pretty_row_numbers", "0");
        try (ClickHouse database = ClickHouse.of(settings.access("READER", "chokepoint_reader"))) {
            database.print(query, format, querySettings, out);
            out.flush();
        }
        return ExitCode.OK;
    }

    private static ClickHouseFormat format(Settings settings, Terminal terminal) throws WrongOption {
        String name = settings.get("--format", "", terminal.columns() > 0 ? "PrettyCompact" : "TabSeparatedWithNames");
        return Arrays.stream(ClickHouseFormat.values())
                .filter(format -> format.name().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new WrongOption("option --format is '" + name
                        + "': expected a format of ClickHouse such as PrettyCompact, JSONEachRow or CSVWithNames"));
    }
}
