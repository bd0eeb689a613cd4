// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Finds the second copy of a frame: a tap that mirrors both sides of a port sees each frame twice within microseconds, next to
 * each other or, when queues deliver them in bursts, some frames later.
 */
final class MirrorCopies {
    /** Copies lie no further apart, in ns. */
    static final long LONGEST_NANOS = 1_000_000L;

    private static final int REMEMBERED = 8;

    private final long[] fingerprint = new long[REMEMBERED];
    private final long[] timeNanos = new long[REMEMBERED];
    private int next;
    private int size;

    /**
     * Whether one of the newest packets of this direction is the same, up to its IP-ID and options, and passed less than
     * {@code withinNanos} ago. If none is, it is remembered.
     */
    boolean isCopy(long now, Packet packet, long withinNanos) {
        long print = fingerprintOf(packet);
        for (int i = 1; i <= size; i++) {
            int at = (next - i) & (REMEMBERED - 1);
            if (now - timeNanos[at] >= withinNanos) {
                break; // and so did those before it
            }
            if (fingerprint[at] == print) {
                return true;
            }
        }
        fingerprint[next] = print;
        timeNanos[next] = now;
        next = (next + 1) & (REMEMBERED - 1);
        size = Math.min(size + 1, REMEMBERED);
        return false;
    }

    private static long fingerprintOf(Packet packet) {
        long print = FlowHash.next(
                ((long) packet.sequence << 32) | Integer.toUnsignedLong(packet.acknowledgment),
                ((long) packet.ipId << 40) | ((long) packet.payloadBytes << 16) | packet.windowField);
        print = FlowHash.next(print, ((long) packet.flags << 32) | Integer.toUnsignedLong(packet.timestampValue));
        for (int i = 0; i < packet.sackBlocks; i++) {
            print = FlowHash.next(
                    print, ((long) packet.sackLeft(i) << 32) | Integer.toUnsignedLong(packet.sackRight(i)));
        }
        return print;
    }

    /** Writes those that a packet after {@code now} can still be a copy of. */
    void writeTo(DataOutput out, long now) throws IOException {
        int fresh = 0;
        while (fresh < size && now - timeNanos[(next - 1 - fresh) & (REMEMBERED - 1)] < LONGEST_NANOS) {
            fresh++;
        }
        Varint.write(out, fresh);
        for (int i = fresh; i >= 1; i--) {
            int at = (next - i) & (REMEMBERED - 1);
            Varint.write(out, now - timeNanos[at]);
            out.writeLong(fingerprint[at]);
        }
    }

    /** Reads what {@link #writeTo} wrote at the same {@code now}. */
    void readFrom(DataInput in, long now) throws IOException {
        size = Varint.readInt(in);
        for (int i = 0; i < size; i++) {
            timeNanos[i] = now - Varint.read(in);
            fingerprint[i] = in.readLong();
        }
        next = size & (REMEMBERED - 1);
    }
}
