// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A capture that comes to a probe frame by frame, as from a mirror, while something happens to the probe or to what is behind it. */
final class Tap implements AutoCloseable {
    private static final int FILE_HEADER_BYTES = 24;
    private static final int FRAME_HEADER_BYTES = 16;
    private static final int CAPTURED_LENGTH_OFFSET = 8;
    private static final long END_SECONDS = 300;

    private final byte[] capture;
    private final Path ledger;
    private final Path said;
    private final Process probe;
    private final OutputStream frames;
    private int fed;

    /** Starts a probe in a stack; a tap of the same capture that comes again is the same session. */
    Tap(Stack stack, String name, Path capture) throws IOException {
        this.capture = Files.readAllBytes(capture);
        this.ledger = stack.directory().resolve(name + ".ledger");
        this.said = stack.directory().resolve(name + ".probe");
        this.probe = Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--tap", name)
                .with("--kafka", stack.environment().get("CHOKEPOINT_KAFKA"), "--ledger", ledger, "-")
                .start(stack.directory().resolve(name + ".out"), said);
        this.frames = probe.getOutputStream();
    }

    /** Feeds whole frames up to a share of the capture's bytes; fails if the probe is gone. */
    void feed(double share) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(capture).order(ByteOrder.LITTLE_ENDIAN);
        int end = Math.max(fed, FILE_HEADER_BYTES);
        while (end < capture.length && end < share * capture.length) {
            end += FRAME_HEADER_BYTES + bytes.getInt(end + CAPTURED_LENGTH_OFFSET);
        }
        frames.write(capture, fed, end - fed);
        frames.flush();
        fed = end;
    }

    /** Frames that were fed. */
    long framesFed() {
        ByteBuffer bytes = ByteBuffer.wrap(capture).order(ByteOrder.LITTLE_ENDIAN);
        long count = 0;
        for (int at = FILE_HEADER_BYTES; at < fed; count++) {
            at += FRAME_HEADER_BYTES + bytes.getInt(at + CAPTURED_LENGTH_OFFSET);
        }
        return count;
    }

    /** Ends the capture; the probe's books come back, or nothing if it could not deliver all. */
    Map<String, Long> end() throws IOException {
        frames.close();
        try {
            if (!probe.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(
                        "the probe did not end within " + END_SECONDS + " s: " + Files.readString(said));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        Map<String, Long> counters = new HashMap<>();
        if (probe.exitValue() == 0) {
            Rows.parse(Files.readString(ledger))
                    .path("counters")
                    .properties()
                    .forEach(counter ->
                            counters.put(counter.getKey(), counter.getValue().asLong()));
        }
        return counters;
    }

    /** What the probe said on standard error. */
    String said() throws IOException {
        return Files.readString(said).strip();
    }

    /** Its process. */
    ProcessHandle process() {
        return probe.toHandle();
    }

    @Override
    public void close() throws IOException {
        probe.destroyForcibly();
        try {
            frames.close();
        } catch (IOException e) {
            // the pipe of a killed probe
        }
    }
}
