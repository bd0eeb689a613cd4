// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/**
 * Runs at the edges (drawn by hand, so jqwik need not combine its own): uniform draws would hardly ever meet a wrap, a full run, a change of the byte length of a varint,
 * or a value that repeats.
 */
final class RunArbitraries {
    private static final long LAST_VALUE = Long.MAX_VALUE;

    private RunArbitraries() {}

    /** Runs of any size. */
    static Arbitrary<RunSpec> runs() {
        return runs(Arbitraries.oneOf(
                Arbitraries.of(0, 1, 2, 7, 8, 9, 255, 256),
                Arbitraries.integers().between(0, 40)));
    }

    /** Runs of a few packets, for properties that need many. */
    static Arbitrary<RunSpec> shortRuns() {
        return runs(Arbitraries.of(0, 1, 2, 7, 8, 9));
    }

    private static Arbitrary<RunSpec> runs(Arbitrary<Integer> sizes) {
        Arbitrary<String> endReasons =
                Arbitraries.of("NONE", "NONE", "FIN", "RST", "IDLE", "EVICTED", "REPLACED", "CAPTURE_END", "SHED");
        return Combinators.combine(
                        flows(),
                        packetLists(sizes),
                        instants(),
                        Arbitraries.of(0L, 1L, 255L, 256L, LAST_VALUE),
                        instants(),
                        endReasons)
                .as((flow, packets, start, before, until, end) ->
                        new RunSpec(flow, start, before, until, end, forFamily(flow, packets)))
                .withoutEdgeCases();
    }

    /** IPv6 has no identification. */
    private static List<Packet> forFamily(Flow flow, List<Packet> packets) {
        return flow.isIpv4()
                ? packets
                : packets.stream().map(RunArbitraries::withoutIpId).toList();
    }

    private static Packet withoutIpId(Packet packet) {
        Packet.Ip ip = new Packet.Ip(0, packet.ip().timeToLive(), packet.ip().trafficClass());
        return new Packet(
                packet.timeNs(),
                packet.fromA(),
                packet.sequenceNumber(),
                packet.acknowledgmentNumber(),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                ip,
                packet.options());
    }

    static Arbitrary<Flow> flows() {
        Arbitrary<List<String>> addresses = Arbitraries.of(
                List.of("10.0.0.1", "10.0.0.2"),
                List.of("192.0.2.1", "9.255.255.255"),
                List.of("10.0.0.1", "10.0.0.1"),
                List.of("255.255.255.255", "0.0.0.0"),
                List.of("2001:db8::1", "fe80::2"),
                List.of("fe80::2", "::1"),
                List.of("7fff::", "8000::"));
        Arbitrary<Integer> ports = Arbitraries.of(0, 1, 443, 32_767, 32_768, 65_535);
        return Combinators.combine(
                        Arbitraries.of(0, 1, 255, Integer.MAX_VALUE),
                        addresses,
                        ports,
                        ports,
                        Arbitraries.of(0, 1, 4095).injectNull(0.5),
                        Arbitraries.of(0L, 1L, 0xffff_ffffL).injectNull(0.5))
                .as((domain, ends, portA, portB, vlan, tunnel) ->
                        new Flow(domain, endpoint(ends.get(0), portA), endpoint(ends.get(1), portB), vlan, tunnel));
    }

