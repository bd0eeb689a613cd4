// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import org.jspecify.annotations.Nullable;

/** One summary to be encoded; the fields are those of the schema, where their meaning stands. */
public record SummarySpec(
        Flow flow,
        long flowStartNs,
        long durationNs,
        long quietNs,
        String endReason,
        @Nullable Integer client,
        @Nullable Long clientSequenceNumber,
        int syns,
        @Nullable Long serverDelayNs,
        @Nullable Long clientDelayNs,
        Sent sentByLow,
        Sent sentByHigh) {

    /** What one end sent. */
    public record Sent(
            int packets,
            int dataPackets,
            int dataBytes,
            int headerBytes,
            int acknowledgedBytes,
            int largestDataBytes,
            int fullPackets,
            int maximumSegmentSize,
            int flags) {}

    int packets() {
        return sentByLow.packets() + sentByHigh.packets();
    }
}
