// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The window that one end advertises, and how far it lets the other one send. */
public final class ReceiverWindow {
    private static final int MAX_SHIFT = 14; // RFC 7323 §2.3
    private static final int UNKNOWN = -1;

    private long rightEdge;
    private long bytes;
    private int agreedShift = UNKNOWN;
    private int largestField;
    private boolean zero;

    /** Both SYNs were seen: windows are shifted by this much, 0 if scaling was not agreed. */
    public void agreeShift(int shift) {
        agreedShift = Math.min(shift, MAX_SHIFT);
    }

    /**
     * An acknowledgment passes.
     *
     * @param largestFlight most bytes ever in flight: without both SYNs the window must have been as large
     */
    public void onAck(Packet packet, long acknowledged, long largestFlight) {
        boolean isSyn = packet.has(Packet.SYN);
        int field = packet.windowField;
        largestField = isSyn ? largestField : Math.max(largestField, field);
        // The window of a SYN is never scaled (RFC 7323 §2.2).
        bytes = isSyn ? field : (long) field << shift(largestFlight);
        rightEdge = Math.max(rightEdge, acknowledged + bytes);
        zero = field == 0 && !isSyn && !packet.has(Packet.RST);
    }

    /** Without both SYNs: the smallest shift under which the flight fits into the window. */
    private int shift(long largestFlight) {
        if (agreedShift != UNKNOWN) {
            return agreedShift;
        }
        int shift = 0;
        while (shift < MAX_SHIFT && (long) largestField << shift < largestFlight) {
            shift++;
        }
        return shift;
    }

    /** Highest sequence number that the receiver has ever allowed. */
    public long rightEdge() {
        return rightEdge;
    }

    /** The window of the newest acknowledgment, scaled. */
    public long bytes() {
        return bytes;
    }

    /** Whether the newest acknowledgment allows nothing. */
    public boolean isZero() {
        return zero;
    }

    /** Whether the scale was not seen, so that the window is a lower bound. */
    public boolean isScaleUnknown() {
        return agreedShift == UNKNOWN;
    }

    /** Whether windows end at 64 KiB. */
    public boolean isUnscaled() {
        return agreedShift == 0;
    }

    /** Writes the state; {@code near} is a sequence number not far from the window's edge, which makes it short. */
    public void writeTo(DataOutput out, long near) throws IOException {
        Varint.write(out, rightEdge - near);
        Varint.write(out, bytes);
        Varint.write(out, agreedShift);
        Varint.write(out, largestField);
        out.writeBoolean(zero);
    }

    /** Reads what {@link #writeTo} wrote. */
    public void readFrom(DataInput in, long near) throws IOException {
        rightEdge = Varint.read(in) + near;
        bytes = Varint.read(in);
        agreedShift = Varint.readInt(in);
        largestField = Varint.readInt(in);
        zero = in.readBoolean();
    }
}
