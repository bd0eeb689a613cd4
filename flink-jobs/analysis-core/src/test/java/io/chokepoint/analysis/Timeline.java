// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A packet script whose {@code expect} lines are held against the rows that a tap makes of its packets.
 *
 * <pre>{@code
 * expect client B                                          who is the client
 * expect A > B data_packets 60, root_cause application     the row of a direction's life
 * expect A > B second 1 data_packets 0..9, rtt_p50_seconds null
 * expect A > B seconds 0 1 4                               the seconds of the script that have a row; none without any
 * expect A > B quality hole !capture_loss                  flags that are set, and not set
 * expect B > A none                                        no row at all
 * expect connection 2 A > B data_packets 7                 of the rows of the second connection on these ports
 * expect ledger packets_encoded 31                         for the probe, which sees frames
 * }</pre>
 *
 * <p>Columns bear the names and values that people see.
 */
final class Timeline {
    /** A handshake seen right beside A, 10 ms from B, with all options; segments of 1448 bytes. */
    static final String OPENING = """
            timestamps
            mss 1448
            +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
            +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
            +0.000 A > B .  0:0(0) ack 1  win 502
            """;

    private static final Pattern CLIENT = Pattern.compile("client ([AB])");
    private static final Pattern ROWS = Pattern.compile(
            "(connection (?<connection>\\d+) )?(?<from>[AB]) > [AB] (?<none>none|seconds(?<seconds>( \\d+)*)|(second (?<second>\\d+) )?"
                    + "(?<columns>.+))");
    private static final Pattern COLUMN = Pattern.compile("(?<name>\\w+) (?<value>.+)");
    private static final Pattern RANGE = Pattern.compile("(?<low>[-\\d.e]+?)\\.\\.(?<high>[-\\d.e]+)");
    private static final Pattern NUMBER = Pattern.compile("-?[\\d.]+(e\\d+)?");
    private static final int RESTARTS = 100;
    private static final double BITS_PER_BYTE = 8;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final PacketScript script;
    private final List<Row> rows;

    private Timeline(PacketScript script, List<Row> rows) {
        this.script = script;
        this.rows = rows;
    }

    /** Plays a script to a tap by the rule of the probe, and judges. */
    static void check(String text) {
        check(PacketScript.parse(text));
    }

    /** Plays a script to a tap by the rule of the probe, and judges; a tap that restarts all the time must agree. */
    static void check(PacketScript script) {
        List<Row> rows = Tap.rowsOf(script.runs(RunCutter.PROBE));
        check(script, rows);
        Tap restarting = new Tap();
        // After every packet of a short script.
        int packets = Math.min(1 + script.packets().size() / RESTARTS, 256);
        script.runs(new RunCutter(packets, true, true)).forEach(run -> {
            restarting.take(run);
            restarting.restart();
        });
        assertThat(restarting.rows()).as("rows after restarts").isEqualTo(rows);
    }

    /** Judges rows that were made of a script in another way. */
    static void check(PacketScript script, List<Row> rows) {
        assertThat(script.expectations()).as("expectations").isNotEmpty();
        Timeline timeline = new Timeline(script, rows);
        script.expectations().stream()
                .filter(expectation -> !expectation.startsWith("ledger "))
                .forEach(timeline::judge);
    }

    private void judge(String expectation) {
        Matcher client = CLIENT.matcher(expectation);
        Matcher wanted = ROWS.matcher(expectation);
        if (client.matches()) {
            assertThat(rows)
                    .isNotEmpty()
                    .allSatisfy(row -> assertThat(clientOf(row)).as(expectation).isEqualTo(client.group(1)));
        } else if (!wanted.matches()) {
            throw new IllegalArgumentException("not an expectation: " + expectation);
        } else if (wanted.group("none") != null && wanted.group("none").equals("none")) {
            assertThat(rowsFrom(wanted)).as(expectation).isEmpty();
        } else if (wanted.group("seconds") != null) {
            judgeSeconds(wanted);
        } else {
            judgeColumns(wanted);
        }
    }

