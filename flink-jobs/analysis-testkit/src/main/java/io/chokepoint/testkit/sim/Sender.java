// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Packet;
import java.util.List;
import java.util.function.Consumer;

/**
 * The side that sends the data: Reno with SACK (RFC 5681, RFC 6675), a retransmission timer (RFC 6298), a send buffer.
 *
 * <p>Whenever it stops it knows why, and books that: see {@link Truth.Wait}.
 */
final class Sender {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long FIN_TIMEOUT_NS = 300 * NANOS_PER_MILLI;
    private static final int INITIAL_SEGMENTS = 10;

    private final EventQueue events;
    private final PathScenario scenario;
    private final Consumer<Segment> out;
    private final Truth truth;
    private final LossDetector flight = new LossDetector();
    private final RetransmissionTimer timer;
    private final int mss;
    private long startNs;
    private long acknowledged = 1;
    private long next = 1;
    private long rightEdge;
    private long written = 1;
    private boolean applicationBlocked;
    private boolean congestionWindowFull;
    private double congestionWindow;
    private double slowStartThreshold = Double.MAX_VALUE;
    private long recoveryPoint = -1;
    private long lastReductionNs;
    private ProportionalRateReduction reduction = new ProportionalRateReduction(0, 0, 0);
    private boolean recoversFromTimeout;
    private long lastTimestamp;
    private boolean finSent;
    private boolean finAnswered;

    Sender(EventQueue events, PathScenario scenario, Truth truth, Consumer<Segment> out) {
        this.events = events;
        this.scenario = scenario;
        this.truth = truth;
        this.out = out;
        mss = scenario.mss;
        congestionWindow = INITIAL_SEGMENTS * mss;
        timer = new RetransmissionTimer(events, this::onTimeout);
    }

    /** Starts sending once the handshake is over. */
    void start(long windowBytes, long peerTimestamp) {
        startNs = events.nowNs();
        truth.begin(startNs);
        rightEdge = 1 + windowBytes;
        lastTimestamp = peerTimestamp;
        send();
        planNextWrite();
    }

    private void planNextWrite() {
        long delayNs = scenario.application.untilNextWriteNs(events.nowNs() - startNs);
        if (delayNs < Long.MAX_VALUE) {
            events.after(delayNs, () -> {
                send();
                planNextWrite();
            });
        }
    }

    void onAck(Segment ack) {
        lastTimestamp = ack.timestampValue();
        rightEdge = Math.max(rightEdge, ack.ack() + ack.windowBytes());
        if ((ack.flags() & Packet.FIN) != 0) {
            finAnswered = true;
            out.accept(segment(next + 1, 0, Packet.ACK, 2));
            return;
        }
        long newBytes = Math.max(0, ack.ack() - acknowledged);
        acknowledged += newBytes;
        long arrivedBytes = flight.onAck(acknowledged, ack.sackBlocks(), timer, events.nowNs());
        if (newBytes > 0) {
            timer.restart(!flight.isEmpty());
        }
        adjustCongestionWindow(newBytes, arrivedBytes);
        send();
    }

    private void adjustCongestionWindow(long newBytes, long arrivedBytes) {
        if (recoveryPoint >= 0 && acknowledged >= recoveryPoint) {
            congestionWindow = recoversFromTimeout ? congestionWindow : slowStartThreshold;
            recoveryPoint = -1;
            recoversFromTimeout = false;
        }
        boolean lostWhatRecovers = recoveryPoint >= 0 && flight.lostAgainSentNs() > lastReductionNs;
        if (flight.lossFound() && (recoveryPoint < 0 || lostWhatRecovers)) {
            reduce(lostWhatRecovers ? slowStartThreshold : (double) flight.outstandingBytes());
            recoveryPoint = next;
        }
        if (recoveryPoint >= 0 && !recoversFromTimeout) {
            congestionWindow = flight.pipeBytes() + reduction.allowance(arrivedBytes, flight.pipeBytes());
        } else {
            grow(newBytes);
        }
    }

