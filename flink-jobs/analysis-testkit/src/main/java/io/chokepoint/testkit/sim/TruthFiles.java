// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.io.BufferedWriter;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes down what a simulation knows, in the form of the testbed's runs: truth.json and tables beside it. */
final class TruthFiles {
    private static final double MEGA = 1e6;
    private static final double KILO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int BITS_PER_BYTE = 8;

    private final SimulatedCase simulatedCase;
    private final PathScenario scenario;
    private final Simulation simulation;
    private final Figures figures;

    TruthFiles(SimulatedCase simulatedCase, Simulation simulation, Figures figures) {
        this.simulatedCase = simulatedCase;
        this.scenario = simulatedCase.scenario();
        this.simulation = simulation;
        this.figures = figures;
    }

    void write(Path folder, Map<String, String> captures) throws IOException {
        writeWaits(folder.resolve("waits.csv"));
        writeQueue(folder.resolve("queue.csv"));
        writeLink(folder.resolve("link.csv"));
        Files.writeString(folder.resolve("truth.json"), JsonText.of(truth(captures)) + "\n");
    }

    private String name(int flow) {
        if (flow == Frame.CROSS_TRAFFIC) {
            return "cross";
        }
        return flow < scenario.flows ? "f" + (flow + 1) : "h" + (flow + 1 - scenario.flows);
    }

    private List<SimulatedFlow> allFlows() {
        List<SimulatedFlow> all = new ArrayList<>(simulation.flows());
        all.addAll(simulation.hiddenFlows());
        return all;
    }

