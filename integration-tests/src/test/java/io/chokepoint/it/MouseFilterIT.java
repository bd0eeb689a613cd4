// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.CaptureFile;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.TcpOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows with and without {@code --mouse-packets}: flows that grow have the same, short ones lose only what takes packets. */
class MouseFilterIT {
    /** NULL in the rows of summaries, or of the handshake alone, or withheld with the verdict. */
    private static final Set<String> TAKES_PACKETS = Set.of(
            "root_cause",
            "sub_cause",
            "confidence",
            "evidence",
            "advice",
            "share_application",
            "share_send_buffer",
            "share_receiver_window",
            "share_unshared_bottleneck",
            "share_shared_bottleneck",
            "share_transport",
            "share_unknown",
            "receiver_window_score",
            "bottleneck_side",
            "rtt_min_seconds",
            "path_position",
            "receiver_window_mean_bytes",
            "receiver_window_max_bytes",
            "outstanding_mean_bytes",
            "outstanding_max_bytes",
            "rto_seconds",
            "buffer_delay_percent");

    private static final int MICE = 2_000;
    private static final long START_NANOS = 1_700_000_000_000_000_000L;

    @TempDir
    Path directory;

    @BeforeAll
    static void build() {
        chokepoint("build").run().succeeded();
    }

    @Test
    void flowsThatGrowHaveTheSameRows() throws IOException {
        List<Path> captures = new ArrayList<>(Samples.captures());
        captures.add(Scripts.captureOfAll(directory));
        List<Map<String, String>> all = Rows.of(analyze(0, captures));
        List<Map<String, String>> filtered = Rows.of(analyze(16, captures));

        assertThat(filtered).hasSameSizeAs(all);
        long same = 0;
        for (int i = 0; i < all.size(); i++) {
            if (!filtered.get(i).equals(all.get(i))) {
                assertThat(withoutWhatTakesPackets(filtered.get(i))).isEqualTo(withoutWhatTakesPackets(all.get(i)));
                assertThat(Double.parseDouble(all.get(i).get("data_packets"))).isLessThan(16);
            } else {
                same++;
            }
        }
        assertThat(same).isGreaterThan(all.size() / 2);
    }

    @Test
    void aSummaryTellsTheSameAsThePackets() throws IOException {
        Path capture = mice();
        List<String> out = analyze(50, List.of(capture));
        List<Map<String, String>> all = Rows.of(analyze(0, List.of(capture)));
        List<Map<String, String>> filtered = Rows.of(out);

        var probe = Rows.ledger(out).path("taps").get(0).path("probe");
        assertThat(Rows.ledger(out).path("balanced").asBoolean()).isTrue();
        assertThat(probe.path("flows_summarised").asInt()).isGreaterThan(MICE / 2);
        assertThat(probe.path("flows_not_summarised").asInt()).isGreaterThan(MICE / 50);
        assertThat(filtered).hasSameSizeAs(all);
        Map<String, Integer> differences = new HashMap<>();
        for (int i = 0; i < all.size(); i++) {
            assertThat(withoutWhatTakesPackets(filtered.get(i))).isEqualTo(withoutWhatTakesPackets(all.get(i)));
            if (filtered.get(i).get("share_unknown").equals("null")) {
                differences.merge(filtered.get(i).get("root_cause"), 1, Integer::sum);
            }
        }
        assertThat(differences).containsOnlyKeys("\"short_transfer\"");
    }

    private static Map<String, String> withoutWhatTakesPackets(Map<String, String> row) {
        Map<String, String> rest = new LinkedHashMap<>(row);
        rest.keySet().removeAll(TAKES_PACKETS);
        return rest;
    }

    private List<String> analyze(int mousePackets, List<Path> captures) throws IOException {
        Path probe = directory.resolve("probe-" + mousePackets);
        Files.writeString(
                probe,
                "#!/bin/sh\nexec '" + Command.ROOT.resolve("build/probe/chokepoint-probe") + "' --mouse-packets "
                        + mousePackets + " \"$@\"\n");
        Files.setPosixFilePermissions(probe, PosixFilePermissions.fromString("rwx------"));
        return Command.of("java", "-Dchokepoint.root=" + Command.ROOT, "-Dchokepoint.probe=" + probe)
                .with("-Dchokepoint.stdout.columns=0", "-Dchokepoint.stderr.terminal=false", "-jar")
                .with(Command.ROOT.resolve("flink-jobs/analysis-cli/target/analysis-cli.jar"))
                .with("analyze", "--format", "json")
                .with(captures.toArray())
                .run()
                .succeeded();
    }

