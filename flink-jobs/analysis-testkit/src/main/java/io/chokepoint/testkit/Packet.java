// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

/**
 * What a tap sees of one TCP packet.
 *
 * @param timeNs capture time since the epoch
 * @param fromA whether A sent it
 * @param sequenceNumber modulo 2^32
 * @param acknowledgmentNumber modulo 2^32
 * @param payloadBytes TCP payload
 * @param headerBytes IP and TCP headers with options
 * @param flags CWR 128, ECE 64, URG 32, ACK 16, PSH 8, RST 4, SYN 2, FIN 1
 * @param windowField as on the wire, unscaled
 * @param ip the other fields of the IP header
 * @param options TCP options
 */
public record Packet(
        long timeNs,
        boolean fromA,
        int sequenceNumber,
        int acknowledgmentNumber,
        int payloadBytes,
        int headerBytes,
        int flags,
        int windowField,
        Ip ip,
        TcpOptions options) {
    public static final int FIN = 1;
    public static final int SYN = 2;
    public static final int RST = 4;
    public static final int PSH = 8;
    public static final int ACK = 16;
    public static final int URG = 32;
    public static final int ECE = 64;
    public static final int CWR = 128;

    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int TCP_HEADER_BYTES = 20;

    /**
     * Fields of the IP header.
     *
     * @param id identification of IPv4, 0..65535; ignored for IPv6
     * @param timeToLive TTL or hop limit, 0..255
     * @param trafficClass DSCP and ECN byte, 0..255
     */
    public record Ip(int id, int timeToLive, int trafficClass) {}

    /** Header bytes of a packet without IP options or extension headers. */
    public static int headerBytes(Flow flow, TcpOptions options) {
        return (flow.isIpv4() ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES) + TCP_HEADER_BYTES + options.wireBytes();
    }

    /** The same packet, seen at another time. */
    public Packet at(long newTimeNs) {
        return new Packet(
                newTimeNs,
                fromA,
                sequenceNumber,
                acknowledgmentNumber,
                payloadBytes,
                headerBytes,
                flags,
                windowField,
                ip,
                options);
    }

    /** Sequence number after this packet: payload, SYN and FIN count. */
    public int nextSequenceNumber() {
        return sequenceNumber + payloadBytes + ((flags & SYN) != 0 ? 1 : 0) + ((flags & FIN) != 0 ? 1 : 0);
    }
}
