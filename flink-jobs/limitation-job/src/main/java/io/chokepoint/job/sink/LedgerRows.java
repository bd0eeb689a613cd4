// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry.Amount;
import io.chokepoint.job.books.Span;

/** Makes the bytes of the rows of the books. */
public final class LedgerRows {
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_DAY = 1440;

    private final RowBinary out = new RowBinary();

    /** The total of a fate; of several the one with the highest version counts. */
    public EncodedRow ledger(BatchOrigin origin, String fate, Amount total, long version) {
        out.reset().putString(origin.tap());
        putOrigin(origin);
        out.putString(fate);
        putAmount(total, version);
        return new EncodedRow(Table.LEDGER, 0, out.toByteArray());
    }

    /** What came to a fate within a range of batches that were appended in a minute since the epoch. */
    public EncodedRow range(BatchOrigin origin, long minute, String fate, Span span, Amount amount, long version) {
        out.reset().putString(origin.tap());
        putOrigin(origin);
        out.putInt((int) (minute * SECONDS_PER_MINUTE))
                .putString(fate)
                .putLong(span.fromSequence())
                .putLong(span.toSequence())
                .putLong(span.fromPacket())
                .putLong(span.toPacket());
        putAmount(amount, version);
        return new EncodedRow(Table.LEDGER_RANGES, dayOf(minute), out.toByteArray());
    }

    /** A probe's counter at the end of a minute since the epoch. */
    public EncodedRow counter(BatchOrigin origin, String probe, String counter, long minute, long value) {
        out.reset().putString(probe).putString(origin.tap());
        putOrigin(origin);
        out.putString(counter).putInt((int) (minute * SECONDS_PER_MINUTE)).putLong(value);
        return new EncodedRow(Table.PROBE_COUNTERS, dayOf(minute), out.toByteArray());
    }

    private static int dayOf(long minute) {
        return (int) Math.floorDiv(minute, MINUTES_PER_DAY);
    }

    private void putAmount(Amount amount, long version) {
        out.putLong(amount.batches())
                .putLong(amount.runs())
                .putLong(amount.packets())
                .putLong(version);
    }

    private void putOrigin(BatchOrigin origin) {
        out.putLong(origin.session()).putShort(origin.worker()).putShort(origin.partition());
    }
}
