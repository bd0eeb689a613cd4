// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry.Amount;

/** Makes the bytes of the rows of the books. */
public final class LedgerRows {
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_DAY = 1440;

    private final RowBinary out = new RowBinary();

    /** The total of a fate; totals only grow, so their sum is the version. */
    public EncodedRow ledger(BatchOrigin origin, String fate, Amount total) {
        out.reset().putString(origin.tap());
        putOrigin(origin);
        out.putString(fate)
                .putLong(total.batches())
                .putLong(total.runs())
                .putLong(total.packets())
                .putLong(total.batches() + total.runs() + total.packets());
        return new EncodedRow(Table.LEDGER, 0, out.toByteArray());
    }

    /** A probe's counter at the end of a minute since the epoch. */
    public EncodedRow counter(BatchOrigin origin, String probe, String counter, long minute, long value) {
        out.reset().putString(probe).putString(origin.tap());
        putOrigin(origin);
        out.putString(counter).putInt((int) (minute * SECONDS_PER_MINUTE)).putLong(value);
        return new EncodedRow(Table.PROBE_COUNTERS, (int) Math.floorDiv(minute, MINUTES_PER_DAY), out.toByteArray());
    }

    private void putOrigin(BatchOrigin origin) {
        out.putLong(origin.session()).putShort(origin.worker()).putShort(origin.partition());
    }
}
