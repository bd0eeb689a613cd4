// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Instants as RFC 3339 texts in UTC with nine decimals. */
public final class InstantText {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final DateTimeFormatter FORMAT =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);

    private InstantText() {}

    /** The text of nanoseconds since the epoch. */
    public static String of(long epochNanos) {
        return FORMAT.format(Instant.ofEpochSecond(
                Math.floorDiv(epochNanos, NANOS_PER_SECOND), Math.floorMod(epochNanos, NANOS_PER_SECOND)));
    }
}
