// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.nio.file.Path;

/** Wireshark's own count of a capture: what the probe's is compared with. */
final class Capinfos {
    private Capinfos() {}

    /** Frames in a file. */
    static long frames(Path capture) {
        String line = Command.of("capinfos", "-c", "-M", "-T", "-r", capture)
                .run()
                .succeeded()
                .get(0);
        return Long.parseLong(line.substring(line.lastIndexOf('\t') + 1));
    }
}
