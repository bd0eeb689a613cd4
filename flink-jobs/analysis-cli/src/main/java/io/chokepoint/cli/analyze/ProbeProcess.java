// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The probe of one tap, and a decompressor for each of its compressed captures. They end when this is closed or, if Java
 * is killed, by the kernel.
 */
final class ProbeProcess implements AutoCloseable {
    private static final int PIPE_BYTES = 256 * 1024;
    // A probe that waits for standard input would not notice that its reader has gone.
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
    private static final List<String> ENDS_WITH_JAVA =
            Files.isExecutable(SETPRIV) ? List.of(SETPRIV.toString(), "--pdeathsig", "KILL", "--") : List.of();

    private final Path directory;
    private final List<Decompressor> decompressors = new ArrayList<>();
    private final Process probe;

    /** Starts the probe of a tap; of the options, those that are the probe's own. */
    ProbeProcess(Path executable, Tap tap, AnalyzeOptions options) throws IOException {
        directory = Files.createTempDirectory("chokepoint-");
        List<String> command = new ArrayList<>(ENDS_WITH_JAVA);
        command.addAll(List.of(executable.toString(), "--tap", tap.name(), "--output", "-"));
        command.addAll(List.of("--ledger", ledgerFile().toString()));
        command.addAll(List.of("--tunnels", options.tunnels().name().toLowerCase(Locale.ROOT)));
        if (options.filter() != null) {
            command.addAll(List.of("--filter", options.filter()));
        }
        command.add("--");
        for (String file : tap.files()) {
            command.add(readable(file));
        }
        probe = new ProcessBuilder(command)
                .redirectInput(Redirect.INHERIT)
                .redirectError(Redirect.INHERIT)
                .start();
    }

    /** What the probe opens: the file, or a pipe out of a decompressor. */
    private String readable(String file) throws IOException {
        String tool = file.endsWith(".gz") ? "zcat" : file.endsWith(".zst") ? "zstdcat" : "";
        if (tool.isEmpty() || !Files.isReadable(Path.of(file))) {
            return file;
        }
        // The probe's sentences name the pipe, so it is called as the file.
        String name = decompressors.size() + "-" + Path.of(file).getFileName();
        Decompressor decompressor = new Decompressor(tool, file, directory.resolve(name));
        decompressors.add(decompressor);
        return decompressor.pipe.toString();
    }

    /** The batch stream. */
    InputStream batches() {
        return new BufferedInputStream(probe.getInputStream(), PIPE_BYTES);
    }

    /** The books of the probe as JSON; there once the probe has ended. */
    Path ledgerFile() {
        return directory.resolve("ledger");
    }

    /** Waits for the end and says how the probe ended: 0, or the exit code of its own sentence. */
    int waitForEnd() throws InterruptedException {
        return probe.waitFor();
    }

    /** Sentences about captures that could not be decompressed to their end; to be asked after the probe's end. */
    List<String> decompressionFailures() throws IOException, InterruptedException {
        List<String> failures = new ArrayList<>();
        for (Decompressor decompressor : decompressors) {
            String failure = decompressor.failure();
            if (!failure.isEmpty()) {
                failures.add(failure);
            }
        }
        return failures;
    }

    /** Ends the capture here: the probe hands over what it has, and ends. */
    void stop() {
        probe.toHandle().destroy(); // Process.destroy() would also close the pipe that is still to be read.
    }

    /** By force: a probe that is asked to end would drain into a pipe that nobody reads, and complain about it. */
    @Override
    public void close() {
        probe.destroyForcibly();
        decompressors.forEach(decompressor -> decompressor.process.destroyForcibly());
        deleteDirectory();
    }

    private void deleteDirectory() {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // What is left lies in the directory for temporary files, and there is nobody to tell.
        }
    }

    /** A decompressor that writes into a named pipe. */
    private static final class Decompressor {
        private final String file;
        private final Path pipe;
        private final Path errors;
        private final Process process;

        Decompressor(String tool, String file, Path pipe) throws IOException {
            this.file = file;
            this.pipe = pipe;
            this.errors = pipe.resolveSibling(pipe.getFileName() + ".errors");
            makePipe(pipe);
            // The shell opens the pipe, which waits until the probe does; Java would wait with it.
            List<String> command = new ArrayList<>(ENDS_WITH_JAVA);
            command.addAll(List.of("sh", "-c", "exec " + tool + " <\"$1\" >\"$2\"", tool, file, pipe.toString()));
            process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        }

        private static void makePipe(Path pipe) throws IOException {
            try {
                int exitCode = new ProcessBuilder("mkfifo", "-m", "600", pipe.toString())
                        .redirectError(Redirect.INHERIT)
                        .start()
                        .waitFor();
                if (exitCode != 0) {
                    throw new IOException("cannot make the named pipe " + pipe);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }

        /** Empty unless the decompressor has failed by itself; one that the probe left alone is stopped. */
        String failure() throws IOException, InterruptedException {
            String said = Files.readString(errors, StandardCharsets.UTF_8).strip();
            if (said.isEmpty()) {
                process.destroy();
                return "";
            }
            process.waitFor();
            return "cannot decompress " + file + ": " + said.lines().findFirst().orElse("");
        }
    }
}
