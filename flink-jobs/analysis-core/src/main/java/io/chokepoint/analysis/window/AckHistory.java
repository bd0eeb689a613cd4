// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import static io.chokepoint.analysis.wire.SequenceSpace.isBefore;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The acknowledgments that have passed the tap but may not have reached the sender yet.
 *
 * <p>The state in which a sender sent a segment is the newest acknowledgment whose TSval is at most the segment's TSecr
 * (RFC 7323 §4.3), exact under asymmetric and varying delay. Of several acknowledgments within one tick, those that passed
 * the tap less than the shortest sender-side delay before the segment cannot have arrived. Without timestamps that delay
 * alone decides.
 */
public final class AckHistory {
    /** No time. */
    public static final long NONE = Long.MIN_VALUE;

    private static final int CAPACITY = 128;
    private static final int SMALL = 4;

    // Powers of two, grown up to CAPACITY as the flow needs it.
    private long[] timeNanos = new long[SMALL];
    private int[] timestamp = new int[SMALL];
    private long[] ack = new long[SMALL];
    private long[] edge = new long[SMALL];
    private int first;
    private int pending;

    private long viewAck;
    private long viewAdvance;
    private long earlierAck;
    private long viewEdge;
    private long viewTimeNanos = NONE;
    private int viewTimestamp;
    private boolean hasView;

    /** An acknowledgment passes the tap. {@code rightEdge} = highest sequence number the receiver has allowed so far. */
    public void push(long now, int tsValue, long acknowledged, long rightEdge) {
        if (pending == CAPACITY) {
            thinOut();
        } else if (pending == timeNanos.length) {
            resize(2 * pending);
        }
        int at = (first + pending) & mask();
        timeNanos[at] = now;
        timestamp[at] = tsValue;
        ack[at] = acknowledged;
        edge[at] = rightEdge;
        pending++;
    }

    private int mask() {
        return timeNanos.length - 1;
    }

    private void resize(int capacity) {
        long[] newTime = new long[capacity];
        int[] newTimestamp = new int[capacity];
        long[] newAck = new long[capacity];
        long[] newEdge = new long[capacity];
        for (int i = 0; i < pending; i++) {
            int at = (first + i) & mask();
            newTime[i] = timeNanos[at];
            newTimestamp[i] = timestamp[at];
            newAck[i] = ack[at];
            newEdge[i] = edge[at];
        }
        timeNanos = newTime;
        timestamp = newTimestamp;
        ack = newAck;
        edge = newEdge;
        first = 0;
    }

    /** Only the newest state matters as long as the sender has sent nothing. */
    public void forgetPending() {
        while (pending > 1) {
            pop();
        }
    }

    /** Makes room below {@code entries} pending ones, an even number. */
    public void thinBelow(int entries) {
        while (pending >= entries) {
            thinOut();
        }
    }

    /**
     * Keeps every second pending entry: the earlier of each two, since a later one would seem to have arrived too late, and
     * always the newest.
     */
    private void thinOut() {
        int kept = 0;
        for (int i = 0; i < pending; i++) {
            if ((i & 1) == 0 || i == pending - 1) {
                copy((first + i) & mask(), (first + kept) & mask());
                kept++;
            }
        }
        pending = kept;
    }

    private void copy(int from, int to) {
        timeNanos[to] = timeNanos[from];
        timestamp[to] = timestamp[from];
        ack[to] = ack[from];
        edge[to] = edge[from];
    }

    /**
     * Moves the view to what the sender knew when it sent a segment that passes the tap at {@code now} and echoes
     * {@code tsEcho}.
     *
     * @param shortestDelayNanos shortest time from an acknowledgment at the tap to data it releases; 0 if unknown
     * @return when the first acknowledgment with that TSval passed the tap; {@link #NONE} if it is not new
     */
    public long advanceByEcho(long now, int tsEcho, long shortestDelayNanos) {
        long echoed = NONE;
        long shortest = shortestDelayNanos;
        long before = viewAck;
        while (pending > 0) {
            int value = timestamp[first];
            if (isBefore(tsEcho, value)) {
                break;
            }
            if (value == tsEcho) {
                if (echoed == NONE && (!hasView || viewTimestamp != tsEcho)) {
                    echoed = timeNanos[first];
                    before = viewAck;
                    shortest = Math.min(shortest, now - echoed); // the echoed one has arrived
                }
                if (timeNanos[first] > now - shortest) {
                    break;
                }
            }
            pop();
        }
        earlierAck = before;
        return echoed;
    }