    private static InetSocketAddress endpoint(String address, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static Arbitrary<List<Packet>> packetLists(Arbitrary<Integer> sizes) {
        return Combinators.combine(instants(), sizes)
                .flatAs((start, size) ->
                        packets().list().ofSize(size).map(packets -> withRunningTimes(packets, start)));
    }

    /** Generated times are gaps: make them times. */
    private static List<Packet> withRunningTimes(List<Packet> packets, long startNs) {
        List<Packet> timed = new ArrayList<>();
        long timeNs = startNs;
        for (Packet packet : packets) {
            timeNs += packet.timeNs();
            timed.add(packet.at(timeNs));
        }
        return timed;
    }

    private static Arbitrary<Packet> packets() {
        Arbitrary<Long> gapsNs =
                Arbitraries.of(0L, 1L, 63L, 64L, 1200L, 8191L, 8192L, 1_000_000_000L, -1L, -2_000_000L);
        Arbitrary<Integer> headers = Arbitraries.of(40, 52, 60, 72, 0, 65_535);
        Arbitrary<int[]> numbers =
                Combinators.combine(sequenceNumbers(), sequenceNumbers()).as((seq, ack) -> new int[] {seq, ack});
        Arbitrary<Integer> payloads =
                Arbitraries.of(0, 0, 1, 127, 128, 536, 1448, 1448, 16_383, 16_384, 65_483, 1 << 20);
        return Combinators.combine(
                        gapsNs,
                        Arbitraries.of(true, false),
                        numbers,
                        payloads,
                        headers,
                        Arbitraries.of(16, 16, 16, 24, 2, 18, 17, 4, 0, 255),
                        Arbitraries.of(0, 1, 502, 32_767, 32_768, 65_535),
                        headersAndOptions())
                .as((gap, fromA, number, payload, header, flags, window, rest) -> new Packet(
                        gap, fromA, number[0], number[1], payload, header, flags, window, rest.ip(), rest.options()))
                .withoutEdgeCases();
    }

    private record HeadersAndOptions(Packet.Ip ip, TcpOptions options) {}

    private static Arbitrary<HeadersAndOptions> headersAndOptions() {
        Arbitrary<Packet.Ip> ips = Combinators.combine(
                        Arbitraries.of(0, 1, 2, 32_767, 32_768, 65_534, 65_535),
                        Arbitraries.of(64, 64, 63, 255, 0),
                        Arbitraries.of(0, 0, 2, 3, 255))
                .as(Packet.Ip::new);
        return Combinators.combine(ips, options()).as(HeadersAndOptions::new);
    }

    private static Arbitrary<TcpOptions> options() {
        Arbitrary<TcpOptions> stamped =
                Combinators.combine(sequenceNumbers(), sequenceNumbers()).as(TcpOptions.NONE::withTimestamps);
        Arbitrary<TcpOptions.SackBlock> blocks =
                Combinators.combine(sequenceNumbers(), sequenceNumbers()).as(TcpOptions.SackBlock::new);
        Arbitrary<TcpOptions> syn = Combinators.combine(
                        Arbitraries.of(0, 536, 1460, 65_535).injectNull(0.3),
                        Arbitraries.of(0, 7, 14, 255).injectNull(0.3),
                        Arbitraries.of(true, false),
                        Arbitraries.of(true, false))
                .as((mss, scale, sack, malformed) -> new TcpOptions(null, mss, scale, sack, List.of(), malformed));
        return Arbitraries.oneOf(
                stamped,
                stamped,
                Arbitraries.just(TcpOptions.NONE),
                Combinators.combine(stamped, blocks.list().ofMinSize(1).ofMaxSize(4))
                        .as(TcpOptions::withSackBlocks),
                syn);
    }

    /** Most draws lie where a signed or unsigned 32-bit number wraps, or repeat one that was drawn before. */
    private static Arbitrary<Integer> sequenceNumbers() {
        return Arbitraries.oneOf(
                Arbitraries.integers(),
                Arbitraries.of(0, 1, 1449, 2897),
                Arbitraries.integers().between(Integer.MAX_VALUE - 3000, Integer.MAX_VALUE),
                Arbitraries.integers().between(Integer.MIN_VALUE, Integer.MIN_VALUE + 3000),
                Arbitraries.integers().between(-3000, 0));
    }

    private static Arbitrary<Long> instants() {
        return Arbitraries.of(
                0L,
                1L,
                1_700_000_000_000_000_000L,
                1_699_999_999_999_999_999L,
                4_294_967_296_000_000_000L,
                LAST_VALUE,
                -1L);
    }
}
