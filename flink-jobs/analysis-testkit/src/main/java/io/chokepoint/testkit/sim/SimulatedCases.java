// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The cases of {@link SimulatedDataset}: rates, round trips and queues that hosts on one machine can't show. */
final class SimulatedCases {
    private static final double FRAME_BITS = 1514 * 8;
    private static final double DATA_FRAMES = 22_000;
    private static final long LONGEST_MS = 10_000;
    private static final long SHORTEST_MS = 10;
    private static final long MILLI = 1_000_000;
    private static final long MICRO = 1_000;
    private static final int SUPER_SEGMENT = 65_536;
    private static final double DATA_CENTRE_MEGABITS = 1_000;

    private final List<SimulatedCase> cases = new ArrayList<>();

    private SimulatedCases() {}

    /** All cases, made anew at each call. */
    static List<SimulatedCase> all() {
        SimulatedCases catalogue = new SimulatedCases();
        catalogue.addCapacities();
        catalogue.addClocks();
        catalogue.addCongestionControls();
        catalogue.addCompetitors();
        catalogue.addIncasts();
        catalogue.addOffload();
        catalogue.addQueues();
        catalogue.addPolicers();
        catalogue.addTwoBottlenecks();
        catalogue.addWindows();
        catalogue.addApplications();
        catalogue.addTransport();
        return catalogue.cases;
    }

    /** A path of this rate and round trip, with a queue of one bandwidth-delay product, and CUBIC. */
    private static PathScenario path(String name, double megabits, long roundTripMicros) {
        double frames = megabits * roundTripMicros / FRAME_BITS;
        boolean isDataCentre = megabits >= DATA_CENTRE_MEGABITS;
        long milliseconds = Math.min(LONGEST_MS, Math.round(DATA_FRAMES * FRAME_BITS / megabits / 1_000));
        return PathScenario.named(name)
                .seed(name.hashCode())
                .lasting(Math.max(SHORTEST_MS, milliseconds))
                .bottleneck(megabits, Math.max(60, (int) Math.round(frames)))
                .access(Math.max(1_000, 4 * megabits))
                .roundTrip(roundTripMicros)
                .hostToTap(Math.min(50, roundTripMicros / 10))
                .hostNoise(megabits > 10_000 ? MICRO / 2 : isDataCentre ? MICRO : 5 * MICRO)
                .congestionControl(CongestionControl.Kind.CUBIC)
                .apart(isDataCentre ? 100 : 50_000)
                .books(isDataCentre ? MILLI : 20 * MILLI, isDataCentre ? MILLI : 10 * MILLI);
    }

    /** Packets that hold two bandwidth-delay products and some bursts, so that bursts don't leave the link idle. */
    private static int burstyQueue(double megabits, long roundTripMicros) {
        return 200 + (int) Math.round(2 * megabits * roundTripMicros / FRAME_BITS);
    }

    private static String rate(double megabits) {
        return megabits < 1_000
                ? String.format(Locale.ROOT, "%.0fm", megabits)
                : String.format(Locale.ROOT, megabits % 1_000 == 0 ? "%.0fg" : "%.1fg", megabits / 1_000)
                        .replace('.', '_');
    }

    private void add(SimulatedCase simulated) {
        cases.add(simulated);
    }

    /** One flow alone, and beside bursts that take 30 % of the link. */
    private void addCapacities() {
        for (double megabits : new double[] {5, 10, 30, 100, 300, 1_000, 2_500, 10_000, 25_000, 40_000}) {
            long roundTripMicros = megabits <= 100 ? 20_000 : megabits <= 300 ? 5_000 : megabits <= 2_500 ? 500 : 200;
            add(SimulatedCase.unshared(path("capacity-" + rate(megabits), megabits, roundTripMicros)));
            add(SimulatedCase.shared(path("capacity-" + rate(megabits) + "-cross", megabits, roundTripMicros)
                    .bottleneck(megabits, burstyQueue(megabits, roundTripMicros))
                    .crossTraffic(0.3 * megabits, 20)));
        }
    }

