// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** The {@link Sum}s of one direction over an interval or a life. */
public final class Tally {
    /** Bytes are weighed in units of so many: the largest window then fits into a sum over a day. */
    public static final int MEAN_UNIT_BYTES = 16;

    private static final Sum[] SUMS = Sum.values();

    private final long[] values = new long[SUMS.length];

    /** The value of a sum. */
    public long get(Sum sum) {
        return values[sum.ordinal()];
    }

    /** Adds to a sum. */
    public void add(Sum sum, long amount) {
        values[sum.ordinal()] += amount;
    }

    /** Raises a maximum. */
    public void raise(Sum sum, long value) {
        values[sum.ordinal()] = Math.max(values[sum.ordinal()], value);
    }

    /** Sets a sum. */
    public void set(Sum sum, long value) {
        values[sum.ordinal()] = value;
    }

    /** Books a wait on its cause. */
    public void book(Cause cause, long nanos) {
        add(cause.share(), nanos);
        if (cause.detail() != cause.share()) {
            add(cause.detail(), nanos);
        }
    }

    /** Payload bytes that were sent again. */
    public long retransmittedBytes() {
        return get(Sum.RETRANSMITTED_FAST_BYTES)
                + get(Sum.RETRANSMITTED_TIMEOUT_BYTES)
                + get(Sum.RETRANSMITTED_TAIL_PROBE_BYTES)
                + get(Sum.RETRANSMITTED_SPURIOUS_BYTES)
                + get(Sum.RETRANSMITTED_OTHER_BYTES);
    }

    /** Time-weighted mean of a Σ bytes × µs, in bytes; 0 if nothing was weighed. */
    public long mean(Sum byteMicros) {
        long weight = get(Sum.WEIGHT_MICROS);
        return weight == 0 ? 0 : Math.round((double) get(byteMicros) * MEAN_UNIT_BYTES / weight);
    }

    /** Adds the sums, and keeps the larger of the maxima. */
    public void addAll(Tally other) {
        for (Sum sum : SUMS) {
            if (sum.isMaximum()) {
                raise(sum, other.get(sum));
            } else {
                add(sum, other.get(sum));
            }
        }
    }

    /** Sets all to zero. */
    public void clear() {
        Arrays.fill(values, 0);
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.writeSparse(out, values);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        Varint.readSparse(in, values);
    }
}
