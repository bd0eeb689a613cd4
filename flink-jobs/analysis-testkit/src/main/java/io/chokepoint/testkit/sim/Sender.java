// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Packet;
import java.util.List;
import java.util.function.Consumer;

/**
 * The side that sends the data: a congestion control with SACK (RFC 6675), a retransmission timer (RFC 6298), a send
 * buffer.
 *
 * <p>Whenever it stops it knows why, and books that: see {@link Truth.Wait}.
 */
final class Sender {
    private static final long FIN_TIMEOUT_NS = 300_000_000;
    private static final long DELAYED_ACK_NS = 40_000_000;
    private static final int INITIAL_SEGMENTS = 10;
    private static final double PACED_AT_ONCE_NS = 1e6; // Linux: about a millisecond's worth

    private final EventQueue events;
    private final PathScenario scenario;
    private final Application application;
    private final CongestionControl control;
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
    private long answeredBytes;
    private boolean applicationBlocked;
    private boolean congestionWindowFull;
    private boolean receiverWindowFull;
    private double congestionWindow;
    private double windowBeforeLoss;
    private double slowStartThreshold = Double.MAX_VALUE;
    private long recoveryPoint = -1;
    private long lastReductionNs;
    private ProportionalRateReduction reduction = new ProportionalRateReduction(0, 0, 0);
    private boolean recoversFromTimeout;
    private boolean tellsReduction;
    private long superSegmentLeftBytes;
    private double pacedLeftBytes;
    private double pacedUntilNs; // since the start of the simulation, to be exact
    private boolean wakesByPace;
    private long lastTimestamp;
    private long peerNext = 1;
    private boolean owesAck;
    private boolean finSent;
    private boolean finAnswered;

    Sender(EventQueue events, PathScenario scenario, Application application, Truth truth, Consumer<Segment> out) {
        this.events = events;
        this.scenario = scenario;
        this.application = application;
        this.truth = truth;
        this.out = out;
        mss = scenario.mss;
        control = CongestionControl.of(scenario.congestionControl, mss);
        congestionWindow = INITIAL_SEGMENTS * mss;
        timer = new RetransmissionTimer(events, scenario.minTimeoutNs, this::onTimeout);
    }

    CongestionControl control() {
        return control;
    }

    double congestionWindowBytes() {
        return congestionWindow;
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
        if (application.answers()) {
            return;
        }
        long delayNs = application.untilNextWriteNs(events.nowNs() - startNs);
        if (delayNs < Long.MAX_VALUE) {
            events.after(delayNs, () -> {
                send();
                planNextWrite();
            });
        }
    }

    /** Takes the other side's data: a request. */
    void onRequest(Segment request) {
        peerNext = Math.max(peerNext, request.end());
        lastTimestamp = request.timestampValue();
        owesAck = true;
        events.after(application.thinkNs(), () -> {
            answeredBytes += application.bytes();
            send();
        });
        events.after(DELAYED_ACK_NS, () -> {
            if (owesAck) {
                out.accept(segment(next, 0, Packet.ACK, peerNext));
            }
        });
    }

    void onAck(Segment ack) {
        lastTimestamp = ack.timestampValue();
        rightEdge = Math.max(rightEdge, ack.ack() + ack.windowBytes());
        if ((ack.flags() & Packet.FIN) != 0) {
            finAnswered = true;
            out.accept(segment(next + 1, 0, Packet.ACK, peerNext + 1));
            return;
        }
        long newBytes = Math.max(0, ack.ack() - acknowledged);
        acknowledged += newBytes;
        long arrivedBytes = flight.onAck(acknowledged, ack.sackBlocks(), timer, events.nowNs());
        if (newBytes > 0) {
            timer.restart(!flight.isEmpty());
            truth.countAcknowledged(newBytes, timer.lowestRttNs());
        }
        DeliverySample sample = flight.lastSample();
        if (sample != null) {
            control.onDelivery(sample, flight.pipeBytes(), events.nowNs());
        }
        boolean isEcho = (ack.flags() & Packet.ECE) != 0;
        if (control.ignoresLoss()) {
            adjustByModel(arrivedBytes);
        } else {
            adjustCongestionWindow(newBytes, arrivedBytes, isEcho);
        }
        send();
    }