    private void addClocks() {
        for (double megabits : new double[] {1_000, 10_000, 40_000}) {
            for (TimestampQuality quality : TimestampQuality.values()) {
                boolean isTold = quality != TimestampQuality.EXACT
                        && (megabits == 10_000
                                || quality == TimestampQuality.POLLED
                                || quality == TimestampQuality.COALESCED_50_US);
                if (isTold) {
                    String name =
                            "clock-" + rate(megabits) + "-" + quality.text().replace('_', '-');
                    add(SimulatedCase.unshared(path(name, megabits, megabits > 1_000 ? 200 : 500))
                            .stamped(quality));
                }
            }
        }
        add(SimulatedCase.shared(path("clock-10g-polled-cross", 10_000, 200)
                        .bottleneck(10_000, burstyQueue(10_000, 200))
                        .crossTraffic(3_000, 20))
                .stamped(TimestampQuality.POLLED));
        for (double megabits : new double[] {10_000, 40_000}) {
            add(SimulatedCase.unshared(path("quiet-hosts-" + rate(megabits), megabits, megabits > 1_000 ? 200 : 500)
                    .hostNoise(0)));
        }
        add(SimulatedCase.unshared(path("tick-10g-1us", 10_000, 200).timestampTick(1)));
        add(SimulatedCase.unshared(path("long-10g", 10_000, 500).lasting(80)));
    }

    private void addCongestionControls() {
        for (double megabits : new double[] {1_000, 10_000}) {
            String rate = rate(megabits);
            long roundTripMicros = 300;
            add(SimulatedCase.unshared(bbr("bbr-" + rate, megabits, roundTripMicros))
                    .needs("link_busy_share", Figures::linkBusyShare, 0.93, 1));
            for (int percent : megabits > 1_000 ? new int[] {80} : new int[] {70, 90}) {
                add(SimulatedCase.application(bbr("bbr-" + rate + "-paced-" + percent, megabits, roundTripMicros)
                                .application(Application.paced(SUPER_SEGMENT, percent * megabits * 1e4)))
                        .waits(Truth.Wait.APPLICATION, 0.02)
                        .needs("link_busy_share", Figures::linkBusyShare, percent / 100.0 - 0.1, 0.97));
            }
            add(SimulatedCase.shared(
                    bbr("bbr-" + rate + "-cross-20", megabits, roundTripMicros).crossTraffic(0.2 * megabits)));
        }
        add(SimulatedCase.unshared(path("reno-10g", 10_000, 300).congestionControl(CongestionControl.Kind.RENO)));
        add(SimulatedCase.receiverWindow(bbr("bbr-10g-window", 10_000, 300).receiveBuffer(280_000, 9))
                .waits(Truth.Wait.RECEIVER_WINDOW, 0.7)
                .needs("link_busy_share", Figures::linkBusyShare, 0.5, 0.9));
        add(SimulatedCase.shared(bbr("bbr-1g-two", 1_000, 500).flows(2)));
    }

    private static PathScenario bbr(String name, double megabits, long roundTripMicros) {
        return path(name, megabits, roundTripMicros).congestionControl(CongestionControl.Kind.BBR);
    }

    /** Others on the link of whom the tap sees nothing. */
    private void addCompetitors() {
        for (double megabits : new double[] {1_000, 10_000}) {
            for (int percent : megabits > 1_000 ? new int[] {10} : new int[] {5, 10, 20}) {
                String name = "competitor-" + rate(megabits) + "-" + percent;
                SimulatedCase competed = SimulatedCase.shared(
                                path(name, megabits, 300).crossTraffic(percent * megabits / 100))
                        .orRight("bottleneck");
                add(percent > 5 ? competed : competed.orRight("unshared_bottleneck"));
            }
        }
        add(SimulatedCase.shared(path("competitor-10g-tcp", 10_000, 300).hiddenFlows(1, Application.BULK)));
        add(SimulatedCase.shared(path("four-10g", 10_000, 300).flows(4)));
        add(SimulatedCase.shared(path("two-40g", 40_000, 200).flows(2)));
    }

