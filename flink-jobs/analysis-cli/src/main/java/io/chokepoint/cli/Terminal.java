// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli;

/**
 * What the launcher knows of the terminal, because Java cannot ask.
 *
 * @param columns width of the terminal on standard output, or 0 if that is none
 * @param colours whether standard output may be coloured
 * @param progress whether standard error is a terminal that may show progress
 */
public record Terminal(int columns, boolean colours, boolean progress) {
    /** The terminal of this process. */
    public static Terminal ofProcess() {
        int columns = Integer.getInteger("chokepoint.stdout.columns", 0);
        boolean noColour = !System.getenv().getOrDefault("NO_COLOR", "").isEmpty();
        return new Terminal(columns, columns > 0 && !noColour, Boolean.getBoolean("chokepoint.stderr.terminal"));
    }
}
