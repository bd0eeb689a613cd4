// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli;

/** A command line that cannot be followed; the message names the option, what was given and what was expected. */
public final class WrongOption extends Exception {
    private static final long serialVersionUID = 1L;

    public WrongOption(String message) {
        super(message);
    }
}
