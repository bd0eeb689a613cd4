// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** A scenario with its label, how it is captured, and what must have come true for the label to be right. */
final class SimulatedCase {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long[] INTERVALS_MS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000};
    private static final int INTERVALS_IN_A_CAPTURE = 5;

    private record Bound(String figure, ToDoubleFunction<Figures> of, double least, double most) {}

    private final PathScenario scenario;
    private final String rootCause;
    private final List<String> alsoRight = new ArrayList<>();
    private final List<Bound> bounds = new ArrayList<>();
    private TimestampQuality quality = TimestampQuality.EXACT;

    private SimulatedCase(PathScenario scenario, String rootCause) {
        this.scenario = scenario;
        this.rootCause = rootCause;
    }

    /** The flow has the link to itself and fills it. */
    static SimulatedCase unshared(PathScenario scenario) {
        return new SimulatedCase(scenario, "unshared_bottleneck")
                .needs("link_busy_share", Figures::linkBusyShare, 0.95, 1)
                .needs("share of the link", figures -> figures.shareOfLink(0), 0.95, 1)
                .needs("receiver_window", figures -> figures.waitShare(Truth.Wait.RECEIVER_WINDOW), 0, 0.03)
                .needs("application", figures -> figures.waitShare(Truth.Wait.APPLICATION), 0, 0.03);
    }

    /** The link is full, and none of the seen flows has it all. */
    static SimulatedCase shared(PathScenario scenario) {
        return new SimulatedCase(scenario, "shared_bottleneck")
                .needs("link_busy_share", Figures::linkBusyShare, 0.9, 1)
                .needs("largest share of the link", Figures::largestShareOfLink, 0.002, 0.97)
                .needs("receiver_window", figures -> figures.waitShare(Truth.Wait.RECEIVER_WINDOW), 0, 0.05)
                .needs("application", figures -> figures.waitShare(Truth.Wait.APPLICATION), 0, 0.1);
    }

    /** The network is not the limit: the application is, by the senders' own books. */
    static SimulatedCase application(PathScenario scenario) {
        return new SimulatedCase(scenario, "application").waits(Truth.Wait.APPLICATION, 0.5);
    }

    static SimulatedCase receiverWindow(PathScenario scenario) {
        return new SimulatedCase(scenario, "receiver_window").waits(Truth.Wait.RECEIVER_WINDOW, 0.7);
    }

    static SimulatedCase sendBuffer(PathScenario scenario) {
        return new SimulatedCase(scenario, "send_buffer").waits(Truth.Wait.SEND_BUFFER, 0.6);
    }

    /** Congestion control has not filled the path. */
    static SimulatedCase transport(PathScenario scenario) {
        return new SimulatedCase(scenario, "transport")
                .waits(Truth.Wait.CONGESTION_WINDOW, 0.7)
                .needs("link_busy_share", Figures::linkBusyShare, 0, 0.85);
    }

    /** A label of its own; what it needs is left to the caller. */
    static SimulatedCase of(String rootCause, PathScenario scenario) {
        return new SimulatedCase(scenario, rootCause);
    }

    SimulatedCase waits(Truth.Wait wait, double least) {
        return needs(wait.name().toLowerCase(Locale.ROOT), figures -> figures.waitShare(wait), least, 1);
    }

    SimulatedCase needs(String figure, ToDoubleFunction<Figures> of, double least, double most) {
        bounds.removeIf(bound -> bound.figure().equals(figure));
        bounds.add(new Bound(figure, of, least, most));
        return this;
    }

    /** A verdict that says no more than can be seen is no mistake. */
    SimulatedCase orRight(String... rootCauses) {
        alsoRight.addAll(List.of(rootCauses));
        return this;
    }

    SimulatedCase stamped(TimestampQuality newQuality) {
        quality = newQuality;
        return this;
    }

    String name() {
        return scenario.name();
    }

    PathScenario scenario() {
        return scenario;
    }

    String rootCause() {
        return rootCause;
    }

    /** The label first. */
    List<String> acceptable() {
        List<String> all = new ArrayList<>(List.of(rootCause));
        all.addAll(alsoRight);
        return all;
    }

    TimestampQuality quality() {
        return quality;
    }

    /** An interval of which the capture holds several. */
    long intervalMs() {
        long most = scenario.durationNs / NANOS_PER_MILLI / INTERVALS_IN_A_CAPTURE;
        long interval = INTERVALS_MS[0];
        for (long candidate : INTERVALS_MS) {
            interval = candidate <= most ? candidate : interval;
        }
        return interval;
    }

    /** What did not come true; empty if the case is what it claims to be. */
    List<String> complaints(Figures figures) {
        List<String> complaints = new ArrayList<>();
        for (Bound bound : bounds) {
            double value = bound.of().applyAsDouble(figures);
            if (!(value >= bound.least() && value <= bound.most())) {
                complaints.add(String.format(
                        Locale.ROOT,
                        "%s is %.4f: expected %.4f to %.4f",
                        bound.figure(),
                        value,
                        bound.least(),
                        bound.most()));
            }
        }
        return complaints;
    }
}
