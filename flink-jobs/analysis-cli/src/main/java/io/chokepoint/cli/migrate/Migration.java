// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One step forward of the tables: a file {@code V007__ledger_stored.sql} with one statement that may run twice.
 *
 * @param version 7
 * @param name {@code V007__ledger_stored.sql}
 * @param checksum SHA-256 of the file in hexadecimal digits
 */
record Migration(int version, String name, String statement, String checksum) {
    private static final Pattern NAME = Pattern.compile("V([0-9]{3})__[a-z0-9_]+\\.sql");

    /** All migrations of a directory, ascending. Numbers may leave gaps, for what is made side by side; none comes twice. */
    static List<Migration> readAll(Path directory) throws IOException {
        List<Migration> migrations;
        try (Stream<Path> files = Files.list(directory)) {
            migrations = files.filter(file -> file.toString().endsWith(".sql"))
                    .map(Migration::read)
                    .sorted(Comparator.comparingInt(Migration::version))
                    .toList();
        } catch (UncheckedIOException e) {
            throw new IOException("migration cannot be read: " + e.getMessage(), e);
        }
        for (int i = 1; i < migrations.size(); i++) {
            if (migrations.get(i).version() == migrations.get(i - 1).version()) {
                throw new IOException("%s has two migrations V%03d: expected a number for each"
                        .formatted(directory, migrations.get(i).version()));
            }
        }
        return migrations;
    }

    private static Migration read(Path file) {
        String name = String.valueOf(file.getFileName());
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            throw new UncheckedIOException(new IOException(name + ": expected a name such as V007__what.sql"));
        }
        try {
            String text = Files.readString(file);
            return new Migration(Integer.parseInt(matcher.group(1)), name, text, sha256(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
