// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.List;
import java.util.stream.IntStream;

/** What a simulation came to once it was steady: what a case is held to, and what goes into its truth. */
final class Figures {
    private static final long STANDING_BYTES = 1600; // more than the one frame that is just being sent
    private static final long LONGEST_SETTLING_NS = 1_000_000_000L;

    private final PathScenario scenario;
    private final Simulation simulation;
    private final long steadyNs;
    private final List<LinkBooks.Bin> bins;

    Figures(PathScenario scenario, Simulation simulation) {
        this.scenario = scenario;
        this.simulation = simulation;
        steadyNs = scenario.startNs + Math.min(LONGEST_SETTLING_NS, scenario.durationNs / 4);
        long endNs = scenario.startNs + scenario.durationNs;
        bins = simulation.bottleneck().bins().stream()
                .filter(bin -> bin.startNs >= steadyNs && bin.startNs + scenario.binNs <= endNs)
                .toList();
    }

    double linkBusyShare() {
        return bins.stream().mapToLong(bin -> bin.busyNs).sum() / (double) (bins.size() * scenario.binNs);
    }

    double queueStandingShare() {
        return bins.stream().filter(bin -> bin.minBytes > STANDING_BYTES).count() / (double) bins.size();
    }

    double queueMeanBytes() {
        return bins.stream()
                .mapToDouble(bin -> (bin.minBytes + bin.maxBytes) / 2.0)
                .average()
                .orElse(0);
    }

    long queueMaxBytes() {
        return simulation.bottleneck().bins().stream()
                .mapToLong(bin -> bin.maxBytes)
                .max()
                .orElse(0);
    }

    /** Of the bytes that crossed the bottleneck. */
    double shareOfLink(int flow) {
        long all = bins.stream()
                .flatMap(bin -> bin.flows.values().stream())
                .mapToLong(counts -> counts.bytes)
                .sum();
        long own = bins.stream()
                .filter(bin -> bin.flows.containsKey(flow))
                .mapToLong(bin -> bin.of(flow).bytes)
                .sum();
        return all == 0 ? 0 : own / (double) all;
    }

    /** Counts over the whole life of the bottleneck. */
    LinkBooks.Counts total(int flow) {
        LinkBooks.Counts total = new LinkBooks.Counts();
        for (LinkBooks.Bin bin : simulation.bottleneck().bins()) {
            LinkBooks.Counts counts = bin.flows.get(flow);
            if (counts != null) {
                total.frames += counts.frames;
                total.bytes += counts.bytes;
                total.drops += counts.drops;
                total.marks += counts.marks;
            }
        }
        return total;
    }

    /** Share of the steady time that the senders of the seen flows waited for this, on average. */
    double waitShare(Truth.Wait wait) {
        return simulation.flows().stream()
                .mapToDouble(flow -> flow.truth().share(wait, steadyNs))
                .average()
                .orElse(0);
    }

    /** Of the seen flows. */
    double largestShareOfLink() {
        return IntStream.range(0, scenario.flows)
                .mapToDouble(this::shareOfLink)
                .max()
                .orElse(0);
    }
}
