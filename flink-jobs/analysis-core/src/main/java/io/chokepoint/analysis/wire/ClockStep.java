// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The step in which the tap's clock really moves, learned from the packets of a flow.
 *
 * <p>A capture may carry nanoseconds although an interrupt, or a poll, stamped all that had come since the one before with
 * one time [PRA04]. A link does not deliver frames at once, so where more than one gap in ten is zero the shortest that is
 * not shows the step.
 */
public final class ClockStep {
    private static final int BLOCK = 64; // gaps
    private static final int MANY = 10; // one in so many
    private static final int SMOOTHING = 4;
    /** Nobody delays interrupts longer; a longer gap is the flow's own. */
    private static final long LONGEST_NANOS = 250_000;

    private long declaredNanos = 1;
    private long learnedNanos;
    private long last;
    private int gaps;
    private int zeros;
    private long shortest;

    /** What the source says of its clock, in ns. */
    public void declare(long nanos) {
        declaredNanos = Math.max(1, nanos);
    }

    /** A packet passes; returns whether the step is another one now. */
    public boolean observe(long now) {
        long gap = now - last;
        boolean first = last == 0;
        last = now;
        if (first || gap < 0) {
            return false;
        }
        gaps++;
        if (gap == 0) {
            zeros++;
        } else {
            shortest = shortest == 0 ? gap : Math.min(shortest, gap);
        }
        if (gaps < BLOCK) {
            return false;
        }
        long before = nanos();
        if (zeros * MANY > gaps && shortest > 0 && shortest <= LONGEST_NANOS) {
            learnedNanos += learnedNanos == 0 ? shortest : (shortest - learnedNanos) / SMOOTHING;
        }
        gaps = 0;
        zeros = 0;
        shortest = 0;
        return nanos() != before;
    }

    /** The step, in ns; at least 1. */
    public long nanos() {
        return Math.max(declaredNanos, learnedNanos);
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, declaredNanos);
        Varint.write(out, learnedNanos);
        Varint.write(out, last);
        Varint.write(out, gaps);
        Varint.write(out, zeros);
        Varint.write(out, shortest);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        declaredNanos = Varint.read(in);
        learnedNanos = Varint.read(in);
        last = Varint.read(in);
        gaps = Varint.readInt(in);
        zeros = Varint.readInt(in);
        shortest = Varint.read(in);
    }
}
