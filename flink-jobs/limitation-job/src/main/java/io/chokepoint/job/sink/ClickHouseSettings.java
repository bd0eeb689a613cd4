// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where rows go.
 *
 * @param url of the HTTP interface
 * @param secret the password, or where it is read when the sink starts
 * @param maxRows of an insert
 * @param maxDelay from a row that is awaited to its insert
 * @param maxBytes that may wait
 */
public record ClickHouseSettings(
        String url, String database, String user, Secret secret, int maxRows, Duration maxDelay, long maxBytes)
        implements Serializable {
    /** A password that does not show itself; of a file only the name travels. */
    public record Secret(@Nullable String text, @Nullable String file) implements Serializable {
        @Override
        public String toString() {
            return file == null ? "(hidden)" : "in " + file;
        }
    }

    String password() throws IOException {
        if (secret.file != null) {
            return Files.readString(Path.of(secret.file)).strip();
        }
        return secret.text == null ? "" : secret.text;
    }
}
