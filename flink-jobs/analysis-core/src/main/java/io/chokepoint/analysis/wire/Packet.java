// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.batch.Run;
import org.jspecify.annotations.Nullable;

/** One packet of a run: a reused view, filled once per packet so that the analysis reads plain fields. */
public final class Packet {
    public static final int FIN = Run.FLAG_FIN;
    public static final int SYN = Run.FLAG_SYN;
    public static final int RST = Run.FLAG_RST;
    public static final int PSH = Run.FLAG_PSH;
    public static final int ACK = Run.FLAG_ACK;
    public static final int ECE = Run.FLAG_ECE;

    private static final int CONGESTION_EXPERIENCED = 3;

    /** When the tap saw it: ns since the epoch. */
    public long timeNanos;
    /** 0 from the lower endpoint, 1 from the higher one. */
    public int direction;

    public int sequence;
    public int acknowledgment;
    public int payloadBytes;
    public int ipBytes;
    public int flags;
    public int windowField;
    /** IP-ID, or 0 if the packet has none. */
    public int ipId;

    public int trafficClass;
    public boolean hasTimestamps;
    public int timestampValue;
    public int timestampEcho;
    /** MSS option, or 0 if absent. */
    public int maximumSegmentSize;
    /** Window scale option, or -1 if absent. */
    public int windowScale;

    public boolean malformedOptions;
    public int sackBlocks;
    private int firstSackBlock;
    private @Nullable Run run;

    /** Points at packet {@code index} of a run. */
    public void read(Run source, int index) {
        run = source;
        timeNanos = source.timeNs()[index];
        direction = source.direction()[index];
        sequence = source.sequenceNumber()[index];
        acknowledgment = source.acknowledgmentNumber()[index];
        payloadBytes = source.payloadBytes()[index];
        ipBytes = payloadBytes + source.headerBytes()[index];
        flags = source.tcpFlags()[index];
        windowField = source.windowField()[index];
        ipId = source.hasIpId() ? source.ipId()[index] : 0;
        trafficClass = source.trafficClass()[index];
        int options = source.optionsPresent()[index];
        hasTimestamps = (options & Run.OPTION_TIMESTAMPS) != 0;
        timestampValue = hasTimestamps ? source.timestampValue()[index] : 0;
        timestampEcho = hasTimestamps ? source.timestampEcho()[index] : 0;
        maximumSegmentSize = (options & Run.OPTION_MSS) != 0 ? source.maximumSegmentSize()[index] : 0;
        windowScale = (options & Run.OPTION_WINDOW_SCALE) != 0 ? source.windowScale()[index] : -1;
        malformedOptions = (options & Run.OPTION_MALFORMED) != 0;
        firstSackBlock = source.sackOffset()[index];
        sackBlocks = source.sackOffset()[index + 1] - firstSackBlock;
    }

    /** Left edge of SACK block {@code i}. */
    public int sackLeft(int i) {
        return requireNonNull(run).sackLeft()[firstSackBlock + i];
    }

    /** Right edge of SACK block {@code i}. */
    public int sackRight(int i) {
        return requireNonNull(run).sackRight()[firstSackBlock + i];
    }

    /** Whether all of the flags in {@code mask} are set. */
    public boolean has(int mask) {
        return (flags & mask) == mask;
    }

    /** Sequence numbers the packet takes: payload, SYN and FIN. */
    public int sequenceLength() {
        return payloadBytes + (has(SYN) ? 1 : 0) + (has(FIN) ? 1 : 0);
    }

    /** Whether a router marked congestion (RFC 3168 §5). */
    public boolean isCongestionExperienced() {
        return (trafficClass & CONGESTION_EXPERIENCED) == CONGESTION_EXPERIENCED;
    }
}
