// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.List;

/**
 * A segment on the simulated path; numbers count from the ISNs and never wrap.
 *
 * @param fromSender whether it comes from the side that sends the data
 * @param sequence first number: SYN is 0, the first payload byte 1
 * @param ack next number expected, meaningless in a first SYN
 * @param windowBytes receive window, unscaled
 * @param flags as in {@link io.chokepoint.testkit.Packet}
 * @param timestampValue ms
 * @param timestampEcho ms
 * @param sackBlocks pairs [left, right)
 */
record Segment(
        boolean fromSender,
        long sequence,
        int bytes,
        long ack,
        long windowBytes,
        int flags,
        long timestampValue,
        long timestampEcho,
        List<long[]> sackBlocks) {
    long end() {
        return sequence + bytes;
    }
}
