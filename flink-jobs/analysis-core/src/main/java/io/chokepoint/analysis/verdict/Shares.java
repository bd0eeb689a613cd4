// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.row.RootCause;

/**
 * How the time of a row is shared out, in ns; the parts sum to the row's length.
 *
 * @param application the sender had nothing to send
 * @param sendBuffer the sender's buffer was too small
 * @param receiverWindow the receiver allowed no more
 * @param unshared the path was full, of this flow
 * @param shared the path was full, of several
 * @param transport congestion control had not filled the path
 * @param unknown nothing can be said
 */
public record Shares(
        long application,
        long sendBuffer,
        long receiverWindow,
        long unshared,
        long shared,
        long transport,
        long unknown) {
    private static final double WINS = 0.5;
    private static final double AHEAD = 0.1;

    /** What the waits were booked on; time in a queue of unknown capacity is left aside: see {@link Sharing}. */
    static Shares of(Tally tally) {
        return new Shares(
                tally.get(Sum.APPLICATION_NS),
                tally.get(Sum.SEND_BUFFER_NS),
                tally.get(Sum.RECEIVER_WINDOW_NS),
                tally.get(Sum.UNSHARED_NS),
                tally.get(Sum.SHARED_NS),
                tally.get(Sum.TRANSPORT_NS),
                tally.get(Sum.UNKNOWN_NS));
    }

    Shares withFullPath(long newUnshared, long newShared) {
        return new Shares(application, sendBuffer, receiverWindow, newUnshared, newShared, transport, unknown);
    }

    /** Time in which the path was full. */
    public long fullPath() {
        return unshared + shared;
    }

    private long total() {
        return application + sendBuffer + receiverWindow + fullPath() + transport + unknown;
    }

    /** Part of the row's time, 0..1. */
    public double part(long nanos) {
        long total = total();
        return total == 0 ? 0 : (double) nanos / total;
    }

    /** Time of the cause that {@link #winner} would name, whether it wins or not; both kinds of full path together. */
    public long largest() {
        return Math.max(Math.max(Math.max(application, sendBuffer), Math.max(receiverWindow, fullPath())), transport);
    }

    /** Time of the next cause after the largest. */
    public long secondLargest() {
        long[] times = {application, sendBuffer, receiverWindow, fullPath(), transport};
        java.util.Arrays.sort(times);
        return times[times.length - 2];
    }

    /**
     * The cause that holds at least half of the time and a tenth more than the next; both kinds of full path count together
     * and come out as {@link RootCause#BOTTLENECK}, to be named by {@link Sharing}.
     */
    public RootCause winner() {
        if (total() == 0 || part(unknown) >= WINS) {
            return RootCause.UNKNOWN;
        }
        if (part(largest()) < WINS || part(largest() - secondLargest()) < AHEAD) {
            return RootCause.MIXED;
        }
        long most = largest();
        if (most == fullPath()) {
            return RootCause.BOTTLENECK;
        }
        if (most == application) {
            return RootCause.APPLICATION;
        }
        if (most == receiverWindow) {
            return RootCause.RECEIVER_WINDOW;
        }
        return most == sendBuffer ? RootCause.SEND_BUFFER : RootCause.TRANSPORT;
    }
}
