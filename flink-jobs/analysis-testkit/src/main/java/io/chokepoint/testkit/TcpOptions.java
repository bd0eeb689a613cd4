// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The TCP options of a packet; null is an absent one.
 *
 * @param mss maximum segment size in bytes, 0..65535
 * @param windowScale shift as on the wire, 0..255
 * @param sackBlocks absolute sequence numbers
 */
public record TcpOptions(
        @Nullable Timestamps timestamps,
        @Nullable Integer mss,
        @Nullable Integer windowScale,
        boolean sackPermitted,
        List<SackBlock> sackBlocks,
        boolean malformed) {
    /** No options at all. */
    public static final TcpOptions NONE = new TcpOptions(null, null, null, false, List.of(), false);

    /** RFC 7323 §3. */
    public record Timestamps(int value, int echo) {}

    /** RFC 2018: {@code right} is the number after the last byte. */
    public record SackBlock(int left, int right) {}

    public TcpOptions withTimestamps(int value, int echo) {
        return new TcpOptions(new Timestamps(value, echo), mss, windowScale, sackPermitted, sackBlocks, malformed);
    }

    public TcpOptions withSackBlocks(List<SackBlock> blocks) {
        return new TcpOptions(timestamps, mss, windowScale, sackPermitted, blocks, malformed);
    }

    /** The options of a SYN. */
    public static TcpOptions ofSyn(int mss, int windowScale, boolean sackPermitted) {
        return new TcpOptions(null, mss, windowScale, sackPermitted, List.of(), false);
    }

    /** Bytes in the header, padded to a multiple of four as common stacks do. */
    public int wireBytes() {
        int bytes = (timestamps != null ? 10 : 0)
                + (mss != null ? 4 : 0)
                + (windowScale != null ? 3 : 0)
                + (sackPermitted ? 2 : 0)
                + (sackBlocks.isEmpty() ? 0 : 2 + 8 * sackBlocks.size());
        return (bytes + 3) / 4 * 4;
    }

    /** The value of column {@code options_present}. */
    int presentBits() {
        return (timestamps != null ? 1 : 0)
                | (mss != null ? 2 : 0)
                | (windowScale != null ? 4 : 0)
                | (sackPermitted ? 8 : 0)
                | (sackBlocks.isEmpty() ? 0 : 16)
                | (malformed ? 32 : 0);
    }
}
