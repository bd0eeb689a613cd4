// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.schemas;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.avro.Schema;

/** Finds the files of this folder. */
final class Schemas {
    static final Path ROOT = Path.of(System.getProperty("chokepoint.root"), "schemas");
    static final Path CURRENT = ROOT.resolve("avro/segment_batch.avsc");

    private Schemas() {}

    /** Every schema, the released ones too. */
    static List<Path> all() {
        return find("avro", path -> path.toString().endsWith(".avsc"));
    }

    /** Every release of a file of any version. */
    static List<Path> released(String fileName) {
        return find("avro/released", path -> path.getFileName().toString().equals(fileName));
    }

    static List<Path> find(String folder, Predicate<Path> wanted) {
        try (Stream<Path> paths = Files.walk(ROOT.resolve(folder))) {
            return paths.filter(wanted).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Schema parse(Path path) {
        return parse(text(path));
    }

    static Schema parse(String json) {
        return new Schema.Parser().parse(json);
    }

    static String text(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
