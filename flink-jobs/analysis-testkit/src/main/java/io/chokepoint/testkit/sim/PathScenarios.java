// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.List;

/** Scenarios whose cause is beyond doubt, one or two for each. */
public final class PathScenarios {
    private PathScenarios() {}

    /**
     * A scenario and what limits its flows.
     *
     * @param rootCause value of the column of that name
     * @param senderWait what the senders wait for, by their own books
     */
    public record Labelled(PathScenario scenario, String rootCause, Truth.Wait senderWait) {
        @Override
        public String toString() {
            return scenario.name();
        }
    }

    /** The catalogue; made anew at each call, because scenarios can be changed. */
    public static List<Labelled> catalogue() {
        return List.of(
                new Labelled(
                        PathScenario.named("application writes 20 KB every 50 ms")
                                .application(Application.periodic(20_000, 50_000_000)),
                        "application",
                        Truth.Wait.APPLICATION),
                new Labelled(
                        PathScenario.named("application writes 500 B every 5 ms")
                                .application(Application.periodic(500, 5_000_000)),
                        "application",
                        Truth.Wait.APPLICATION),
                new Labelled(
                        PathScenario.named("send buffer of 64 KiB").sendBuffer(65_536),
                        "send_buffer",
                        Truth.Wait.SEND_BUFFER),
                new Labelled(
                        PathScenario.named("window without scaling").receiveBuffer(65_535, 0),
                        "receiver_window",
                        Truth.Wait.RECEIVER_WINDOW),
                new Labelled(
                        PathScenario.named("reader at 1 MB/s")
                                .receiveBuffer(256_000, 7)
                                .readingAt(1_000_000),
                        "receiver_window",
                        Truth.Wait.RECEIVER_WINDOW),
                new Labelled(
                        PathScenario.named("alone on 20 Mbit/s")
                                .bottleneck(20, 60)
                                .roundTrip(20_000),
                        "unshared_bottleneck",
                        Truth.Wait.CONGESTION_WINDOW),
                new Labelled(
                        PathScenario.named("six flows on 50 Mbit/s").flows(6).bottleneck(50, 100),
                        "shared_bottleneck",
                        Truth.Wait.CONGESTION_WINDOW),
                new Labelled(
                        PathScenario.named("half of the link taken by others")
                                .bottleneck(50, 100)
                                .crossTraffic(35),
                        "shared_bottleneck",
                        Truth.Wait.CONGESTION_WINDOW),
                new Labelled(
                        PathScenario.named("random loss on a fast link")
                                .bottleneck(500, 1000)
                                .roundTrip(40_000)
                                .loss(0.005),
                        "transport",
                        Truth.Wait.CONGESTION_WINDOW),
                new Labelled(
                        PathScenario.named("a short transfer").application(Application.transfer(150_000)),
                        "short_transfer",
                        Truth.Wait.CONGESTION_WINDOW));
    }
}
