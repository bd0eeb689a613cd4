// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * The decoded packets of one flow at one tap: an identity and one array per feature, index = packet.
 *
 * <p>Made for reuse: a {@link RunReader} refills it, so arrays are valid until the next read, only their first {@link
 * #packets()} elements mean anything, and nobody but the reader writes to them. Integers of 32 bits on the wire
 * (sequence numbers, timestamps) are Java ints modulo 2^32; all others are never negative unless a name says so.
 */
public final class Run {
    /** Most packets in a run. */
    public static final int MAX_PACKETS = 256;
    /** Most SACK blocks that fit into the options of a packet. */
    public static final int MAX_SACK_BLOCKS = 4;
    /** Value of {@link #vlanId()} for an untagged flow. */
    public static final int NO_VLAN = -1;
    /** Value of {@link #tunnelId()} for a flow outside tunnels. */
    public static final long NO_TUNNEL = -1;
    /** Value of {@link #windowScale()} for a packet without that option. */
    public static final int NO_WINDOW_SCALE = -1;

    public static final int FLAG_FIN = 1;
    public static final int FLAG_SYN = 2;
    public static final int FLAG_RST = 4;
    public static final int FLAG_PSH = 8;
    public static final int FLAG_ACK = 16;
    public static final int FLAG_URG = 32;
    public static final int FLAG_ECE = 64;
    public static final int FLAG_CWR = 128;

    public static final int OPTION_TIMESTAMPS = 1;
    public static final int OPTION_MSS = 2;
    public static final int OPTION_WINDOW_SCALE = 4;
    public static final int OPTION_SACK_PERMITTED = 8;
    public static final int OPTION_SACK_BLOCKS = 16;
    public static final int OPTION_MALFORMED = 32;

    int domain;
    long lowAddressUpper;
    long lowAddressLower;
    int lowPort;
    long highAddressUpper;
    long highAddressLower;
    int highPort;
    int vlanId = NO_VLAN;
    long tunnelId = NO_TUNNEL;
    long flowStartNs;
    long packetsBefore;
    long observedUntilNs;
    EndReason endReason = EndReason.NONE;
    int packets;
    int unknownColumns;
    boolean hasIpId;

    final long[] timeNs = new long[MAX_PACKETS];
    final byte[] direction = new byte[MAX_PACKETS];
    final int[] sequenceNumber = new int[MAX_PACKETS];
    final int[] acknowledgmentNumber = new int[MAX_PACKETS];
    final int[] payloadBytes = new int[MAX_PACKETS];
    final int[] headerBytes = new int[MAX_PACKETS];
    final int[] tcpFlags = new int[MAX_PACKETS];
    final int[] windowField = new int[MAX_PACKETS];
    final int[] ipId = new int[MAX_PACKETS];
    final int[] timeToLive = new int[MAX_PACKETS];
    final int[] trafficClass = new int[MAX_PACKETS];
    final int[] optionsPresent = new int[MAX_PACKETS];
    final int[] timestampValue = new int[MAX_PACKETS];
    final int[] timestampEcho = new int[MAX_PACKETS];
    final int[] maximumSegmentSize = new int[MAX_PACKETS];
    final int[] windowScale = new int[MAX_PACKETS];
    final int[] sackOffset = new int[MAX_PACKETS + 1];
    final int[] sackLeft = new int[MAX_PACKETS * MAX_SACK_BLOCKS];
    final int[] sackRight = new int[MAX_PACKETS * MAX_SACK_BLOCKS];

    /** Domain, addresses and ports as a value that outlives the next read. */
    public FlowKey key() {
        return new FlowKey(
                domain, lowAddressUpper, lowAddressLower, lowPort, highAddressUpper, highAddressLower, highPort);
    }

    /** Address space, 0..2^31-1. */
    public int domain() {
        return domain;
    }

    /** First eight bytes of the address that sends direction 0; 0 for IPv4. */
    public long lowAddressUpper() {
        return lowAddressUpper;
    }

    /** Last eight bytes of the address that sends direction 0; IPv4 is {@code ::ffff:a.b.c.d}. */
    public long lowAddressLower() {
        return lowAddressLower;
    }

    /** Port that sends direction 0. */
    public int lowPort() {
        return lowPort;
    }

    /** First eight bytes of the address that sends direction 1; 0 for IPv4. */
    public long highAddressUpper() {
        return highAddressUpper;
    }

    /** Last eight bytes of the address that sends direction 1; IPv4 is {@code ::ffff:a.b.c.d}. */
    public long highAddressLower() {
        return highAddressLower;
    }

    /** Port that sends direction 1. */
    public int highPort() {
        return highPort;
    }

    /** VLAN of the flow's first packet, 0..4095, or {@link #NO_VLAN}. */
    public int vlanId() {
        return vlanId;
    }

    /** Tunnel of the flow's first packet, 0..2^32-1, or {@link #NO_TUNNEL}. */
    public long tunnelId() {
        return tunnelId;
    }

    /** Time of the flow's first packet at this tap, ns since the epoch. */
    public long flowStartNs() {
        return flowStartNs;
    }

    /** Packets of this flow in its earlier runs: a jump is a hole, a step back a repeat. */
    public long packetsBefore() {
        return packetsBefore;
    }

    /** The tap has seen all of this flow up to here, ns since the epoch. */
    public long observedUntilNs() {
        return observedUntilNs;
    }

    /** Why no further run follows; {@link EndReason#NONE} while the flow lives. */
    public EndReason endReason() {
        return endReason;
    }

    /** Packets in this run, 0..{@link #MAX_PACKETS}; 0 in a quiet mark and a bare end mark. */
    public int packets() {
        return packets;
    }

    /** Columns with ids that this reader does not know; they were skipped. */
    public int unknownColumns() {
        return unknownColumns;
    }

    /** Whether the packets carry IPv4 identifications. */
    public boolean hasIpId() {
        return hasIpId;
    }

    /** Capture times, ns since the epoch; any 64-bit value, not necessarily ascending. */
    public long[] timeNs() {
        return timeNs;
    }

    /** 0 if the low endpoint sent the packet, 1 if the high one did. */
    public byte[] direction() {
        return direction;
    }

    /** Sequence numbers modulo 2^32. */
    public int[] sequenceNumber() {
        return sequenceNumber;
    }

    /** Acknowledgment numbers modulo 2^32; meaningless without {@link #FLAG_ACK}. */
    public int[] acknowledgmentNumber() {
        return acknowledgmentNumber;
    }

    /** TCP payload by the IP length. */
    public int[] payloadBytes() {
        return payloadBytes;
    }

    /** IP bytes that are not TCP payload: the IP packet has {@code headerBytes + payloadBytes}. */
    public int[] headerBytes() {
        return headerBytes;
    }

    /** Sums of {@code FLAG_…}. */
    public int[] tcpFlags() {
        return tcpFlags;
    }

    /** Windows as on the wire, unscaled, 0..65535. */
    public int[] windowField() {
        return windowField;
    }

    /** IPv4 identifications, 0..65535; all 0 without {@link #hasIpId()}. */
    public int[] ipId() {
        return ipId;
    }

    /** TTL or hop limit, 0..255. */
    public int[] timeToLive() {
        return timeToLive;
    }

    /** DSCP and ECN byte, 0..255; the ECN field is its lowest two bits. */
    public int[] trafficClass() {
        return trafficClass;
    }

    /** Sums of {@code OPTION_…}; higher bits belong to options that this reader does not know. */
    public int[] optionsPresent() {
        return optionsPresent;
    }

    /** TSval modulo 2^32; 0 without {@link #OPTION_TIMESTAMPS}. */
    public int[] timestampValue() {
        return timestampValue;
    }

    /** TSecr modulo 2^32; 0 without {@link #OPTION_TIMESTAMPS}. */
    public int[] timestampEcho() {
        return timestampEcho;
    }

    /** MSS in bytes, 0..65535; 0 without {@link #OPTION_MSS}. */
    public int[] maximumSegmentSize() {
        return maximumSegmentSize;
    }

    /** Window shift as on the wire, 0..255, or {@link #NO_WINDOW_SCALE}. */
    public int[] windowScale() {
        return windowScale;
    }

    /** The SACK blocks of packet i have the indices {@code sackOffset[i]} (inclusive) to {@code sackOffset[i + 1]}. */
    public int[] sackOffset() {
        return sackOffset;
    }

    /** Left edges of all SACK blocks, modulo 2^32: first byte of the block. */
    public int[] sackLeft() {
        return sackLeft;
    }

    /** Right edges of all SACK blocks, modulo 2^32: the byte after the block. */
    public int[] sackRight() {
        return sackRight;
    }
}