    /** Short flows of all kinds: scans, requests with answers, one-sided, without a start, some with something amiss. */
    private Path mice() throws IOException {
        Random random = new Random(1);
        CaptureFile capture = new CaptureFile();
        for (int i = 0; i < MICE; i++) {
            new Mouse(random, i).play(capture);
        }
        return capture.write(directory.resolve("mice.pcap"));
    }

    private static final class Mouse {
        private final Random random;
        private final Flow flow;
        private final int rttNanos;
        private final boolean hasTimestamps;
        private final boolean countsIds;
        private final int seenFrom; // 0 both ends, 1 A, 2 B
        private final int[] next;
        private final int[] id = {1, 1};
        private final int[] clock = {1, 1};
        private final List<Packet> packets = new ArrayList<>();
        private long nowNanos;

        Mouse(Random random, int number) {
            this.random = random;
            this.flow = Flow.between(
                    new InetSocketAddress("10.0." + random.nextInt(4) + ".1", 1024 + number),
                    new InetSocketAddress("10.0." + random.nextInt(4) + ".2", 443));
            this.rttNanos = 100_000 + random.nextInt(100_000_000);
            this.hasTimestamps = random.nextBoolean();
            this.countsIds = random.nextBoolean();
            this.seenFrom = random.nextInt(10) == 0 ? 1 + random.nextInt(2) : 0;
            this.next = new int[] {random.nextInt(), random.nextInt()};
            this.nowNanos = START_NANOS + random.nextInt(1_000_000_000) * 20L;
        }

        void play(CaptureFile capture) {
            boolean isWhole = chance(8, 10);
            if (isWhole) {
                open();
            }
            if (!isWhole || !chance(1, 10)) {
                talk();
                close();
            }
            packets.removeIf(packet -> seenFrom != 0 && packet.fromA() != (seenFrom == 1));
            capture.add(flow, packets);
        }

        private void open() {
            TcpOptions options = TcpOptions.ofSyn(random.nextBoolean() ? 1460 : 536, 7, true);
            TcpOptions answer = random.nextBoolean()
                    ? TcpOptions.ofSyn(1400, 14, false)
                    : new TcpOptions(null, chance(1, 2) ? 1380 : null, null, false, List.of(), false);
            send(0, Packet.SYN, 0, options);
            if (chance(1, 10)) {
                next[0]--;
                nowNanos += 1_000_000_000;
                send(0, Packet.SYN, 0, options);
            }
            send(1, Packet.SYN | Packet.ACK, 0, answer);
            send(0, Packet.ACK, 0, TcpOptions.NONE);
        }

        private void talk() {
            for (int turn = random.nextInt(5); turn > 0; turn--) {
                int end = random.nextInt(2);
                for (int segment = 1 + random.nextInt(4); segment > 0; segment--) {
                    int bytes = chance(1, 2) ? 500 : 1 + random.nextInt(500);
                    int flags = Packet.ACK | (chance(1, 2) ? Packet.PSH : 0);
                    send(end, flags, bytes, TcpOptions.NONE);
                    if (chance(1, 50)) {
                        next[end] -= bytes;
                        send(end, flags, bytes, TcpOptions.NONE);
                    }
                }
                nowNanos += chance(1, 10) ? 3_000_000_000L : 0;
                send(1 - end, Packet.ACK, 0, TcpOptions.NONE);
            }
        }

        private void close() {
            if (chance(2, 3)) {
                send(0, Packet.FIN | Packet.ACK, 0, TcpOptions.NONE);
                send(1, Packet.FIN | Packet.ACK, 0, TcpOptions.NONE);
                send(0, Packet.ACK, 0, TcpOptions.NONE);
            } else if (chance(1, 2)) {
                send(1, Packet.RST | Packet.ACK, 0, TcpOptions.NONE);
            }
        }

        private boolean chance(int times, int of) {
            return random.nextInt(of) < times;
        }

        private void send(int end, int flags, int bytes, TcpOptions offered) {
            nowNanos += random.nextInt(rttNanos);
            clock[end]++;
            boolean isAck = (flags & Packet.ACK) != 0;
            TcpOptions options =
                    hasTimestamps ? offered.withTimestamps(clock[end], isAck ? clock[1 - end] : 0) : offered;
            Packet packet = new Packet(
                    nowNanos,
                    end == 0,
                    next[end],
                    isAck ? next[1 - end] : 0,
                    bytes,
                    Packet.headerBytes(flow, options),
                    flags,
                    (flags & Packet.RST) != 0 ? 0 : 1_000 + random.nextInt(60_000),
                    new Packet.Ip(countsIds ? id[end]++ : 0, 64, 0),
                    options);
            next[end] = packet.nextSequenceNumber();
            packets.add(packet);
        }
    }
}
