// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import io.chokepoint.testkit.CaptureFile;
import io.chokepoint.testkit.PacketScript;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The packet scripts that probe, analysis and tables are held to. */
final class Scripts {
    private static final Path FOLDER = Command.ROOT.resolve("schemas/golden/scripts");

    private Scripts() {}

    /** The names of all. */
    static List<String> names() {
        return PacketScript.names(FOLDER);
    }

    /** The packets of one script as a capture of its name. */
    static Path capture(String name, Path directory) throws IOException {
        PacketScript script = PacketScript.load(name);
        return new CaptureFile().add(script.flow(), script.packets()).write(directory.resolve(name + ".pcap"));
    }

    /** The packets of all scripts as one capture: the flows lie between each other. */
    static Path captureOfAll(Path directory) throws IOException {
        CaptureFile capture = new CaptureFile();
        for (String name : names()) {
            PacketScript script = PacketScript.load(name);
            capture.add(script.flow(), script.packets());
        }
        return capture.write(directory.resolve("scripts.pcap"));
    }
}
