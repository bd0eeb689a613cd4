// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import java.io.PrintStream;
import java.util.Locale;

/** One line on standard error that says how far a run is, if it takes more than two seconds on a terminal. */
final class Progress {
    private static final long FIRST_AFTER_NANOS = 2_000_000_000L;
    private static final long EVERY_NANOS = 200_000_000L;
    private static final double MILLION = 1e6;
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream out;
    private final boolean shown;
    private long nextNanos = System.nanoTime() + FIRST_AFTER_NANOS;
    private boolean dirty;

    Progress(PrintStream out, boolean shown) {
        this.out = out;
        this.shown = shown;
    }

    /** Tells how many packets of a tap are done; cheap if it is not time yet. */
    void onBatch(String tap, long packets) {
        if (!shown) {
            return;
        }
        long now = System.nanoTime();
        if (now - nextNanos < 0) {
            return;
        }
        nextNanos = now + EVERY_NANOS;
        out.printf(Locale.ROOT, "%s%s: %.1f million packets", CLEAR_LINE, tap, packets / MILLION);
        out.flush();
        dirty = true;
    }

    /** Takes the line away, before other output and at the end. */
    void clear() {
        if (dirty) {
            out.print(CLEAR_LINE);
            out.flush();
            dirty = false;
        }
    }
}