    /** Many hosts answer one client at once, through a shallow port. */
    private void addIncasts() {
        for (int senders : new int[] {8, 32, 64}) {
            add(SimulatedCase.shared(incast("incast-10g-" + senders, 10_000, senders)));
        }
        add(SimulatedCase.shared(incast("incast-25g-32", 25_000, 32)));
        add(SimulatedCase.shared(
                incast("incast-10g-32-dctimer", 10_000, 32).minTimeout(5).ecn().coDel(50, 500)));
        add(SimulatedCase.of(
                        "shared_bottleneck",
                        path("incast-10g-16-rounds", 10_000, 100)
                                .bottleneck(10_000, 100)
                                .lasting(30)
                                .access(10_000)
                                .flows(16)
                                .apart(0)
                                .ownHosts()
                                .serverSends()
                                .minTimeout(5)
                                .application(Application.answering(200_000, 20 * MICRO, 200 * MICRO)))
                .orRight("mixed", "bottleneck")
                .needs("link_busy_share", Figures::linkBusyShare, 0.6, 1));
    }

    private static PathScenario incast(String name, double megabits, int senders) {
        return path(name, megabits, 100)
                .bottleneck(megabits, 128)
                .access(megabits)
                .lasting(senders > 32 ? 25 : 15)
                .flows(senders)
                .apart(0)
                .ownHosts()
                .serverSends()
                .minTimeout(10)
                .application(Application.answering(64_000_000, 20 * MICRO, 200 * MICRO));
    }

    /** Hosts that hand over 64 KiB at once; with taps on the wire, and with taps on these hosts. */
    private void addOffload() {
        for (double megabits : new double[] {10_000, 25_000, 40_000}) {
            String rate = rate(megabits);
            if (megabits == 10_000) {
                add(SimulatedCase.unshared(
                        path("offload-" + rate, megabits, 200).offloadingHosts()));
            }
            add(SimulatedCase.unshared(
                    path("offload-tap-" + rate, megabits, 200).offloadAtTaps().lasting(megabits > 10_000 ? 60 : 100)));
        }
        add(SimulatedCase.shared(path("offload-tap-10g-four", 10_000, 200)
                .flows(4)
                .offloadAtTaps()
                .lasting(150)));
        add(SimulatedCase.application(path("offload-tap-10g-paced", 10_000, 200)
                .offloadAtTaps()
                .lasting(150)
                .application(Application.paced(SUPER_SEGMENT, 3e9))));
        add(SimulatedCase.receiverWindow(path("offload-tap-10g-window", 10_000, 200)
                .offloadAtTaps()
                .lasting(150)
                .receiveBuffer(131_072, 7)));
        add(SimulatedCase.unshared(path("jumbo-25g", 25_000, 200).segments(8948)));
        add(SimulatedCase.unshared(path("ipv6-10g", 10_000, 200).ipv6()));
    }

    private void addQueues() {
        add(SimulatedCase.unshared(path("codel-1g-ecn", 1_000, 500)
                .bottleneck(1_000, 1_000)
                .coDel(500, 5_000)
                .ecn()));
        add(SimulatedCase.shared(path("codel-10g-ecn-four", 10_000, 200)
                .bottleneck(10_000, 2_000)
                .coDel(400, 4_000)
                .ecn()
                .flows(4)));
        add(SimulatedCase.shared(path("fair-1g-two", 1_000, 500).flows(2).fairQueueing())
                .orRight("bottleneck"));
        add(SimulatedCase.shared(path("fair-10g-eight", 10_000, 200)
                        .bottleneck(10_000, 1_000)
                        .flows(8)
                        .fairQueueing())
                .orRight("bottleneck"));
        add(SimulatedCase.shared(path("fair-10g-hidden", 10_000, 200)
                        .bottleneck(10_000, 400)
                        .hiddenFlows(1, Application.BULK)
                        .fairQueueing())
                .orRight("bottleneck"));
    }

