// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.path.PathRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.cli.Terminal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The table for people: for each tap one line a flow and direction with data, most bytes first, and below it what the
 * verdict rests on and what to do. On a terminal too narrow for that the numbers get a line of their own.
 */
public final class VerdictTable implements RowWriter {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int DEFAULT_COLUMNS = 120;
    private static final int MIN_COLUMNS = 60;
    private static final String UNKNOWN = "-";
    private static final String GAP = "  ";
    private static final String INDENT = "    ";
    private static final String[] HEADINGS = {
        "CLIENT", "", "SERVER", "BYTES", "DURATION", "GOODPUT", "CAPACITY", "RTT MIN", "RESENT", "LIMITED BY", "CONF"
    };
    private static final int[] WHO = {0, 1, 2};
    private static final int[] NUMBERS = {3, 4, 5, 6, 7, 8};
    private static final int[] VERDICT = {9, 10};
    private static final int ROOT_CAUSE = 9;

    private final Output out;
    private final Terminal terminal;
    private final int columns;
    private final Map<String, List<Verdict>> verdictsByTap = new LinkedHashMap<>();
    private final PathTable paths = new PathTable();

    public VerdictTable(Output out, Terminal terminal) {
        this.out = out;
        this.terminal = terminal;
        this.columns = terminal.columns() == 0 ? DEFAULT_COLUMNS : Math.max(MIN_COLUMNS, terminal.columns());
    }

    @Override
    public void row(Row row) {
        if (row.table() == Row.Table.FLOWS) {
            verdict(Verdict.of(row.intervalNanos() / NANOS_PER_SECOND, field -> RowValues.of(row, field)));
        }
    }

    /** Does nothing: a table of whole flows has no place for windows of 10 s. */
    @Override
    public void group(BottleneckGroup group) {}

    /** Takes a line of the table. */
    public void verdict(Verdict verdict) {
        verdictsByTap.computeIfAbsent(verdict.tap(), tap -> new ArrayList<>()).add(verdict);
    }

    @Override
    public void path(PathRow row) {
        paths.row(row);
    }

    @Override
    public void end(Map<String, ?> ledger) {
        end();
        List<String> lines = paths.lines();
        if (!lines.isEmpty()) {
            out.line("\n" + bold("paths"));
            lines.forEach(out::line);
        }
    }

    /** Prints the table. */
    public void end() {
        List<String[]> allCells = new ArrayList<>();
        verdictsByTap.values().forEach(verdicts -> {
            verdicts.sort(Comparator.comparingLong(Verdict::bytes).reversed());
            verdicts.forEach(verdict -> allCells.add(cells(verdict)));
        });
        int[] widths = widths(allCells);
        boolean narrow = terminal.columns() > 0 && total(widths) > columns;

        int line = 0;
        String separator = "";
        for (Map.Entry<String, List<Verdict>> tap : verdictsByTap.entrySet()) {
            out.line(separator + bold("tap " + tap.getKey()));
            printLine(HEADINGS, widths, narrow, "2");
            for (Verdict verdict : tap.getValue()) {
                printLine(allCells.get(line++), widths, narrow, "");
                printReasons(verdict);
            }
            separator = "\n";
        }
    }

    private static String[] cells(Verdict verdict) {
        return new String[] {
            verdict.client(),
            verdict.toServer() ? "->" : "<-",
            verdict.server(),
            UnitText.bytes((double) verdict.bytes()),
            UnitText.seconds(verdict.seconds()),
            cell(verdict.goodput(), UnitText::bitsPerSecond),
            (verdict.capacity() == null || verdict.capacityProven() ? "" : ">= ")
                    + cell(verdict.capacity(), UnitText::bitsPerSecond),
            cell(verdict.rttMin(), UnitText::seconds),
            cell(verdict.retransmittedShare(), UnitText::percent),
            verdict.rootCause(),
            cell(verdict.confidence(), confidence -> String.format(Locale.ROOT, "%.2f", confidence))
        };
    }

    private static String cell(@Nullable Double value, DoubleFunction<String> text) {
        return value == null ? UNKNOWN : text.apply(value);
    }

    private static int[] widths(List<String[]> lines) {
        int[] widths = new int[HEADINGS.length];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = HEADINGS[column].length();
            for (String[] line : lines) {
                widths[column] = Math.max(widths[column], line[column].length());
            }
        }
        return widths;
    }

    private static int total(int[] widths) {
        int total = -GAP.length();
        for (int width : widths) {
            total += width + GAP.length();
        }
        return total;
    }

    private void printLine(String[] cells, int[] widths, boolean narrow, String style) {
        String who = joined(cells, widths, WHO);
        String numbers = joined(cells, widths, NUMBERS);
        String verdict = joined(cells, widths, VERDICT).stripTrailing();
        if (narrow) {
            out.line(styled(who + GAP + verdict, style));
            out.line(INDENT + styled(numbers, style));
        } else {
            out.line(styled(who + GAP + numbers + GAP + verdict, style));
        }
    }

    private String joined(String[] cells, int[] widths, int[] columnsToJoin) {
        StringJoiner line = new StringJoiner(GAP);
        for (int column : columnsToJoin) {
            boolean left = column < NUMBERS[0] || column == ROOT_CAUSE;
            String padding = " ".repeat(widths[column] - cells[column].length());
            String text = column == ROOT_CAUSE ? styled(cells[column], colour(cells[column])) : cells[column];
            line.add(left ? text + padding : padding + text);
        }
        return line.toString();
    }

    private void printReasons(Verdict verdict) {
        if (verdict.rootCause().equals("short_transfer")) {
            return;
        }
        printWrapped(verdict.subCause(), verdict.evidence());
        printWrapped("advice", verdict.advice());
        printWrapped("quality", verdict.quality().replace(",", ", "));
    }

    private void printWrapped(String label, String text) {
        if (text.isEmpty()) {
            return;
        }
        String[] words = ((label.isEmpty() ? "" : label + ": ") + text).split(" ", -1);
        StringBuilder line = new StringBuilder(INDENT);
        boolean atStart = true;
        for (String word : words) {
            if (!atStart && line.length() + 1 + word.length() > columns) {
                out.line(line);
                line.setLength(0);
                line.append(INDENT).append(GAP);
                atStart = true;
            }
            line.append(atStart ? "" : " ").append(word);
            atStart = false;
        }
        out.line(line);
    }

    private String bold(String text) {
        return styled(text, "1");
    }

    private String styled(String text, String code) {
        return terminal.colours() && !code.isEmpty() ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }

    /** Colours as in the dashboards: blue for ends, red and yellow for the path, green for congestion control. */
    private static String colour(String rootCause) {
        return switch (rootCause) {
            case "application" -> "34";
            case "send_buffer" -> "36";
            case "receiver_window" -> "35";
            case "unshared_bottleneck", "bottleneck" -> "31";
            case "shared_bottleneck" -> "33";
            case "transport" -> "32";
            case "unknown", "short_transfer" -> "2";
            default -> "";
        };
    }
}
