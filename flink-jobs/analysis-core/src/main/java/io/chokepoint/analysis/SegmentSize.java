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
    private static final int TIMESTAMP_OPTION_BYTES = 12;
    private static final int OPTION_SLACK_BYTES = 12; // SACK blocks and the like
    private static final int SMALLEST = 200;
    private static final int DEFAULT = 1448;

    private int option;
    private int largest;
    private int full; // segments of that size without PSH

    /** The receiver announced an MSS. */
    void announce(int maximumSegmentSize) {
        option = maximumSegmentSize;
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
        return false;
    }

    private boolean isSuper(int payloadBytes) {
        return option > 0 ? payloadBytes > option : full >= SEEN_OFTEN && payloadBytes > largest * 3 / 2;
    }

    /** Payload bytes of a full segment. */
    int bytes() {
        boolean learned = full >= SEEN_OFTEN && largest >= SMALLEST;
        if (learned || (option == 0 && largest > 0)) {
            return largest;
        }
        return option > 0 ? Math.max(largest, option - TIMESTAMP_OPTION_BYTES) : DEFAULT;
    }

    /** Whether a segment is as large as it may be, up to a few bytes of options; of a super-segment its last part. */
    boolean isFull(int payloadBytes) {
        int last = payloadBytes % bytes();
        boolean whole = last <= OPTION_SLACK_BYTES || last >= bytes() - OPTION_SLACK_BYTES;
        return payloadBytes >= bytes() - OPTION_SLACK_BYTES && whole;
    }

    void writeTo(DataOutput out) throws IOException {
        Varint.write(out, option);
        Varint.write(out, largest);
        Varint.write(out, full);
    }

    void readFrom(DataInput in) throws IOException {
        option = Varint.readInt(in);
        largest = Varint.readInt(in);
        full = Varint.readInt(in);
    }
}