    /** Moves the view to the acknowledgments that passed the tap at or before {@code time}. */
    public void advanceByTime(long time) {
        while (pending > 0 && timeNanos[first] <= time) {
            earlierAck = viewAck;
            pop();
        }
    }

    private void pop() {
        viewAdvance = Math.max(0, ack[first] - viewAck);
        viewAck = Math.max(viewAck, ack[first]);
        viewEdge = Math.max(viewEdge, edge[first]);
        viewTimeNanos = timeNanos[first];
        viewTimestamp = timestamp[first];
        hasView = true;
        first = (first + 1) & mask();
        pending--;
    }

    /** Highest acknowledgment the sender had seen; 0 if none. */
    public long viewAck() {
        return viewAck;
    }

    /** Bytes that the newest acknowledgment the sender had seen advanced by. */
    public long viewAdvance() {
        return viewAdvance;
    }

    /**
     * Highest acknowledgment that the sender had certainly seen before the one that may have released its segment: of those in one
     * step of the receiver's clock any may have.
     */
    public long earlierAck() {
        return earlierAck;
    }

    /** Highest sequence number the sender had been allowed; 0 if none. */
    public long viewEdge() {
        return viewEdge;
    }

    /** When the newest acknowledgment the sender had seen passed the tap, or {@link #NONE}. */
    public long viewTimeNanos() {
        return viewTimeNanos;
    }

    /** Whether the sender had seen any acknowledgment. */
    public boolean hasView() {
        return hasView;
    }

    /** Writes the state. */
    public void writeTo(DataOutput out) throws IOException {
        out.writeBoolean(hasView);
        Varint.write(out, viewAck);
        Varint.write(out, viewAdvance);
        Varint.write(out, viewAck - earlierAck);
        Varint.write(out, viewEdge - viewAck);
        Varint.write(out, hasView ? viewTimeNanos : 0);
        Varint.write(out, viewTimestamp);
        Varint.write(out, pending);
        long time = hasView ? viewTimeNanos : 0;
        long acknowledged = viewAck;
        int value = viewTimestamp;
        for (int i = 0; i < pending; i++) {
            int at = (first + i) & mask();
            Varint.write(out, timeNanos[at] - time);
            Varint.write(out, timestamp[at] - value);
            Varint.write(out, ack[at] - acknowledged);
            Varint.write(out, edge[at] - ack[at]);
            time = timeNanos[at];
            value = timestamp[at];
            acknowledged = ack[at];
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in) throws IOException {
        hasView = in.readBoolean();
        viewAck = Varint.read(in);
        viewAdvance = Varint.read(in);
        earlierAck = viewAck - Varint.read(in);
        viewEdge = viewAck + Varint.read(in);
        long viewTime = Varint.read(in);
        viewTimeNanos = hasView ? viewTime : NONE;
        viewTimestamp = (int) Varint.read(in);
        first = 0;
        pending = 0;
        int count = Varint.readInt(in);
        while (timeNanos.length < count) {
            resize(2 * timeNanos.length);
        }
        pending = count;
        long time = viewTime;
        long acknowledged = viewAck;
        int value = viewTimestamp;
        for (int i = 0; i < pending; i++) {
            time += Varint.read(in);
            value += (int) Varint.read(in);
            acknowledged += Varint.read(in);
            timeNanos[i] = time;
            timestamp[i] = value;
            ack[i] = acknowledged;
            edge[i] = acknowledged + Varint.read(in);
        }
    }
}
