// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.rtt;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Lowest delay of one half path: over the flow's life, and over each round, which lasts until four delays were measured.
 *
 * <p>A queue stands only if even the <em>lowest</em> delay of a round is raised: a flow's own bursts make queues that drain
 * within the round. The life-time minimum is never aged, since in most bottlenecked flows the queue never drains.
 */
public final class RoundMinimum {
    /** No sample yet. */
    public static final long NONE = Long.MAX_VALUE;

    private static final int ENOUGH = 4;

    private long lifeMinimum = NONE;
    private long emptyMinimum = NONE;
    private long lastRound = NONE;
    private long thisRound = NONE;
    private int samples;
    private int lastSamples;
    private long roundStart;
    private long latest = NONE;

    /** Takes a delay measured at {@code now}; rounds last {@code roundNanos}. All in ns. */
    public void add(long now, long delayNanos, long roundNanos) {
        lifeMinimum = Math.min(lifeMinimum, delayNanos);
        latest = delayNanos;
        if (now - roundStart >= roundNanos && samples >= ENOUGH) {
            lastRound = thisRound;
            lastSamples = samples;
            thisRound = NONE;
            samples = 0;
            roundStart = now;
        } else if (samples == 0) {
            roundStart = now;
        }
        thisRound = Math.min(thisRound, delayNanos);
        samples++;
    }

    /** A delay of segments without payload, as in the handshake, or one that says nothing of a queue. */
    public void bound(long delayNanos) {
        emptyMinimum = Math.min(emptyMinimum, delayNanos);
    }

    /** Lowest delay of the flow's life, or {@link #NONE}. */
    public long lifeMinimum() {
        return Math.min(lifeMinimum, emptyMinimum);
    }

    /** The newest sample, or {@link #NONE}. */
    public long latest() {
        return latest;
    }

    /** Lowest delay of the last round and of this one, or {@link #NONE} before there are enough samples. */
    public long recentMinimum() {
        if (lastSamples < ENOUGH) {
            return samples >= ENOUGH ? Math.min(thisRound, lastRound) : NONE;
        }
        return Math.min(lastRound, thisRound);
    }

    /**
     * How far even the lowest recent delay lies above that of the flow's life, in ns; 0 if unknown.
     *
     * @param serialisationNanos what full segments take longer than empty ones where no queue stands
     */
    public long queueNanos(long serialisationNanos) {
        long recent = recentMinimum();
        if (recent == NONE) {
            return 0;
        }
        long empty = emptyMinimum == NONE ? NONE : emptyMinimum + serialisationNanos;
        return Math.max(0, recent - Math.min(lifeMinimum, empty));
    }

    /** Forgets the rounds, as after a silence, but not the life-time minimum. */
    public void restart() {
        lastRound = NONE;
        thisRound = NONE;
        latest = NONE;
        samples = 0;
        lastSamples = 0;
        roundStart = 0;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        writeDelay(out, lifeMinimum);
        writeDelay(out, emptyMinimum);
        Varint.write(out, samples);
        Varint.write(out, lastSamples);
        if (samples + lastSamples > 0) {
            writeDelay(out, lastRound);
            writeDelay(out, thisRound);
            writeDelay(out, latest);
            Varint.write(out, roundStart);
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        lifeMinimum = readDelay(in);
        emptyMinimum = readDelay(in);
        samples = Varint.readInt(in);
        lastSamples = Varint.readInt(in);
        if (samples + lastSamples > 0) {
            lastRound = readDelay(in);
            thisRound = readDelay(in);
            latest = readDelay(in);
            roundStart = Varint.read(in);
        }
    }

    private static void writeDelay(DataOutput out, long delay) throws IOException {
        Varint.write(out, delay == NONE ? -1 : delay);
    }

    private static long readDelay(DataInput in) throws IOException {
        long delay = Varint.read(in);
        return delay < 0 ? NONE : delay;
    }
}
