// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Bytes that a released version wrote, as hexadecimal digits. {@code mvn test -Dchokepoint.write=true} writes them anew,
 * which is right before the first release only: afterwards a new version is added beside the old one.
 */
public final class GoldenFile {
    private static final Pattern LINE = Pattern.compile(".{1,100}");

    private GoldenFile() {}

    /** The bytes of a file; {@code now} makes what this program would write. */
    public static byte[] bytes(String name, Supplier<byte[]> now) {
        Path file = file(name);
        try {
            if (Boolean.getBoolean("chokepoint.write")) {
                Files.createDirectories(file.getParent());
                Files.writeString(file, lines(HexFormat.of().formatHex(now.get())));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes(name);
    }

    /** The same of a version that this program reads and no longer writes. */
    public static byte[] bytes(String name) {
        try {
            return HexFormat.of().parseHex(Files.readString(file(name)).replace("\n", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path file(String name) {
        return Path.of(System.getProperty("chokepoint.root"), "flink-jobs/limitation-job/src/test/resources", name);
    }

    private static String lines(String digits) {
        return LINE.matcher(digits).results().map(MatchResult::group).collect(Collectors.joining("\n", "", "\n"));
    }
}