    private void adjustCongestionWindow(long newBytes, long arrivedBytes, boolean marked) {
        if (recoveryPoint >= 0 && acknowledged >= recoveryPoint) {
            congestionWindow = recoversFromTimeout ? congestionWindow : slowStartThreshold;
            recoveryPoint = -1;
            recoversFromTimeout = false;
        }
        boolean lostWhatRecovers = recoveryPoint >= 0 && flight.lostAgainSentNs() > lastReductionNs;
        if (flight.lossFound() && (recoveryPoint < 0 || lostWhatRecovers)) {
            reduce(lostWhatRecovers ? slowStartThreshold : (double) flight.outstandingBytes());
            recoveryPoint = next;
        } else if (marked && recoveryPoint < 0 && !flight.isEmpty()) {
            reduce((double) flight.outstandingBytes());
            recoveryPoint = next;
            tellsReduction = true;
        }
        if (recoveryPoint >= 0 && !recoversFromTimeout) {
            congestionWindow = flight.pipeBytes() + reduction.allowance(arrivedBytes, flight.pipeBytes());
        } else if (congestionWindowFull) {
            grow(newBytes);
        } else {
            control.idled(events.nowNs()); // held back by something else: the window would lose its meaning
        }
    }

    /** A sender with a model keeps to it but for one round of conservation after a loss. */
    private void adjustByModel(long arrivedBytes) {
        if (recoveryPoint >= 0 && acknowledged >= recoveryPoint) {
            congestionWindow = Math.max(congestionWindow, windowBeforeLoss);
            recoveryPoint = -1;
            recoversFromTimeout = false;
        }
        if (flight.lossFound() && recoveryPoint < 0) {
            windowBeforeLoss = congestionWindow;
            recoveryPoint = next;
            congestionWindow = flight.pipeBytes();
        }
        if (recoveryPoint >= 0 && !recoversFromTimeout) {
            congestionWindow = Math.max(congestionWindow, (double) flight.pipeBytes() + arrivedBytes);
        } else {
            grow(arrivedBytes);
        }
    }

    /** Gives way for what the path was thought to hold: once for each round of losses. */
    private void reduce(double heldBytes) {
        slowStartThreshold = control.reduced(heldBytes);
        lastReductionNs = events.nowNs();
        reduction = new ProportionalRateReduction(slowStartThreshold, flight.outstandingBytes(), mss);
    }

    private void grow(long newBytes) {
        congestionWindow =
                control.grown(congestionWindow, slowStartThreshold, newBytes, events.nowNs(), timer.smoothedRttNs());
    }

