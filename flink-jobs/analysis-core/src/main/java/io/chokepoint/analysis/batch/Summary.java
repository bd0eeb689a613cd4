// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * A whole short flow at one tap, of which there are no runs. Its data passed in order and once, no window was closed and
 * no packet marked: flows that show more than that are never summarised.
 *
 * @param vlanId 0..4095, or {@link Run#NO_VLAN}
 * @param tunnelId 0..2^32-1, or {@link Run#NO_TUNNEL}
 * @param flowStartNs time of the first packet, ns since the epoch
 * @param durationNs from the first packet to the latest
 * @param quietNs silence after it of which a quiet mark would have told; 0, or 1, 2, 4 … s
 * @param client direction that the client sends, or {@link #UNKNOWN} if neither SYN nor SYN-ACK was seen
 * @param clientSequenceNumber initial sequence number of the client, modulo 2^32; 0 if it is not known
 * @param syns SYNs without ACK
 * @param serverDelayNs from SYN to SYN-ACK at this tap, or {@link #UNKNOWN}
 * @param clientDelayNs from SYN-ACK to ACK at this tap, or {@link #UNKNOWN}
 */
public record Summary(
        FlowKey key,
        int vlanId,
        long tunnelId,
        long flowStartNs,
        long durationNs,
        long quietNs,
        EndReason endReason,
        int client,
        int clientSequenceNumber,
        int syns,
        long serverDelayNs,
        long clientDelayNs,
        Sent sentByLow,
        Sent sentByHigh) {
    /** Value of what the tap could not see. */
    public static final int UNKNOWN = -1;

    /**
     * What one end sent, and what the other one acknowledged of it.
     *
     * @param headerBytes IP bytes of the data packets that are not payload
     * @param acknowledgedBytes payload, also of packets that the tap did not see
     * @param largestDataBytes largest payload of a packet
     * @param fullPackets packets of that size without PSH
     * @param maximumSegmentSize announced by the other end, 0 if it was not
     * @param flags sum of {@code FLAG_…}
     */
    public record Sent(
            int packets,
            int dataPackets,
            int dataBytes,
            int headerBytes,
            int acknowledgedBytes,
            int largestDataBytes,
            int fullPackets,
            int maximumSegmentSize,
            int flags) {
        /** A data packet had no timestamps. */
        public static final int FLAG_NO_TIMESTAMPS = 1;
        /** The other end sent an ACK, beside its SYN. */
        public static final int FLAG_ACKNOWLEDGED = 2;
        /** The scale of the other end's windows is known. */
        public static final int FLAG_WINDOW_SCALE_KNOWN = 4;

        /** Whether the flag is set. */
        public boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    /** What the end of a direction sent. */
    public Sent sentBy(int direction) {
        return direction == 0 ? sentByLow : sentByHigh;
    }
}
