// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Turns a decoded run back into the testkit's values, to compare them with what was encoded. */
final class RunPackets {
    private RunPackets() {}

    /** The flow with A as its lower endpoint. */
    static Flow flowOf(Run run) {
        return new Flow(
                run.domain(),
                endpoint(run.lowAddressUpper(), run.lowAddressLower(), run.lowPort()),
                endpoint(run.highAddressUpper(), run.highAddressLower(), run.highPort()),
                run.vlanId() == Run.NO_VLAN ? null : run.vlanId(),
                run.tunnelId() == Run.NO_TUNNEL ? null : run.tunnelId());
    }

    private static InetSocketAddress endpoint(long upper, long lower, int port) {
        byte[] bytes = FlowKey.isIpv4(upper, lower)
                ? ByteBuffer.allocate(4).putInt((int) lower).array()
                : ByteBuffer.allocate(16).putLong(upper).putLong(lower).array();
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    static List<Packet> packetsOf(Run run, boolean aIsLow) {
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < run.packets(); i++) {
            packets.add(new Packet(
                    run.timeNs()[i],
                    run.direction()[i] == 0 == aIsLow,
                    run.sequenceNumber()[i],
                    run.acknowledgmentNumber()[i],
                    run.payloadBytes()[i],
                    run.headerBytes()[i],
                    run.tcpFlags()[i],
                    run.windowField()[i],
                    new Packet.Ip(run.ipId()[i], run.timeToLive()[i], run.trafficClass()[i]),
                    optionsOf(run, i)));
        }
        return packets;
    }

    private static TcpOptions optionsOf(Run run, int packet) {
        int present = run.optionsPresent()[packet];
        List<TcpOptions.SackBlock> blocks = new ArrayList<>();
        for (int i = run.sackOffset()[packet]; i < run.sackOffset()[packet + 1]; i++) {
            blocks.add(new TcpOptions.SackBlock(run.sackLeft()[i], run.sackRight()[i]));
        }
        return new TcpOptions(
                (present & Run.OPTION_TIMESTAMPS) == 0
                        ? null
                        : new TcpOptions.Timestamps(run.timestampValue()[packet], run.timestampEcho()[packet]),
                (present & Run.OPTION_MSS) == 0 ? null : Integer.valueOf(run.maximumSegmentSize()[packet]),
                run.windowScale()[packet] == Run.NO_WINDOW_SCALE ? null : Integer.valueOf(run.windowScale()[packet]),
                (present & Run.OPTION_SACK_PERMITTED) != 0,
                blocks,
                (present & Run.OPTION_MALFORMED) != 0);
    }
}
