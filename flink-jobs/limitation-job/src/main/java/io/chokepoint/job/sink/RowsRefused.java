// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

/** The table will never take these rows as they are: at least one of them is wrong. */
final class RowsRefused extends Exception {
    private static final long serialVersionUID = 1L;

    RowsRefused(String message, Throwable cause) {
        super(message, cause);
    }
}