    /** Halves what the path was thought to hold: once for each round of losses. */
    private void reduce(double heldBytes) {
        slowStartThreshold = Math.max(heldBytes / 2, 2.0 * mss);
        lastReductionNs = events.nowNs();
        reduction = new ProportionalRateReduction(slowStartThreshold, flight.outstandingBytes(), mss);
    }

    /** Not while something else holds the flow back, or the window would lose its meaning. */
    private void grow(long newBytes) {
        if (!congestionWindowFull) {
            return;
        }
        congestionWindow += congestionWindow < slowStartThreshold ? newBytes : mss * newBytes / congestionWindow;
    }

    private void onTimeout() {
        if (flight.isEmpty()) {
            return;
        }
        reduce((double) flight.outstandingBytes());
        congestionWindow = mss;
        recoveryPoint = next;
        recoversFromTimeout = true;
        flight.loseAll();
        send();
    }

    private void send() {
        write();
        congestionWindowFull = false;
        boolean windowFull = false;
        while (!congestionWindowFull && !windowFull && (flight.hasLost() || written > next)) {
            int bytes = flight.hasLost() ? flight.firstLostBytes() : (int) Math.min(mss, written - next);
            if (flight.pipeBytes() + bytes > congestionWindow) {
                congestionWindowFull = true;
            } else if (flight.hasLost()) {
                resend();
            } else if (next + bytes > rightEdge) {
                windowFull = true;
            } else {
                flight.sent(next, bytes, events.nowNs());
                boolean isLast = next + bytes == written && !applicationBlocked; // all that the application has
                out.accept(segment(next, bytes, isLast ? Packet.ACK | Packet.PSH : Packet.ACK, 1));
                next += bytes;
                reduction.countSent(bytes);
                timer.ensureRunning();
            }
        }
        if (truth.hasBegun()) {
            truth.change(events.nowNs(), waitFor(windowFull));
        }
        finishIfDone();
    }

    private void resend() {
        LossDetector.Lost lost = flight.resendFirstLost(events.nowNs());
        truth.countRetransmission(lost.bytes());
        reduction.countSent(lost.bytes());
        out.accept(segment(lost.sequence(), lost.bytes(), Packet.ACK, 1));
        timer.ensureRunning();
    }

    private Truth.Wait waitFor(boolean windowFull) {
        if (congestionWindowFull) {
            return Truth.Wait.CONGESTION_WINDOW;
        }
        if (windowFull) {
            return Truth.Wait.RECEIVER_WINDOW;
        }
        return applicationBlocked ? Truth.Wait.SEND_BUFFER : Truth.Wait.APPLICATION;
    }

    /** A blocked writer wakes up when a third of the buffer is free, and fills whole segments, as Linux does. */
    private void write() {
        long wanted = 1 + scenario.application.wantedBytes(events.nowNs() - startNs);
        long room = acknowledged + scenario.sendBufferBytes - written;
        if (!applicationBlocked || room >= scenario.sendBufferBytes / 3) {
            written = wanted <= written + room ? wanted : written + room - room % mss;
            applicationBlocked = written < wanted;
        }
    }

    private void finishIfDone() {
        if (!finSent && acknowledged - 1 == scenario.application.totalBytes()) {
            finSent = true;
            truth.end(events.nowNs());
            sendFin();
        }
    }

    private void sendFin() {
        if (!finAnswered) {
            out.accept(segment(next, 0, Packet.FIN | Packet.ACK, 1));
            events.after(FIN_TIMEOUT_NS, this::sendFin);
        }
    }

    private Segment segment(long sequence, int bytes, int flags, long ack) {
        long timestamp = events.nowNs() / NANOS_PER_MILLI;
        return new Segment(
                true,
                sequence,
                bytes,
                ack,
                PathScenario.SENDER_WINDOW_BYTES,
                flags,
                timestamp,
                lastTimestamp,
                List.of());
    }
}
