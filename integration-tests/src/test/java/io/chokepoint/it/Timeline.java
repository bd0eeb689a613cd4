// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.util.Locale;

/** What happened when, for people: a line on standard output for each event. */
final class Timeline {
    private final long startNanos = System.nanoTime();

    /** Tells one event. */
    synchronized void tell(String format, Object... arguments) {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        System.out.printf(Locale.ROOT, "%7.1f s  %s%n", seconds, String.format(Locale.ROOT, format, arguments));
        System.out.flush();
    }
}
