// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The three segments that open a flow: who is the client, which options hold, and how far either end is.
 *
 * <pre>
 *   NONE ── SYN ──> SYN ── SYN-ACK ──> SYN_ACK ── ACK of the client ──> DONE
 *      └──── SYN-ACK (SYN missed) ───────^
 * </pre>
 */
final class Handshake {
    private enum State {
        NONE,
        SYN,
        SYN_ACK,
        DONE
    }

    private static final int NO_SCALE = -1;
    private static final int CUT_SCALE = -2; // the capture, or the sender, cut the options
    private static final int UNKNOWN = -1;

    private State state = State.NONE;
    private int client = UNKNOWN;
    private int initialSequence;
    private boolean sawSyn;
    private boolean synRepeated;
    private int clientScale = NO_SCALE;
    private long synNanos;
    private long synAckNanos;

    void reset() {
        state = State.NONE;
        client = UNKNOWN;
        sawSyn = false;
        synRepeated = false;
        clientScale = NO_SCALE;
    }

    /** Every packet of the flow comes by before the halves see it. */
    void onPacket(long now, Packet packet, HalfConnection[] halves) {
        if (state == State.DONE) {
            return;
        }
        if (packet.has(Packet.SYN)) {
            if (packet.has(Packet.ACK)) {
                onSynAck(now, packet, halves);
            } else {
                onSyn(now, packet, halves);
            }
        } else if (state == State.SYN_ACK && packet.direction == client && packet.has(Packet.ACK)) {
            onFinalAck(now, halves);
        }
    }

    private void onSyn(long now, Packet packet, HalfConnection[] halves) {
        boolean answered = state == State.SYN_ACK;
        synRepeated = sawSyn || answered;
        sawSyn = true;
        client = packet.direction;
        initialSequence = packet.sequence;
        clientScale = offeredScale(packet);
        synNanos = now;
        state = state == State.NONE ? State.SYN : state;
        announceMss(packet, halves);
        if (answered && clientScale != CUT_SCALE && halves[1 - client].window().isScaleUnknown()) {
            // The answer passed first, and it offered scaling: the client did so, too (RFC 7323 §2.2).
            halves[1 - client].agreeWindowShift(Math.max(0, packet.windowScale));
        }
    }

    /** What an end announces bounds what the other one sends. */
    private static void announceMss(Packet packet, HalfConnection[] halves) {
        if (packet.maximumSegmentSize > 0) {
            halves[1 - packet.direction].announceMss(packet.maximumSegmentSize);
        }
    }

    private void onSynAck(long now, Packet packet, HalfConnection[] halves) {
        if (state == State.SYN_ACK) {
            synRepeated = true; // which one is answered cannot be told
            return;
        }
        client = 1 - packet.direction;
        initialSequence = packet.acknowledgment - 1;
        synAckNanos = now;
        state = State.SYN_ACK;
        announceMss(packet, halves);
        agreeScale(offeredScale(packet), halves);
    }

    private static int offeredScale(Packet packet) {
        return packet.windowScale == NO_SCALE && packet.malformedOptions ? CUT_SCALE : packet.windowScale;
    }

    /** Both must offer scaling, and a SYN-ACK offers it only if the SYN did (RFC 7323 §2.2). What was not seen stays unknown. */
    private void agreeScale(int serverScale, HalfConnection[] halves) {
        boolean refused = (sawSyn && clientScale == NO_SCALE) || serverScale == NO_SCALE;
        // Windows that an end sends bound the data of the other one.
        if (refused) {
            halves[client].agreeWindowShift(0);
            halves[1 - client].agreeWindowShift(0);
        } else if (serverScale != CUT_SCALE) {
            halves[client].agreeWindowShift(serverScale);
            if (sawSyn && clientScale != CUT_SCALE) {
                halves[1 - client].agreeWindowShift(clientScale);
            }
        }
    }

    private void onFinalAck(long now, HalfConnection[] halves) {
        state = State.DONE;
        if (sawSyn && !synRepeated && synAckNanos >= synNanos) {
            long clientSideNanos = now - synAckNanos;
            long serverSideNanos = synAckNanos - synNanos;
            halves[client].onHandshake(clientSideNanos, serverSideNanos);
            halves[1 - client].onHandshake(serverSideNanos, clientSideNanos);
        }
    }

    /** Direction that the client sends: by the SYN or SYN-ACK, else the end with the higher port is the client. */
    int clientDirection(FlowKey key) {
        if (client != UNKNOWN) {
            return client;
        }
        return clientByPorts(key);
    }

    /** Without SYN and SYN-ACK: the end with the higher port. */
    static int clientByPorts(FlowKey key) {
        return key.lowPort() >= key.highPort() ? 0 : 1;
    }

    boolean isInitialSequenceKnown() {
        return client != UNKNOWN;
    }

    int clientInitialSequence() {
        return initialSequence;
    }

    boolean isSynSeen() {
        return sawSyn;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeByte(state.ordinal());
        out.writeByte((sawSyn ? 1 : 0) | (synRepeated ? 2 : 0));
        Varint.write(out, client);
        Varint.write(out, initialSequence);
        if (state == State.DONE) {
            return;
        }
        Varint.write(out, clientScale);
        Varint.write(out, synNanos);
        Varint.write(out, synAckNanos);
    }

    void readFrom(DataInput in) throws IOException {
        state = State.values()[in.readByte()];
        int bits = in.readByte();
        sawSyn = (bits & 1) != 0;
        synRepeated = (bits & 2) != 0;
        client = Varint.readInt(in);
        initialSequence = (int) Varint.read(in);
        if (state == State.DONE) {
            return;
        }
        clientScale = Varint.readInt(in);
        synNanos = Varint.read(in);
        synAckNanos = Varint.read(in);
    }
}