    private void writeWaits(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("unix_ns_start,unix_ns_end,flow,application_ns,send_buffer_ns,receiver_window_ns,network_ns\n");
            List<SimulatedFlow> flows = allFlows();
            for (int i = 0; i < flows.size(); i++) {
                Truth truth = flows.get(i).truth();
                for (Truth.Slot slot : truth.slots()) {
                    out.write(String.format(
                            Locale.ROOT, "%d,%d,%s", slot.startNs(), slot.startNs() + truth.slotNs(), name(i)));
                    for (Truth.Wait wait : Truth.Wait.values()) {
                        out.write("," + slot.waitNs().getOrDefault(wait, 0L));
                    }
                    out.write('\n');
                }
            }
        }
    }

    private void writeQueue(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("unix_ns,min_queue_bytes,max_queue_bytes,busy_ns,drops\n");
            for (LinkBooks.Bin bin : simulation.bottleneck().bins()) {
                out.write(String.format(
                        Locale.ROOT,
                        "%d,%d,%d,%d,%d\n",
                        bin.startNs,
                        bin.minBytes,
                        bin.maxBytes,
                        bin.busyNs,
                        bin.drops()));
            }
        }
    }

    private void writeLink(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("unix_ns,flow,frames,bytes,drops\n");
            for (LinkBooks.Bin bin : simulation.bottleneck().bins()) {
                for (Map.Entry<Integer, LinkBooks.Counts> entry : bin.flows.entrySet()) {
                    LinkBooks.Counts counts = entry.getValue();
                    out.write(String.format(
                            Locale.ROOT,
                            "%d,%s,%d,%d,%d\n",
                            bin.startNs,
                            name(entry.getKey()),
                            counts.frames,
                            counts.bytes,
                            counts.drops));
                }
            }
        }
    }

    private Map<String, @Nullable Object> truth(Map<String, String> captures) {
        Map<String, @Nullable Object> expected = new LinkedHashMap<>();
        expected.put("direction", scenario.serverSends ? "server_to_client" : "client_to_server");
        expected.put("root_cause", simulatedCase.rootCause());
        expected.put("acceptable", simulatedCase.acceptable());
        Map<String, @Nullable Object> files = new LinkedHashMap<>(captures);
        files.put("queue", "queue.csv");
        files.put("waits", "waits.csv");
        files.put("link", "link.csv");
        double halfMs = scenario.roundTripNs / NANOS_PER_MILLI / 2;
        double hostMs = scenario.hostToTapNs / NANOS_PER_MILLI;
        Map<String, @Nullable Object> truth = new LinkedHashMap<>();
        truth.put("scenario", simulatedCase.name());
        truth.put("simulated", true);
        truth.put("expected", expected);
        truth.put("valid", true);
        truth.put("complaints", List.of());
        truth.put("interval_ms", simulatedCase.intervalMs());
        truth.put("parameters", parameters());
        truth.put("delay_ms", List.of(hostMs, Math.max(0, halfMs - 2 * hostMs), hostMs));
        truth.put("files", files);
        truth.put("truth", figuresOfPath());
        return truth;
    }

    private Map<String, @Nullable Object> parameters() {
        Application application = scenario.application;
        boolean isPaced = application.periodNs() != Long.MAX_VALUE;
        Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
        parameters.put("seed", scenario.seed);
        parameters.put("rate_mbit", scenario.narrowestStage().bitsPerSecond() / MEGA);
        parameters.put("rtt_ms", scenario.roundTripNs / NANOS_PER_MILLI);
        parameters.put("queue_kb", scenario.narrowestStage().queueBytes() / KILO);
        parameters.put("access_mbit", scenario.accessBitsPerSecond / MEGA);
        parameters.put("cc", scenario.congestionControl.name().toLowerCase(Locale.ROOT));
        parameters.put("flows", scenario.flows);
        parameters.put("hidden_flows", scenario.hiddenFlows);
        parameters.put("duration", scenario.durationNs / NANOS_PER_SECOND);
        parameters.put("ip_version", scenario.ipv6 ? 6 : 4);
        parameters.put("timestamps", true);
        parameters.put("timestamp_tick_us", scenario.timestampTickNs / KILO);
        parameters.put("download", scenario.serverSends);
        parameters.put("mss", scenario.mss);
        parameters.put("window_kb", scenario.receiveBufferBytes / KILO);
        parameters.put("send_buffer_kb", scenario.sendBufferBytes == 1L << 40 ? null : scenario.sendBufferBytes / KILO);
        parameters.put(
                "app_mbit", isPaced ? application.bytes() * BITS_PER_BYTE * KILO / application.periodNs() : null);
        parameters.put("burst_kb", isPaced || application.answers() ? application.bytes() / KILO : null);
        parameters.put("loss", scenario.lossProbability == 0 ? null : scenario.lossProbability);
        parameters.put("cross_mbit", scenario.crossTrafficBitsPerSecond / MEGA);
        parameters.put("cross_burst_packets", scenario.crossTrafficBurst);
        parameters.put("queueing", scenario.queueing.name().toLowerCase(Locale.ROOT));
        parameters.put("ecn", scenario.ecn);
        parameters.put("policer_mbit", megabits(scenario.policer));
        parameters.put("narrowest", scenario.narrowest().name().toLowerCase(Locale.ROOT));
        parameters.put("between_taps_mbit", scenario.bottleneckBitsPerSecond / MEGA);
        parameters.put("upstream_mbit", megabits(scenario.upstream));
        parameters.put("downstream_mbit", megabits(scenario.downstream));
        parameters.put("host_noise_us", scenario.hostNoiseNs / KILO);
        parameters.put("offload", scenario.superSegmentBytes > 0);
        parameters.put("offload_at_taps", scenario.offloadAtTaps);
        parameters.put("clock", simulatedCase.quality().text());
        return parameters;
    }

    private static @Nullable Double megabits(PathScenario.@Nullable Stage stage) {
        return stage == null ? null : stage.bitsPerSecond() / MEGA;
    }

    private Map<String, @Nullable Object> figuresOfPath() {
        List<SimulatedFlow> flows = allFlows();
        long randomLosses =
                flows.stream().mapToLong(flow -> flow.truth().randomLosses()).sum();
        long delivered = 0;
        long queueDrops = 0;
        List<Map<String, @Nullable Object>> perFlow = new ArrayList<>();
        for (int i = 0; i < flows.size(); i++) {
            LinkBooks.Counts counts = figures.total(i);
            delivered += counts.frames;
            queueDrops += counts.drops;
            perFlow.add(flow(i, flows.get(i), counts));
        }
        Map<String, @Nullable Object> truth = new LinkedHashMap<>();
        truth.put("link_busy_share", figures.linkBusyShare());
        truth.put("queue_standing_share", figures.queueStandingShare());
        truth.put("queue_mean_bytes", figures.queueMeanBytes());
        truth.put("queue_max_bytes", figures.queueMaxBytes());
        truth.put("delivered_frames", delivered - randomLosses);
        truth.put("queue_drops", queueDrops);
        truth.put("random_losses", randomLosses);
        truth.put("reordered_frames", 0);
        truth.put("cross_share_of_link", figures.shareOfLink(Frame.CROSS_TRAFFIC));
        truth.put("stalled_seconds", 0.0);
        truth.put("num_stalls", 0);
        truth.put("max_lateness_seconds", 0.0);
        truth.put("interface_drops", 0);
        truth.put("flows", perFlow);
        return truth;
    }

    private Map<String, @Nullable Object> flow(int index, SimulatedFlow simulated, LinkBooks.Counts counts) {
        Truth books = simulated.truth();
        InetSocketAddress client = simulated.flow().a();
        InetSocketAddress server = simulated.flow().b();
        double seconds = books.lifeNs() / NANOS_PER_SECOND;
        long sentBytes = books.acknowledgedBytes() + books.retransmittedBytes();
        Map<String, @Nullable Object> flow = new LinkedHashMap<>();
        flow.put("name", name(index));
        flow.put("client_ip", client.getAddress().getHostAddress());
        flow.put("client_port", client.getPort());
        flow.put("server_ip", server.getAddress().getHostAddress());
        flow.put("server_port", server.getPort());
        flow.put("congestion_control", scenario.congestionControl.name().toLowerCase(Locale.ROOT));
        flow.put("hidden", index >= scenario.flows);
        flow.put("seconds", seconds);
        flow.put("goodput_bits_per_second", seconds == 0 ? 0 : books.acknowledgedBytes() * BITS_PER_BYTE / seconds);
        flow.put("data_segments", books.sentSegments());
        flow.put("share_of_link", figures.shareOfLink(index));
        flow.put("application_share", books.share(Truth.Wait.APPLICATION));
        flow.put("rwnd_limited_share", books.share(Truth.Wait.RECEIVER_WINDOW));
        flow.put("sndbuf_limited_share", books.share(Truth.Wait.SEND_BUFFER));
        flow.put("network_share", books.share(Truth.Wait.CONGESTION_WINDOW));
        flow.put(
                "retransmitted_share_of_bytes", sentBytes == 0 ? 0.0 : books.retransmittedBytes() / (double) sentBytes);
        flow.put("retransmitted_segments", (books.retransmittedBytes() + scenario.mss - 1) / scenario.mss);
        flow.put("min_rtt_seconds", books.lowestRoundTripNs() / NANOS_PER_SECOND);
        flow.put("ecn_marked_frames", counts.marks);
        Map<String, @Nullable Object> path = new LinkedHashMap<>();
        path.put("delivered_frames", counts.frames - books.randomLosses());
        path.put("delivered_bytes", counts.bytes);
        path.put("queue_drops_frames", counts.drops);
        path.put("random_losses_frames", books.randomLosses());
        flow.put("path", path);
        return flow;
    }
}
