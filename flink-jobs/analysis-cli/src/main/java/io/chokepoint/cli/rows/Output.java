// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Lines of UTF-8, buffered. Unlike a PrintStream it says why it failed. */
public final class Output implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final OutputStream stream;
    private final StringBuilder buffer = new StringBuilder();

    public Output(OutputStream stream) {
        this.stream = stream;
    }

    /** Writes a line and its end. */
    public void line(CharSequence text) {
        buffer.append(text).append('\n');
        if (buffer.length() >= BUFFER_BYTES) {
            flush();
        }
    }

    /** Hands over what is buffered. */
    public void flush() {
        try {
            stream.write(buffer.toString().getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            buffer.setLength(0);
        }
    }

    /** Writes what is left; the stream stays open. */
    @Override
    public void close() {
        flush();
    }
}
