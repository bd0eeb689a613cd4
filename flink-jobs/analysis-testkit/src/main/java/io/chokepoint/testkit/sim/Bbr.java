// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): a model of the path, the highest delivery rate of ten
 * rounds and the lowest round trip of ten seconds, paces the sender and bounds what is in flight.
 */
final class Bbr implements CongestionControl {
    /** What it is about. */
    enum State {
        STARTUP,
        DRAIN,
        PROBE_BANDWIDTH,
        PROBE_ROUND_TRIP
    }

    private static final double HIGH_GAIN = 2.885;
    private static final double WINDOW_GAIN = 2;
    private static final double[] PACING_GAINS = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
    private static final int BANDWIDTH_ROUNDS = 10;
    private static final double STILL_GROWING = 1.25;
    private static final int ROUNDS_TILL_FULL = 3;
    private static final int MIN_WINDOW_SEGMENTS = 4;
    private static final int INITIAL_SEGMENTS = 10;
    private static final long MIN_ROUND_TRIP_LIFE_NS = 10_000_000_000L;
    private static final long PROBE_ROUND_TRIP_NS = 200_000_000;
    private static final double PACING_MARGIN = 0.99;
    private static final double NEARLY = 1.1;
    private static final double FIRST_ROUND_TRIP_NS = 1e6;

    private record Rate(long round, double bytesPerNano) {}

    private final int mss;
    private final Deque<Rate> rates = new ArrayDeque<>(); // falling
    private State state = State.STARTUP;
    private long round;
    private long roundEndBytes;
    private boolean roundStarted;
    private double fullBytesPerNano;
    private int fullRounds;
    private long minRoundTripNs = Long.MAX_VALUE;
    private long minRoundTripSeenNs;
    private int phase;
    private long phaseStartNs;
    private long probeDoneNs;
    private double pacing;

    Bbr(int mss) {
        this.mss = mss;
        pacing = HIGH_GAIN * INITIAL_SEGMENTS * mss / FIRST_ROUND_TRIP_NS;
    }

    State state() {
        return state;
    }

    double bandwidthBytesPerNano() {
        return rates.isEmpty() ? 0 : rates.getFirst().bytesPerNano();
    }

    @Override
    public void onDelivery(DeliverySample sample, long pipeBytes, long nowNs) {
        roundStarted = sample.deliveredAtSendBytes() >= roundEndBytes;
        if (roundStarted) {
            round++;
            roundEndBytes = sample.deliveredBytes();
        }
        updateBandwidth(sample);
        boolean isKnown = minRoundTripNs < Long.MAX_VALUE;
        boolean expired = isKnown && nowNs - minRoundTripSeenNs > MIN_ROUND_TRIP_LIFE_NS;
        if (sample.roundTripNs() > 0 && (sample.roundTripNs() <= minRoundTripNs || expired)) {
            minRoundTripNs = sample.roundTripNs();
            minRoundTripSeenNs = nowNs;
        }
        if (state == State.STARTUP) {
            checkFull(sample);
        }
        if (state == State.DRAIN && pipeBytes <= bandwidthDelayBytes()) {
            probeBandwidth(nowNs);
        }
        if (state == State.PROBE_BANDWIDTH) {
            advancePhase(pipeBytes, nowNs);
        }
        probeRoundTrip(expired, pipeBytes, nowNs);
        pace(sample);
    }

    private void updateBandwidth(DeliverySample sample) {
        boolean counts = !sample.applicationLimited() || sample.bytesPerNano() >= bandwidthBytesPerNano();
        if (sample.bytesPerNano() > 0 && counts) {
            while (!rates.isEmpty() && rates.getLast().bytesPerNano() <= sample.bytesPerNano()) {
                rates.removeLast();
            }
            rates.addLast(new Rate(round, sample.bytesPerNano()));
        }
        while (rates.size() > 1 && rates.getFirst().round() <= round - BANDWIDTH_ROUNDS) {
            rates.removeFirst();
        }
    }

