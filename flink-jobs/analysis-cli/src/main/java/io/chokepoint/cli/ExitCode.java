// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli;

/** What the shell is told. */
public final class ExitCode {
    /** All was read; also a capture that is cut off at its end. */
    public static final int OK = 0;
    /** An input could not be read, the output could not be written, or the books do not balance. */
    public static final int FAILED = 1;
    /** The options were wrong. */
    public static final int WRONG_OPTION = 2;
    /** Ended by Ctrl-C or a signal; what was seen until then was told. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}
}
