// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.WrongOption;
import io.chokepoint.cli.capture.CaptureOptions.Alert;
import io.chokepoint.cli.capture.CaptureOptions.OneFlow;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code chokepoint capture}: the last seconds of flows, out of the rings of probes, as pcapng. */
public final class Capture {
    /** What is printed for {@code help capture}. */
    public static final String USAGE = """
            usage: chokepoint capture --probe URL --key FILE --flow 'CLIENT:PORT>SERVER:PORT' [--seconds N] [--output FILE]
                   chokepoint capture --probes FILE --alert FILE [--seconds N] [--output FOLDER]
            Fetches the last seconds of a flow from a probe that runs with --ring-memory, as pcapng.

              --probe URL           where the probe has its --metrics, such as http://127.0.0.1:9465
              --key FILE            the --ring-key of the probe
              --flow FLOW           as rows name it: client_ip:client_port>server_ip:server_port; IPv6 in brackets
              --alert FILE          what a webhook of Grafana has sent, - is standard input: of each alert that fires the
                                    flow in its labels tap, client_ip, client_port, server_ip, server_port
              --probes FILE         the probes of all taps, one a line: URL KEYFILE TAP
              --seconds N           1 to 3600 (default 30); they end with the newest packet of the tap
              --output FILE|FOLDER  default: a file named after flow and time, here

            Ends with 1 if a capture could not be had.
            """;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT);

    private static final Set<PosixFilePermission> OWNER_ALONE =
            Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final CaptureOptions options;
    private final Clock clock;
    private final DumpClient client;
    private final PrintStream out;
    private final PrintStream complaints;

    Capture(CaptureOptions options, Clock clock, PrintStream out, PrintStream complaints) {
        this.options = options;
        this.clock = clock;
        this.client = new DumpClient(clock);
        this.out = out;
        this.complaints = complaints;
    }

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, IOException, InterruptedException {
        CaptureOptions options = CaptureOptions.parse(args);
        return new Capture(options, Clock.systemUTC(), System.out, System.err).run(System.in);
    }

    int run(InputStream in) throws IOException, InterruptedException {
        if (options.asked() instanceof OneFlow one) {
            String output = options.output();
            Path file = Path.of(output == null ? fileName("", one.flow()) : output);
            fetch(one.probe(), null, one.flow(), file);
            return ExitCode.OK;
        }
        Alert alert = (Alert) options.asked();
        String json = alert.file().equals("-")
                ? new String(in.readAllBytes(), StandardCharsets.UTF_8)
                : Files.readString(Path.of(alert.file()));
        boolean isComplete = true;
        for (Map<String, String> labels : GrafanaAlerts.firing(json)) {
            try {
                fetch(alert.probes(), labels);
            } catch (IOException e) {
                complaints.println("chokepoint: " + e.getMessage());
                isComplete = false;
            }
        }
        return isComplete ? ExitCode.OK : ExitCode.FAILED;
    }

    private void fetch(Map<String, Probe> probes, Map<String, String> labels) throws IOException, InterruptedException {
        String tap = labels.get("tap");
        Flow flow = Flow.ofLabels(labels);
        if (tap == null || flow == null) {
            throw new IOException("alert " + labels.getOrDefault("alertname", "without a name")
                    + " names no flow: expected the labels tap, client_ip, client_port, server_ip and server_port");
        }
        Probe probe = probes.get(tap);
        if (probe == null) {
            throw new IOException("no probe of tap " + tap + " is known: expected a line for it in --probes");
        }
        String folder = options.output();
        String name = fileName(tap.replaceAll("[^A-Za-z0-9-]", ".") + "_", flow);
        fetch(probe, tap, flow, Path.of(folder == null ? "" : folder).resolve(name));
    }

    private String fileName(String prefix, Flow flow) {
        return prefix + flow.fileText() + "_" + TIME.format(clock.instant().atOffset(ZoneOffset.UTC)) + ".pcapng";
    }

    private void fetch(Probe probe, @Nullable String tap, Flow flow, Path file)
            throws IOException, InterruptedException {
        DumpClient.Dump dump = client.fetch(probe, tap, flow, options.seconds());
        write(file, dump.bytes());
        boolean isAll = dump.coveredSeconds() >= options.seconds();
        out.printf(
                Locale.ROOT,
                "%s: %d frames of %s in %.1f s%s%n",
                file,
                dump.frames(),
                flow,
                dump.coveredSeconds(),
                isAll ? "" : ", the ring holds nothing older");
    }

    /**
     * Nobody else may read what was fetched, also if the file was there before. Links are not followed; what is no file,
     * such as a pipe, stays as it is.
     */
    static void write(Path file, ByteBuffer bytes) throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(OWNER_ALONE))) {
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .setPermissions(OWNER_ALONE);
                channel.truncate(0);
            }
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw new IOException(file + " cannot be written: " + e.getMessage(), e);
        }
    }
}
