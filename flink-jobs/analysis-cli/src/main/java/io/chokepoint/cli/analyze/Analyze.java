// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.batch.BatchStreamReader;
import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.Terminal;
import io.chokepoint.cli.rows.CsvRows;
import io.chokepoint.cli.rows.JsonRows;
import io.chokepoint.cli.rows.Output;
import io.chokepoint.cli.rows.RowWriter;
import io.chokepoint.cli.rows.VerdictTable;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Judges captures: for each tap in turn the probe reads them, and its runs are folded in as they come. */
public final class Analyze {
    private static final Pattern COUNTER = Pattern.compile("\"([a-z0-9_]+)\":([0-9]+)");

    private final AnalyzeOptions options;
    private final Path probe;
    private final RowWriter writer;
    private final PrintStream messages;
    private final Progress progress;
    private final List<Map<String, Object>> booksOfTaps = new ArrayList<>();
    private boolean balanced = true;

    private Analyze(AnalyzeOptions options, Path probe, RowWriter writer, PrintStream messages, Progress progress) {
        this.options = options;
        this.probe = probe;
        this.writer = writer;
        this.messages = messages;
        this.progress = progress;
    }

    /** Judges what the options name and returns the exit code. */
    public static int run(AnalyzeOptions options) throws IOException, InterruptedException {
        Terminal terminal = Terminal.ofProcess();
        Path probe = Path.of(System.getProperty("chokepoint.probe", "build/probe/chokepoint-probe"));
        try (Output out = new Output(new FileOutputStream(FileDescriptor.out))) {
            RowWriter writer = switch (options.format()) {
                case TABLE -> new VerdictTable(out, terminal);
                case JSON -> new JsonRows(out);
                case CSV -> new CsvRows(out);
            };
            return new Analyze(options, probe, writer, System.err, new Progress(System.err, terminal.progress()))
                    .judgeAll();
        }
    }

    private int judgeAll() throws IOException, InterruptedException {
        int exitCode = ExitCode.OK;
        for (Tap tap : options.taps()) {
            int exitCodeOfTap = judge(tap);
            if (exitCodeOfTap == ExitCode.WRONG_OPTION) {
                return exitCodeOfTap; // The probe has said what is wrong, and it would be wrong for every tap.
            }
            exitCode = Math.max(exitCode, exitCodeOfTap);
        }
        writer.end(ledger());
        return balanced ? exitCode : ExitCode.FAILED;
    }

    private Map<String, Object> ledger() {
        Map<String, Object> ledger = new LinkedHashMap<>();
        ledger.put("record", "ledger");
        ledger.put("balanced", balanced);
        ledger.put("taps", booksOfTaps);
        return ledger;
    }

    private int judge(Tap tap) throws IOException, InterruptedException {
        TapBooks books = new TapBooks();
        TapAnalysis analysis = new TapAnalysis(options.settings(), tap.name(), books, writer::row);
        int exitCode;
        try (ProbeProcess process = new ProbeProcess(probe, tap, options.filter())) {
            readBatches(process, tap, analysis, books);
            progress.clear();
            exitCode = Math.min(process.waitForEnd(), ExitCode.WRONG_OPTION);
            for (String failure : process.decompressionFailures()) {
                exitCode = complain(failure);
            }
            readProbeCounters(process.ledgerFile(), books);
        }
        if (exitCode != ExitCode.WRONG_OPTION) {
            exitCode = Math.max(exitCode, closeBooks(tap, books, exitCode));
        }
        return exitCode;
    }

    private void readBatches(ProbeProcess process, Tap tap, TapAnalysis analysis, TapBooks books) throws IOException {
        BatchStreamReader stream = new BatchStreamReader(process.batches());
        while (stream.next() == BatchStreamReader.Next.VALUE) {
            analysis.onBatch(stream.buffer(), stream.length());
            progress.onBatch(tap.name(), books.packetsConsumed());
        }
        analysis.finish();
    }

    /** Takes the counters out of the probe's ledger; there is none if the probe has failed. */
    private static void readProbeCounters(Path ledger, TapBooks books) throws IOException {
        if (!Files.exists(ledger)) {
            return;
        }
        String text = Files.readString(ledger);
        Matcher counter = COUNTER.matcher(text);
        for (int at = Math.max(0, text.indexOf("\"counters\"")); counter.find(at); at = counter.end()) {
            books.probeCounter(counter.group(1), Long.parseLong(counter.group(2)));
        }
    }

    /** Files the books; says what is wrong with them, or that there was nothing to judge. */
    private int closeBooks(Tap tap, TapBooks books, int exitCode) {
        booksOfTaps.add(books.asMap(tap.name()));
        if (exitCode == ExitCode.OK && !books.isBalanced()) {
            balanced = false;
            return complain("the books of tap " + tap.name() + " do not balance: " + books.asMap(tap.name()));
        }
        if (exitCode == ExitCode.OK && books.packetsConsumed() == 0) {
            messages.println("chokepoint: no TCP packet in " + tap.filesText() + " ("
                    + books.probeCounter("frames_received") + " frames read)");
        }
        return ExitCode.OK;
    }

    private int complain(String sentence) {
        messages.println("chokepoint: " + sentence);
        return ExitCode.FAILED;
    }
}
