// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A command as a user types it, and what came of it. */
final class Command {
    /** Root of the repository. */
    static final Path ROOT = Path.of(System.getProperty("chokepoint.root", ".."))
            .toAbsolutePath()
            .normalize();

    private static final long DEADLINE_SECONDS = 300;

    private final List<String> words = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private Path directory = ROOT;

    private Command() {}

    /**
     * What a command said and how it ended.
     *
     * @param said all of both outputs, for messages of assertions
     */
    record Outcome(int exitCode, List<String> out, List<String> err, String said) {
        /** Asserts the exit code and that one line on standard error says this. */
        void failed(int expectedExitCode, String sentence) {
            assertThat(err).as("sentences of: %s", said).contains(sentence);
            assertThat(exitCode).as("exit code of: %s", said).isEqualTo(expectedExitCode);
        }

        /** Asserts success and returns standard output. */
        List<String> succeeded() {
            assertThat(exitCode).as("exit code of: %s", said).isZero();
            return out;
        }
    }

    /** The launcher with its arguments. */
    static Command chokepoint(Object... arguments) {
        return of(ROOT.resolve("chokepoint"), arguments);
    }

    /** Any program with its arguments. */
    static Command of(Object program, Object... arguments) {
        Command command = new Command();
        command.words.add(program.toString());
        for (Object argument : arguments) {
            command.words.add(argument.toString());
        }
        return command;
    }

    /** A line of the shell. */
    static Command shell(String line, Object... arguments) {
        return of("bash", "-c", line, "bash").with(arguments);
    }

    /** Appends arguments. */
    Command with(Object... arguments) {
        for (Object argument : arguments) {
            words.add(argument.toString());
        }
        return this;
    }

    /** Runs in another directory. */
    Command in(Path other) {
        directory = other;
        return this;
    }

    /** Runs with variables of the environment. */
    Command environment(Map<String, String> variables) {
        environment.putAll(variables);
        return this;
    }

    /** Starts it; its outputs go to files in a directory. */
    Process start(Path out, Path err) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        builder.environment().putAll(environment);
        return builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    }

    /** Runs it to its end. */
    Outcome run() {
        Path out = null;
        Path err = null;
        try {
            out = Files.createTempFile("chokepoint-it-", ".out");
            err = Files.createTempFile("chokepoint-it-", ".err");
            Process process = start(out, err);
            process.getOutputStream().close();
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(this + " did not end within " + DEADLINE_SECONDS + " s: " + text(err));
            }
            String said =
                    this + "\n" + text(out).lines().limit(40).collect(Collectors.joining("\n")) + "\n" + text(err);
            return new Outcome(
                    process.exitValue(),
                    text(out).lines().toList(),
                    text(err).lines().toList(),
                    said);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(this + " was interrupted", e);
        } finally {
            delete(out);
            delete(err);
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static void delete(Path file) {
        if (file != null) {
            file.toFile().delete();
        }
    }

    @Override
    public String toString() {
        return String.join(" ", words);
    }
}
