// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.batch.BatchStreamReader;
import io.chokepoint.analysis.batch.BatchStreamReader.Next;
import io.chokepoint.analysis.row.Row;
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
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Judges captures: for each tap in turn the probe reads them, and its runs are folded in as they come. Ctrl-C ends the
 * capture, not the judgement: what was seen until then is still told.
 */
public final class Analyze {
    private static final Pattern COUNTER = Pattern.compile("\"([a-z0-9_]+)\":([0-9]+)");

    private static final long DRAIN_SECONDS = 10;

    private final AnalyzeOptions options;
    private final Path probe;
    private final Output out;
    private final RowWriter writer;
    private final PrintStream messages;
    private final Progress progress;
    private final Paths paths;
    private final List<Map<String, Object>> booksOfTaps = new ArrayList<>();
    private final CountDownLatch told = new CountDownLatch(1);
    private boolean balanced = true;
    private volatile boolean interrupted;
    private volatile @Nullable ProbeProcess running;

    private Analyze(AnalyzeOptions options, Output out, Terminal terminal) {
        this.options = options;
        this.probe = Path.of(System.getProperty("chokepoint.probe", "build/probe/chokepoint-probe"));
        this.out = out;
        this.writer = switch (options.format()) {
            case TABLE -> new VerdictTable(out, terminal);
            case JSON -> new JsonRows(out);
            case CSV -> new CsvRows(out);
        };
        this.paths = new Paths(options.settings());
        this.messages = System.err;
        this.progress = new Progress(messages, terminal.progress());
    }

    /** Judges what the options name and returns the exit code. */
    public static int run(AnalyzeOptions options) throws IOException, InterruptedException {
        try (Output out = new Output(new FileOutputStream(FileDescriptor.out))) {
            Analyze analyze = new Analyze(options, out, Terminal.ofProcess());
            Runtime.getRuntime().addShutdownHook(new Thread(analyze::stop, "end of the capture"));
            int exitCode = analyze.judgeAll();
            out.flush();
            analyze.told.countDown();
            return exitCode;
        }
    }

    /** Ends the capture, and holds the end of Java until what was seen is told. */
    private void stop() {
        interrupted = true;
        ProbeProcess process = running;
        if (process == null) {
            return;
        }
        process.stop();
        try {
            if (!told.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
                process.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
            if (interrupted) {
                exitCode = ExitCode.INTERRUPTED;
                break;
            }
        }
        paths.finish(writer::path);
        writer.end(ledger());
        return exitCode;
    }

    private Map<String, Object> ledger() {
        Map<String, Object> ledger = new LinkedHashMap<>();
        ledger.put("record", "ledger");
        ledger.put("balanced", balanced);
        ledger.put("taps", booksOfTaps);
        if (options.taps().size() > 1) {
            ledger.put("paths", paths.counters());
        }
        return ledger;
    }

    private void row(Row row) {
        writer.row(row);
        if (options.taps().size() > 1) {
            paths.row(row);
        }
    }

    private int judge(Tap tap) throws IOException, InterruptedException {
        TapBooks books = new TapBooks();
        TapAnalysis analysis = new TapAnalysis(options.settings(), tap.name(), books, this::row, writer::group);
        int exitCode;
        try (ProbeProcess process = new ProbeProcess(probe, tap, options)) {
            running = process;
            boolean whole = readBatches(process, tap, analysis, books);
            progress.clear();
            exitCode = exitCodeOf(process.waitForEnd(), whole);
            if (exitCode != ExitCode.WRONG_OPTION && !interrupted) {
                for (String failure : process.decompressionFailures()) {
                    exitCode = complain(failure);
                }
            }
            readProbeCounters(process.ledgerFile(), books);
        } finally {
            running = null;
        }
        return exitCode == ExitCode.WRONG_OPTION ? exitCode : closeBooks(tap, books, exitCode);
    }

    /** Folds all batches in; returns whether the stream ended behind a batch. */
    private boolean readBatches(ProbeProcess process, Tap tap, TapAnalysis analysis, TapBooks books)
            throws IOException {
        InputStream batches = process.batches();
        BatchStreamReader stream = new BatchStreamReader(batches);
        Next next = stream.next();
        while (next == Next.VALUE) {
            analysis.onBatch(stream.buffer(), stream.length());
            progress.onBatch(tap.name(), books.packetsConsumed());
            if (batches.available() == 0) {
                out.flush(); // A live capture pauses here, and somebody waits for its rows.
            }
            next = stream.next();
        }
        analysis.finish();
        return next == Next.END;
    }

    private int exitCodeOf(int probeExitCode, boolean whole) {
        return switch (probeExitCode) {
            case ExitCode.OK -> whole ? ExitCode.OK : complain("the probe's output breaks off inside a batch");
            case ExitCode.FAILED, ExitCode.WRONG_OPTION -> probeExitCode; // It has said why.
            default -> complain("the probe broke down with exit code " + probeExitCode);
        };
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
        balanced &= books.isBalanced();
        if (exitCode == ExitCode.OK && !books.isBalanced()) {
            return complain("the books of tap " + tap.name() + " do not balance: " + books.asMap(tap.name()));
        }
        if (exitCode == ExitCode.OK && books.packetsConsumed() == 0) {
            messages.println("chokepoint: no TCP packet in " + tap.filesText() + " ("
                    + books.probeCounter("frames_received") + " frames read)");
        }
        return exitCode;
    }

    private int complain(String sentence) {
        messages.println("chokepoint: " + sentence);
        return ExitCode.FAILED;
    }
}