    private void judgeSeconds(Matcher wanted) {
        String seconds = rowsFrom(wanted).stream()
                .filter(row -> row.table() == Row.Table.LIMITATION_INTERVALS)
                .map(row -> " " + second(row))
                .collect(Collectors.joining());
        assertThat(seconds).as(wanted.group()).isEqualTo(wanted.group("seconds"));
    }

    private void judgeColumns(Matcher wanted) {
        List<Row> chosen = rowsFrom(wanted).stream()
                .filter(row -> wanted.group("second") == null
                        ? row.table() == Row.Table.FLOWS
                        : row.table() == Row.Table.LIMITATION_INTERVALS
                                && second(row) == Long.parseLong(wanted.group("second")))
                .toList();
        assertThat(chosen).as("rows of: " + wanted.group()).hasSize(1);
        for (String column : wanted.group("columns").split(", ")) {
            Matcher m = COLUMN.matcher(column);
            assertThat(m.matches()).as(column).isTrue();
            judge(chosen.get(0), RowField.valueOf(m.group("name").toUpperCase(Locale.ROOT)), m.group("value"));
        }
    }

    private static void judge(Row row, RowField field, String wanted) {
        String what = field.seenName() + " " + wanted;
        Matcher range = RANGE.matcher(wanted);
        if (field == RowField.VLAN) {
            assertThat(row.identity().vlan()).as(what).isEqualTo(Long.parseLong(wanted));
        } else if (field.kind() == RowField.Kind.FLAGS) {
            List<String> flags = flags(row.get(field));
            for (String flag : wanted.split(" ")) {
                Quality quality = Quality.valueOf(flag.replace("!", "").toUpperCase(Locale.ROOT));
                assertThat(flags.contains(quality.name()))
                        .as(flag + " in " + flags)
                        .isEqualTo(!flag.startsWith("!"));
            }
        } else if (row.isNull(field) || wanted.equals("null")) {
            assertThat(row.isNull(field) ? "null" : "a value").as(what).isEqualTo(wanted);
        } else if (range.matches()) {
            assertThat(seen(row, field))
                    .as(what)
                    .isBetween(Double.valueOf(range.group("low")), Double.valueOf(range.group("high")));
        } else if (NUMBER.matcher(wanted).matches()) {
            assertThat(seen(row, field)).as(what).isEqualTo(Double.parseDouble(wanted));
        } else {
            assertThat(field.labels().get((int) row.get(field))).as(what).isEqualTo(wanted);
        }
    }

    private static double seen(Row row, RowField field) {
        double stored = row.get(field);
        return switch (field.kind()) {
            case SCALED -> stored / field.divisor();
            case SHARE -> stored / row.intervalNanos();
            case RATE -> stored * BITS_PER_BYTE * NANOS_PER_SECOND / row.intervalNanos();
            default -> stored;
        };
    }

    private static List<String> flags(long bits) {
        return Arrays.stream(Quality.values())
                .filter(quality -> (bits & 1L << quality.ordinal()) != 0)
                .map(Enum::name)
                .toList();
    }

    private List<Row> rowsFrom(Matcher wanted) {
        return rows.stream()
                .filter(row -> wanted.group("connection") == null
                        || connectionOf(row) == Integer.parseInt(wanted.group("connection")))
                .filter(row -> clientOf(row).equals(wanted.group("from"))
                        == (row.get(RowField.DIRECTION) == Direction.CLIENT_TO_SERVER.ordinal()))
                .toList();
    }

    private long connectionOf(Row row) {
        return script.connections().stream()
                .filter(packets -> packets.get(0).timeNs() <= row.get(RowField.INTERVAL_START))
                .count();
    }

    /** The ports of a script's ends differ. */
    private String clientOf(Row row) {
        Flow flow = script.flow();
        InetSocketAddress a = flow.a();
        return row.identity().clientPort() == a.getPort() ? "A" : "B";
    }

    /** Second of the script in which a row starts. */
    private long second(Row row) {
        long first = Math.floorDiv(script.packets().get(0).timeNs(), NANOS_PER_SECOND);
        return Math.floorDiv(row.get(RowField.INTERVAL_START), NANOS_PER_SECOND) - first;
    }
}
