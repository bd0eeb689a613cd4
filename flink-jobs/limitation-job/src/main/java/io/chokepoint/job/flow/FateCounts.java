// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.flow;

import io.chokepoint.analysis.RunFate;
import io.chokepoint.job.books.BatchOrigin;
import io.chokepoint.job.books.LedgerEntry;
import io.chokepoint.job.books.LedgerEntry.Amount;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.jspecify.annotations.Nullable;

/**
 * What became of runs, summed until the ledger is told. Drained before every checkpoint, so it is never part of one and
 * never counts twice.
 */
final class FateCounts {
    /** The fate of runs whose columns cannot be decoded. */
    static final String MALFORMED = "malformed";

    private static final RunFate[] FATES = RunFate.values();
    private static final int MALFORMED_INDEX = FATES.length;
    private static final int KINDS = FATES.length + 1;

    private final Map<Source, Tally> tallies = new HashMap<>();
    private final Counter[] runs = new Counter[KINDS];
    private final Counter[] packets = new Counter[KINDS];
    private long minute;
    private @Nullable BatchOrigin lastOrigin;
    private @Nullable Tally last;

    /** Batches of an origin that were appended in one minute since the epoch. */
    private record Source(BatchOrigin origin, long minute) {}

    FateCounts(MetricGroup metrics) {
        for (int i = 0; i < KINDS; i++) {
            runs[i] = metrics.counter("runs_" + label(i));
            packets[i] = metrics.counter("packets_" + label(i));
        }
    }

    private static String label(int index) {
        return index == MALFORMED_INDEX ? MALFORMED : FATES[index].name().toLowerCase(Locale.ROOT);
    }

    /** What is counted from now on is of batches that the broker appended at this instant. */
    void at(long appendedMillis) {
        long now = LedgerEntry.minuteOf(appendedMillis);
        if (now != minute) {
            minute = now;
            last = null;
        }
    }

    /** A run was folded in; of its packets {@code repeated} had been before. */
    void folded(TapRun run, RunFate fate, int repeated) {
        Tally tally = tallyOf(run);
        countRun(tally, fate.ordinal());
        countPackets(tally, fate.ordinal(), run.packets() - repeated);
        countPackets(tally, RunFate.REPEATED.ordinal(), repeated);
    }

    void malformed(TapRun run) {
        Tally tally = tallyOf(run);
        countRun(tally, MALFORMED_INDEX);
        countPackets(tally, MALFORMED_INDEX, run.packets());
    }

    private void countRun(Tally tally, int index) {
        tally.runs[index]++;
        runs[index].inc();
    }

    private void countPackets(Tally tally, int index, int count) {
        tally.packets[index] += count;
        packets[index].inc(count);
    }

    @SuppressWarnings("ReferenceEquality") // the same object is a short cut, another one is looked up
    private Tally tallyOf(TapRun run) {
        Tally tally = last;
        // The runs of a batch follow each other and share their origin.
        if (tally == null || run.origin() != lastOrigin) {
            tally = tallies.computeIfAbsent(new Source(run.origin(), minute), source -> new Tally());
            last = tally;
            lastOrigin = run.origin();
        }
        return tally;
    }

    /** Tells everything counted since the last time. */
    void drain(Consumer<LedgerEntry> ledger) {
        tallies.forEach((source, tally) -> {
            for (int i = 0; i < KINDS; i++) {
                if (tally.runs[i] > 0 || tally.packets[i] > 0) {
                    Amount amount = new Amount(0, tally.runs[i], tally.packets[i]);
                    ledger.accept(new LedgerEntry.Fate(source.origin, source.minute, label(i), amount));
                }
            }
        });
        tallies.clear();
        last = null;
        lastOrigin = null;
    }

    private static final class Tally {
        private final long[] runs = new long[KINDS];
        private final long[] packets = new long[KINDS];
    }
}