    private void onTimeout() {
        if (flight.isEmpty()) {
            return;
        }
        if (recoveryPoint < 0) {
            windowBeforeLoss = congestionWindow;
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
        receiverWindowFull = false;
        boolean waitsForPace = false;
        while (!congestionWindowFull && !receiverWindowFull && !waitsForPace && (flight.hasLost() || written > next)) {
            int bytes = flight.hasLost() ? flight.firstLostBytes() : (int) Math.min(mss, written - next);
            if (flight.pipeBytes() + bytes > congestionWindow) {
                congestionWindowFull = true;
            } else if (!flight.hasLost() && next + bytes > rightEdge) {
                receiverWindowFull = true;
            } else if (waitsForPace()) {
                waitsForPace = true;
            } else if (flight.hasLost()) {
                resend();
            } else if (!waitsForMoreRoom()) {
                sendNew(bytes);
            }
        }
        if (written == next && !congestionWindowFull && !waitsForPace) {
            flight.ranDry();
        }
        if (truth.hasBegun()) {
            truth.change(events.nowNs(), waitFor(waitsForPace));
        }
        finishIfDone();
    }

    /** Offloading hosts wait until a large segment, or a third of the window, can leave at once. */
    private boolean waitsForMoreRoom() {
        if (scenario.superSegmentBytes == 0 || superSegmentLeftBytes > 0 || flight.isEmpty()) {
            return false;
        }
        double congestionRoom = congestionWindow - flight.pipeBytes();
        double receiverRoom = rightEdge - next;
        double window = Math.min(congestionWindow, rightEdge - (double) acknowledged);
        double wanted = Math.min((double) Math.min(scenario.superSegmentBytes, written - next), window / 3);
        if (Math.min(congestionRoom, receiverRoom) >= wanted) {
            superSegmentLeftBytes =
                    (long) Math.min(scenario.superSegmentBytes, Math.max(mss, Math.min(congestionRoom, receiverRoom)));
            return false;
        }
        congestionWindowFull = congestionRoom <= receiverRoom;
        receiverWindowFull = !congestionWindowFull;
        return true;
    }

    private boolean waitsForPace() {
        double bytesPerNano = control.pacingBytesPerNano();
        if (Double.isInfinite(bytesPerNano) || pacedLeftBytes > 0) {
            return false;
        }
        if (simulatedNs() >= pacedUntilNs) {
            int most = scenario.superSegmentBytes > 0 ? scenario.superSegmentBytes : 2 * mss;
            pacedLeftBytes = Math.min(Math.max(bytesPerNano * PACED_AT_ONCE_NS, 2.0 * mss), most);
            return false;
        }
        if (!wakesByPace) {
            wakesByPace = true;
            events.after((long) Math.ceil(pacedUntilNs - simulatedNs()), () -> {
                wakesByPace = false;
                send();
            });
        }
        return true;
    }

    private double simulatedNs() {
        return events.nowNs() - scenario.startNs;
    }

    private void sendNew(int bytes) {
        flight.sent(next, bytes, events.nowNs());
        boolean isLast = next + bytes == written && !applicationBlocked; // all that the application has
        int flags = (isLast ? Packet.ACK | Packet.PSH : Packet.ACK) | (tellsReduction ? Packet.CWR : 0);
        tellsReduction = false;
        out.accept(segment(next, bytes, flags, peerNext));
        next += bytes;
        left(bytes);
    }

    private void left(int bytes) {
        double bytesPerNano = control.pacingBytesPerNano();
        superSegmentLeftBytes -= bytes;
        pacedLeftBytes -= bytes;
        pacedUntilNs = Math.max(pacedUntilNs, simulatedNs()) + bytes / bytesPerNano;
        reduction.countSent(bytes);
        truth.countSent();
        timer.ensureRunning();
    }

    private void resend() {
        LossDetector.Lost lost = flight.resendFirstLost(events.nowNs());
        truth.countRetransmission(lost.bytes());
        out.accept(segment(lost.sequence(), lost.bytes(), Packet.ACK, peerNext));
        superSegmentLeftBytes = 0;
        left(lost.bytes());
    }

    private Truth.Wait waitFor(boolean waitsForPace) {
        if (waitsForPace && control.isHeldBy((double) (rightEdge - acknowledged))) {
            return Truth.Wait.RECEIVER_WINDOW;
        }
        if (congestionWindowFull || waitsForPace) {
            return Truth.Wait.CONGESTION_WINDOW;
        }
        if (receiverWindowFull) {
            return Truth.Wait.RECEIVER_WINDOW;
        }
        return applicationBlocked ? Truth.Wait.SEND_BUFFER : Truth.Wait.APPLICATION;
    }

    /** A blocked writer wakes up when a third of the buffer is free, and fills whole segments, as Linux does. */
    private void write() {
        long wanted = 1 + (application.answers() ? answeredBytes : application.wantedBytes(events.nowNs() - startNs));
        long room = acknowledged + scenario.sendBufferBytes - written;
        if (!applicationBlocked || room >= scenario.sendBufferBytes / 3) {
            written = wanted <= written + room ? wanted : written + room - room % mss;
            applicationBlocked = written < wanted;
        }
    }

    private void finishIfDone() {
        if (!finSent && acknowledged - 1 == application.totalBytes()) {
            finSent = true;
            truth.end(events.nowNs());
            sendFin();
        }
    }

    private void sendFin() {
        if (!finAnswered) {
            out.accept(segment(next, 0, Packet.FIN | Packet.ACK, peerNext));
            events.after(FIN_TIMEOUT_NS, this::sendFin);
        }
    }

    private Segment segment(long sequence, int bytes, int flags, long ack) {
        owesAck = false;
        long timestamp = events.nowNs() / scenario.timestampTickNs;
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
