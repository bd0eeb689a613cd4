// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The captures that come with the product, and what they are labelled with. */
final class Samples {
    private static final Path FOLDER = Command.ROOT.resolve("samples");

    private Samples() {}

    /**
     * One line of {@code expected.tsv}.
     *
     * @param flows number of flows with data in that direction, all of which have the root cause
     */
    record Expected(String capture, String direction, int flows, String rootCause) {}

    /** All captures. */
    static List<Path> captures() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".pcap"))
                    .sorted()
                    .toList();
        }
    }

    /** A capture of one flow, short enough to be read many times. */
    static Path small() throws IOException {
        Path smallest = null;
        for (Path capture : captures()) {
            if (smallest == null || Files.size(capture) < Files.size(smallest)) {
                smallest = capture;
            }
        }
        return smallest;
    }

    /** What the captures were made to show. */
    static List<Expected> expected() throws IOException {
        return Files.readAllLines(FOLDER.resolve("expected.tsv")).stream()
                .skip(1)
                .map(line -> line.split("\t"))
                .map(cells -> new Expected(cells[0], cells[1], Integer.parseInt(cells[2]), cells[3]))
                .toList();
    }

    /** Name of the tap of a capture. */
    static String tap(Path capture) {
        return capture.getFileName().toString().replace(".pcap", "");
    }
}
