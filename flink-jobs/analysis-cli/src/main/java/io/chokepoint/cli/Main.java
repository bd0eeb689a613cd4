// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli;

import io.chokepoint.cli.analyze.Analyze;
import io.chokepoint.cli.analyze.AnalyzeOptions;
import io.chokepoint.cli.capture.Capture;
import io.chokepoint.cli.doctor.Doctor;
import io.chokepoint.cli.migrate.Migrate;
import io.chokepoint.cli.migrate.Prune;
import io.chokepoint.cli.migrate.Sql;
import io.chokepoint.cli.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Runs the command that its first argument names. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        int exitCode = exitCodeOf(args);
        Runtime.getRuntime().halt(exitCode);
    }

    private static int exitCodeOf(String[] args) {
        try {
            return run(args);
        } catch (WrongOption e) {
            return complain(e, ExitCode.WRONG_OPTION);
        } catch (UncheckedIOException e) {
            return isClosedPipe(e) ? ExitCode.OK : complain(e.getCause(), ExitCode.FAILED);
        } catch (IOException e) {
            return complain(e, ExitCode.FAILED);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return complain(e, ExitCode.FAILED);
        } catch (OutOfMemoryError e) {
            System.err.println("chokepoint: " + (Runtime.getRuntime().maxMemory() >> 20)
                    + " MiB of memory do not suffice: give more by JAVA_TOOL_OPTIONS=-Xmx8g");
            return ExitCode.FAILED;
        }
    }

    private static int run(String[] args) throws WrongOption, IOException, InterruptedException {
        String command = args.length == 0 ? "" : args[0];
        String[] rest = Arrays.copyOfRange(args, Math.min(1, args.length), args.length);
        return switch (command) {
            case "analyze" -> asksForHelp(rest) ? print(AnalyzeOptions.USAGE) : Analyze.run(AnalyzeOptions.parse(rest));
            case "migrate" -> asksForHelp(rest) ? print(Migrate.USAGE) : Migrate.run(rest);
            case "prune" -> asksForHelp(rest) ? print(Prune.USAGE) : Prune.run(rest);
            case "sql" -> asksForHelp(rest) ? print(Sql.USAGE) : Sql.run(rest);
            case "doctor" -> asksForHelp(rest) ? print(Doctor.USAGE) : Doctor.run(rest);
            case "capture" -> asksForHelp(rest) ? print(Capture.USAGE) : Capture.run(rest);
            case "report" -> asksForHelp(rest) ? print(Report.USAGE) : Report.run(rest);
            default ->
                throw new WrongOption("command " + command
                        + " is not known: expected analyze, migrate, prune, sql, report, doctor or capture");
        };
    }

    private static boolean asksForHelp(String[] args) {
        return args.length > 0 && (args[0].equals("--help") || args[0].equals("-h"));
    }

    private static int print(String text) {
        System.out.print(text);
        return ExitCode.OK;
    }

    /** Whoever read the output has seen enough ({@code | head}): not worth a word. */
    private static boolean isClosedPipe(UncheckedIOException e) {
        return String.valueOf(e.getMessage()).contains("Broken pipe");
    }

    private static int complain(@Nullable Exception e, int exitCode) {
        System.err.println("chokepoint: " + (e == null || e.getMessage() == null ? e : e.getMessage()));
        return exitCode;
    }
}
