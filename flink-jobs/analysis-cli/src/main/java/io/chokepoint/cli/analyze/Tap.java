// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A place in the network, and what was captured there.
 *
 * @param name name of the tap
 * @param files captures in the order of their time; {@code -} is standard input
 */
record Tap(String name, List<String> files) {
    /** Stands for standard input among the files. */
    static final String STANDARD_INPUT = "-";

    private static final Pattern EXTENSIONS =
            Pattern.compile("(?i)(\\.(pcapng|pcap|cap|dmp|dump|trace))?(\\.(gz|zst))?$");

    /** The tap of one file, named after it. */
    static Tap ofFile(String file) {
        if (file.equals(STANDARD_INPUT)) {
            return new Tap("stdin", List.of(file));
        }
        String fileName = String.valueOf(Path.of(file).getFileName());
        String name = EXTENSIONS.matcher(fileName).replaceFirst("");
        return new Tap(name.isEmpty() ? fileName : name, List.of(file));
    }

    /** The files as a sentence names them. */
    String filesText() {
        return String.join(", ", files);
    }
}