    private void checkFull(DeliverySample sample) {
        if (!roundStarted || sample.applicationLimited()) {
            return;
        }
        if (bandwidthBytesPerNano() >= fullBytesPerNano * STILL_GROWING) {
            fullBytesPerNano = bandwidthBytesPerNano();
            fullRounds = 0;
        } else if (++fullRounds >= ROUNDS_TILL_FULL) {
            state = State.DRAIN;
        }
    }

    private void probeBandwidth(long nowNs) {
        state = State.PROBE_BANDWIDTH;
        phase = 2; // anywhere but in the phase that drains
        phaseStartNs = nowNs;
    }

    private void advancePhase(long pipeBytes, long nowNs) {
        boolean isOver = nowNs - phaseStartNs > minRoundTripNs;
        double gain = PACING_GAINS[phase];
        if (gain < 1) {
            isOver |= pipeBytes <= bandwidthDelayBytes();
        }
        if (isOver) {
            phase = (phase + 1) % PACING_GAINS.length;
            phaseStartNs = nowNs;
        }
    }

    private void probeRoundTrip(boolean expired, long pipeBytes, long nowNs) {
        if (expired && state != State.PROBE_ROUND_TRIP) {
            state = State.PROBE_ROUND_TRIP;
            probeDoneNs = 0;
        }
        if (state != State.PROBE_ROUND_TRIP) {
            return;
        }
        if (probeDoneNs == 0 && pipeBytes <= (long) MIN_WINDOW_SEGMENTS * mss) {
            probeDoneNs = nowNs + PROBE_ROUND_TRIP_NS;
        } else if (probeDoneNs > 0 && nowNs > probeDoneNs) {
            minRoundTripSeenNs = nowNs;
            if (fullRounds >= ROUNDS_TILL_FULL) {
                probeBandwidth(nowNs);
            } else {
                state = State.STARTUP;
            }
        }
    }

    private void pace(DeliverySample sample) {
        double gain = switch (state) {
            case STARTUP -> HIGH_GAIN;
            case DRAIN -> 1 / HIGH_GAIN;
            case PROBE_BANDWIDTH -> PACING_GAINS[phase];
            case PROBE_ROUND_TRIP -> 1;
        };
        double wanted = gain * bandwidthBytesPerNano() * PACING_MARGIN;
        if (rates.isEmpty()) {
            wanted = sample.roundTripNs() > 0 ? HIGH_GAIN * INITIAL_SEGMENTS * mss / sample.roundTripNs() : 0;
        }
        if (wanted > 0 && (state != State.STARTUP || wanted > pacing || minRoundTripNs == sample.roundTripNs())) {
            pacing = wanted;
        }
    }

    private double bandwidthDelayBytes() {
        return minRoundTripNs == Long.MAX_VALUE
                ? (double) INITIAL_SEGMENTS * mss
                : bandwidthBytesPerNano() * minRoundTripNs;
    }

    @Override
    public double reduced(double heldBytes) {
        return heldBytes;
    }

    @Override
    public boolean ignoresLoss() {
        return true;
    }

    @Override
    public boolean isHeldBy(double receiveWindowBytes) {
        return state != State.STARTUP && receiveWindowBytes <= NEARLY * bandwidthDelayBytes();
    }

    @Override
    public double pacingBytesPerNano() {
        return pacing;
    }

    /** Towards its target: twice what the model holds, and room for delayed and aggregated ACKs. */
    @Override
    public double grown(double windowBytes, double slowStartThreshold, long newBytes, long nowNs, double roundTripNs) {
        if (state == State.PROBE_ROUND_TRIP) {
            return Math.min(windowBytes, (double) MIN_WINDOW_SEGMENTS * mss);
        }
        double gain = state == State.PROBE_BANDWIDTH ? WINDOW_GAIN : HIGH_GAIN;
        double quantum = Math.min(Math.max(pacing * 1e6, 2.0 * mss), 64_000); // what leaves at once
        double target = gain * bandwidthDelayBytes() + 3 * quantum;
        double window = state == State.STARTUP ? windowBytes + newBytes : Math.min(windowBytes + newBytes, target);
        return Math.max(window, (double) MIN_WINDOW_SEGMENTS * mss);
    }
}
