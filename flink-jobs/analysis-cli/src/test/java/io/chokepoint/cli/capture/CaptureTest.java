// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.chokepoint.cli.WrongOption;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CaptureTest {
    @TempDir
    Path directory;

    @Test
    void aFileThatWasThereIsForItsOwnerAloneAndHoldsNothingElse() throws IOException {
        Path file = Files.writeString(directory.resolve("there"), "longer than what is written");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));

        write(file);

        assertThat(file).hasContent("frames");
        assertThat(mode(file)).isEqualTo("rw-------");
    }

    @Test
    void aNewFileIsForItsOwnerAlone() throws IOException {
        Path file = directory.resolve("new");

        write(file);

        assertThat(file).hasContent("frames");
        assertThat(mode(file)).isEqualTo("rw-------");
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        Path file = Files.writeString(directory.resolve("elsewhere"), "kept");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        assertThatThrownBy(() -> write(link))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(link + " cannot be written: ");
        assertThat(file).hasContent("kept");
        assertThat(mode(file)).isEqualTo("rw-rw-r--");
    }

    @Test
    void aPipeStaysAsItIs() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", "--mode=640", pipe.toString())
                        .start()
                        .waitFor())
                .isZero();
        Process reader = new ProcessBuilder("cat", pipe.toString()).start();

        write(pipe);

        assertThat(reader.getInputStream().readAllBytes()).asString().isEqualTo("frames");
        assertThat(mode(pipe)).isEqualTo("rw-r-----");
    }

    @ParameterizedTest
    @CsvSource({"'', /dump", "/, /dump", "/prefix, /prefix/dump", "/a%20b/c/, /a%20b/c/dump"})
    void aPathOfTheProbeStaysBeforeTheCommand(String path, String asked)
            throws IOException, InterruptedException, WrongOption {
        Path key = Files.writeString(directory.resolve("key"), "0123456789abcdef".repeat(2));
        Path file = directory.resolve("capture");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            boolean isThere = exchange.getRequestURI().getRawPath().equals(asked);
            exchange.getResponseHeaders().set("Chokepoint-Frames", "1");
            exchange.getResponseHeaders().set("Chokepoint-Covered-Seconds", "30.0");
            exchange.sendResponseHeaders(isThere ? 200 : 404, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write("frames".getBytes(StandardCharsets.UTF_8));
            }
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + path;
            CaptureOptions options = CaptureOptions.parse(
                    "--probe=" + url, "--key=" + key, "--flow=10.0.0.1:40000>10.0.0.2:443", "--output=" + file);
            PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);

            assertThat(new Capture(options, Clock.systemUTC(), out, out).run(InputStream.nullInputStream()))
                    .isZero();
        } finally {
            server.stop(0);
        }

        assertThat(file).hasContent("frames");
    }

    private static void write(Path file) throws IOException {
        Capture.write(file, ByteBuffer.wrap("frames".getBytes(StandardCharsets.UTF_8)));
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }
}
