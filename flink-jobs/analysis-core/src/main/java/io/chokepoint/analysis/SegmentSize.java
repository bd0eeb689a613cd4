// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The largest payload that one direction puts into a segment.
 *
 * <p>The receiver's MSS option bounds it (RFC 9293 §3.7.1); what it really is, less options and a smaller path MTU, shows in
 * the data: a segment without PSH ended because it was full, one with PSH may be all that an application wrote. Without the option
 * (missed handshake) it is the largest length; a segment of more than 1.5 times that of three full ones is one a host has not
 * split yet.
 */
final class SegmentSize {
    private static final int SEEN_OFTEN = 3;
    private static final int NEWEST = 64;
    private static final int TIMESTAMP_OPTION_BYTES = 12;
    private static final int OPTION_SLACK_BYTES = 12;
    private static final int SACK_BYTES = 4; // of the option, padding included (RFC 2018 §3)
    private static final int SACK_BLOCK_BYTES = 8;
    private static final int SMALLEST_OPTION = 64;
    private static final int SMALLEST = 200;
    private static final int DEFAULT = 1448;

    private int option;
    private int largest;
    private int full; // segments of that size without PSH

    // Of the newest segments, since the path's MTU may fall.
    private int newest;
    private int newestLargest;
    private int newestFull;

    /** The receiver announced an MSS; one that no link needs is ignored (RFC 9293 §3.7.1). */
    void announce(int maximumSegmentSize) {
        option = maximumSegmentSize >= SMALLEST_OPTION ? maximumSegmentSize : 0;
    }

    /** A data packet of so many payload bytes, with PSH or without. Returns whether it is a super-segment. */
    boolean add(int payloadBytes, boolean isPushed) {
        if (isSuper(payloadBytes)) {
            return true;
        }
        if (payloadBytes > largest) {
            largest = payloadBytes;
            full = 0;
        }
        full += payloadBytes == largest && !isPushed ? 1 : 0;
        followFall(payloadBytes, isPushed);
        return false;
    }

    private void followFall(int payloadBytes, boolean isPushed) {
        if (payloadBytes > newestLargest) {
            newestLargest = payloadBytes;
            newestFull = 0;
        }
        newestFull += payloadBytes == newestLargest && !isPushed ? 1 : 0;
        if (++newest == NEWEST) {
            if (newestFull >= SEEN_OFTEN && newestLargest >= SMALLEST) {
                largest = newestLargest;
                full = newestFull;
            }
            newest = 0;
            newestLargest = 0;
            newestFull = 0;
        }
    }

    private boolean isSuper(int payloadBytes) {
        return option > 0 ? payloadBytes > option : full >= SEEN_OFTEN && payloadBytes > largest * 3 / 2;
    }

    /** Payload bytes of a full segment. */
    int bytes() {
        if (isLearned() || (option == 0 && largest > 0)) {
            return largest;
        }
        return option > 0 ? Math.max(largest, option - TIMESTAMP_OPTION_BYTES) : DEFAULT;
    }

    private boolean isLearned() {
        return full >= SEEN_OFTEN && largest >= SMALLEST;
    }

    /**
     * Whether a segment is as large as it may be, up to a few bytes of options; of a super-segment its last part, as far as the
     * size of the others is known.
     *
     * @param sackBlocks SACK blocks that take room from its payload
     */
    boolean isFull(int payloadBytes, int sackBlocks) {
        int room = bytes() - OPTION_SLACK_BYTES - (sackBlocks > 0 ? SACK_BYTES + SACK_BLOCK_BYTES * sackBlocks : 0);
        if (payloadBytes <= bytes() * 3 / 2) {
            return payloadBytes >= room;
        }
        if (!isLearned() && option == 0) {
            return true;
        }
        int last = payloadBytes % bytes();
        return last == 0 || last >= room || (!isLearned() && payloadBytes % option == 0);
    }

    void writeTo(DataOutput out) throws IOException {
        Varint.write(out, option);
        Varint.write(out, largest);
        Varint.write(out, full);
        Varint.write(out, newest);
        Varint.write(out, newestLargest);
        Varint.write(out, newestFull);
    }

    void readFrom(DataInput in) throws IOException {
        option = Varint.readInt(in);
        largest = Varint.readInt(in);
        full = Varint.readInt(in);
        newest = Varint.readInt(in);
        newestLargest = Varint.readInt(in);
        newestFull = Varint.readInt(in);
    }
}