    /** All that a policer lets through is the flow's, but no queue shows it. */
    private void addPolicers() {
        for (CongestionControl.Kind kind :
                new CongestionControl.Kind[] {CongestionControl.Kind.CUBIC, CongestionControl.Kind.BBR}) {
            String suffix = "-" + kind.name().toLowerCase(Locale.ROOT);
            addPolicer(path("policer-1g-300m" + suffix, 1_000, 2_000)
                    .policer(300, 250_000)
                    .lasting(1_200)
                    .congestionControl(kind));
            addPolicer(path("policer-10g-2g" + suffix, 10_000, 300)
                    .policer(2_000, 500_000)
                    .lasting(150)
                    .congestionControl(kind));
        }
    }

    private void addPolicer(PathScenario scenario) {
        add(SimulatedCase.of("unshared_bottleneck", scenario)
                .orRight("bottleneck", "transport")
                .needs("dropped frames", figures -> figures.total(0).drops, 10, 1e6)
                .waits(Truth.Wait.CONGESTION_WINDOW, 0.9));
    }

    private void addTwoBottlenecks() {
        add(SimulatedCase.unshared(path("two-links-10g-then-8g", 8_000, 200).upstream(10_000, 165)));
        add(SimulatedCase.unshared(
                path("two-links-narrow-before-8g", 10_000, 200).upstream(8_000, 132)));
        add(SimulatedCase.unshared(
                path("two-links-narrow-behind-8g", 10_000, 200).downstream(8_000, 132)));
    }

    private void addWindows() {
        add(SimulatedCase.receiverWindow(path("window-1g-32k", 1_000, 500).receiveBuffer(32_768, 2)));
        add(SimulatedCase.receiverWindow(path("window-10g-64k", 10_000, 100).receiveBuffer(65_535, 0)));
        add(SimulatedCase.receiverWindow(path("window-10g-128k", 10_000, 200).receiveBuffer(131_072, 7)));
        add(SimulatedCase.receiverWindow(path("window-40g-512k", 40_000, 200).receiveBuffer(524_288, 7)));
        add(SimulatedCase.receiverWindow(path("reader-10g-2g", 10_000, 200)
                .lasting(100)
                .receiveBuffer(1 << 20, 7)
                .readingAt(250_000_000)));
        add(SimulatedCase.sendBuffer(path("send-buffer-1g-24k", 1_000, 500).sendBuffer(24_000)));
        add(SimulatedCase.sendBuffer(path("send-buffer-10g-96k", 10_000, 200).sendBuffer(98_304)));
        add(SimulatedCase.sendBuffer(path("send-buffer-40g-256k", 40_000, 200).sendBuffer(262_144)));
    }

    private void addApplications() {
        for (int percent : new int[] {30, 80}) {
            add(SimulatedCase.application(path("paced-10g-" + percent, 10_000, 200)
                            .lasting(Math.min(120, 2_400 / percent))
                            .application(Application.paced(SUPER_SEGMENT, percent * 1e8)))
                    .waits(Truth.Wait.APPLICATION, percent > 50 ? 0.1 : 0.4));
        }
        add(SimulatedCase.application(
                path("paced-1g-50", 1_000, 500).application(Application.paced(SUPER_SEGMENT, 5e8))));
        add(SimulatedCase.application(path("paced-25g-40", 25_000, 100)
                        .lasting(25)
                        .application(Application.paced(SUPER_SEGMENT, 10e9)))
                .waits(Truth.Wait.APPLICATION, 0.4));
        add(SimulatedCase.application(
                path("on-off-10g", 10_000, 200).lasting(150).application(Application.periodic(300_000, 2 * MILLI))));
        add(SimulatedCase.application(path("requests-10g", 10_000, 200)
                .lasting(150)
                .serverSends()
                .application(Application.answering(100_000, 300 * MICRO, 500 * MICRO))));
    }

    private void addTransport() {
        add(SimulatedCase.transport(path("loss-10g", 10_000, 500).lasting(100).loss(0.001)));
        add(SimulatedCase.transport(path("loss-1g", 1_000, 2_000).lasting(1_000).loss(0.002)));
        add(SimulatedCase.transport(
                        path("slow-start-40g", 40_000, 500).lasting(10).application(Application.transfer(2_000_000)))
                .needs("congestion_window", figures -> figures.waitShare(Truth.Wait.CONGESTION_WINDOW), 0, 1));
    }
}
