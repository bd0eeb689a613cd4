// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Isolate &amp; Merge [SIE08] on line: parts the time of a direction into bulk transfers, short transfers and the application's
 * pauses between them.
 *
 * <pre>
 *   data ── bulk ──┐ pause ┌── bulk ──┐ pause ┌── bulk …
 *                  └───────┴─ merged, if that costs no more than a tenth of the rate of the faster one
 * </pre>
 *
 * A period of fewer than 130 packets is short: start-up dominates it. Departs from [SIE08], which merges off line and in any
 * order: here a closed period waits for the next one, so a look back of one period is enough.
 */
public final class BulkPeriods {
    private static final long SHORT_PACKETS = 130;
    private static final double KEPT_RATE = 0.9;

    private final Tally tally;
    private long closedNanos;
    private long closedBytes;
    private long closedPackets;
    private long pauseNanos;
    private long openNanos;
    private long openBytes;
    private long openPackets;

    /** {@code tally} takes what periods turn out to be. */
    public BulkPeriods(Tally tally) {
        this.tally = tally;
    }

    /** Time that the application is not to blame for, up to new data of {@code bytes} on the layer. */
    public void onBusy(long nanos, long bytes) {
        openNanos += nanos;
        openBytes += bytes;
        openPackets++;
    }

    /** The application paused for so long, then sent {@code bytes}: a period ends and one begins. */
    public void onPause(long nanos, long bytes) {
        close();
        pauseNanos = closedPackets == 0 ? 0 : pauseNanos + nanos;
        openBytes = bytes;
        openPackets = 1;
    }

    private void close() {
        if (openPackets == 0) {
            return;
        }
        long nanos = closedNanos + pauseNanos + openNanos;
        long bytes = closedBytes + openBytes;
        boolean merges = closedPackets > 0
                && rate(bytes, nanos)
                        >= KEPT_RATE * Math.max(rate(closedBytes, closedNanos), rate(openBytes, openNanos));
        if (merges) {
            closedNanos = nanos;
            closedBytes = bytes;
            closedPackets += openPackets;
        } else {
            emit();
            closedNanos = openNanos;
            closedBytes = openBytes;
            closedPackets = openPackets;
        }
        pauseNanos = 0;
        openNanos = 0;
        openBytes = 0;
        openPackets = 0;
    }

    private static double rate(long bytes, long nanos) {
        return nanos == 0 ? 0 : (double) bytes / nanos;
    }

    private void emit() {
        if (closedPackets >= SHORT_PACKETS) {
            tally.add(Sum.BULK_NS, closedNanos);
            tally.add(Sum.BULK_BYTES, closedBytes);
            tally.add(Sum.BULK_PACKETS, closedPackets);
        } else {
            tally.add(Sum.SHORT_PERIOD_PACKETS, closedPackets);
        }
        closedPackets = 0;
        closedNanos = 0;
        closedBytes = 0;
    }

    /** The direction ends: what is open is all there will be. */
    public void finish() {
        close();
        emit();
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, closedPackets);
        if (closedPackets > 0) {
            Varint.write(out, closedNanos);
            Varint.write(out, closedBytes);
            Varint.write(out, pauseNanos);
        }
        Varint.write(out, openPackets);
        Varint.write(out, openNanos);
        Varint.write(out, openBytes);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        closedPackets = Varint.read(in);
        if (closedPackets > 0) {
            closedNanos = Varint.read(in);
            closedBytes = Varint.read(in);
            pauseNanos = Varint.read(in);
        }
        openPackets = Varint.read(in);
        openNanos = Varint.read(in);
        openBytes = Varint.read(in);
    }
}
