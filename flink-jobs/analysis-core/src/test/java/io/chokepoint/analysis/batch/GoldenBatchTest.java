// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.Flow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Golden bytes, which the C library of Avro made, read here and told in the words of the text beside them. */
class GoldenBatchTest {
    private static final Path GOLDEN = Path.of(System.getProperty("chokepoint.root"), "schemas/golden");

    private final SegmentBatchReader reader = new SegmentBatchReader();
    private final RunReader runReader = new RunReader();
    private final Run run = new Run();
    private final SummaryReader summaryReader = new SummaryReader();

    static Stream<String> cases() throws IOException {
        try (Stream<Path> files = Files.list(GOLDEN)) {
            return files
                    .map(path -> path.getFileName().toString())
                    .filter(name -> name.matches("segment_batch_.*\\.txt"))
                    .map(name -> name.replace(".txt", ""))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theReaderTellsWhatTheTextSays(String name) throws IOException {
        byte[] value = Files.readAllBytes(GOLDEN.resolve(name + ".avro"));
        List<String> text = Files.readAllLines(GOLDEN.resolve(name + ".txt")).stream()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .toList();

        assertThat(reader.read(value)).isEqualTo(DecodeStatus.OK);

        assertThat(told(value)).containsExactlyElementsOf(text);
    }

    @Test
    void thereAreGoldenBatches() throws IOException {
        assertThat(cases()).hasSizeGreaterThanOrEqualTo(5);
    }

    private List<String> told(byte[] value) {
        List<String> lines = new ArrayList<>();
        lines.add("batch probe=%s tap=%s session=%d worker=%d partition=%d partition_count=%d hash_seed=%d"
                        .formatted(
                                reader.probe(),
                                reader.tap(),
                                reader.session(),
                                reader.worker(),
                                reader.partition(),
                                reader.partitionCount(),
                                reader.hashSeed())
                + " sequence=%d packets_before=%d packets=%d timestamp_source=%s timestamp_resolution_ns=%d"
                        .formatted(
                                reader.sequence(),
                                reader.packetsBefore(),
                                reader.packets(),
                                reader.timestampSource(),
                                reader.timestampResolutionNs())
                + (reader.summaries() == 0
                        ? ""
                        : " summarised_packets_before=%d summarised_packets=%d"
                                .formatted(reader.summarisedPacketsBefore(), reader.summarisedPackets())));
        for (int i = 0; i < reader.counters(); i++) {
            lines.add("counter %s=%d".formatted(reader.counterName(i), reader.counterValue(i)));
        }
        for (int i = 0; i < reader.runs(); i++) {
            assertThat(runReader.read(value, reader.runOffset(i), reader.runLength(i), run))
                    .as("run %d", i)
                    .isEqualTo(DecodeStatus.OK);
            lines.add(toldRun());
            IntStream.range(0, run.packets()).mapToObj(this::toldPacket).forEach(lines::add);
        }
        for (int i = 0; i < reader.summaries(); i++) {
            assertThat(summaryReader.read(value, reader.summaryOffset(i), reader.summaryLength(i)))
                    .as("summary %d", i)
                    .isEqualTo(DecodeStatus.OK);
            Summary summary = summaryReader.summary();
            lines.add(told(summary));
            lines.add("sent_by_low " + told(summary.sentByLow()));
            lines.add("sent_by_high " + told(summary.sentByHigh()));
        }
        return lines;
    }

    private static String told(Summary summary) {
        FlowKey key = summary.key();
        return "summary domain=%d low_address=%s low_port=%d high_address=%s high_port=%d vlan_id=%s tunnel_id=%s"
                        .formatted(
                                key.domain(),
                                addressOf(key.lowAddressUpper(), key.lowAddressLower()),
                                key.lowPort(),
                                addressOf(key.highAddressUpper(), key.highAddressLower()),
                                key.highPort(),
                                orDash(summary.vlanId()),
                                orDash(summary.tunnelId()))
                + " flow_start_ns=%d duration_ns=%d quiet_ns=%d end_reason=%s client=%s client_sequence_number=%s syns=%d"
                        .formatted(
                                summary.flowStartNs(),
                                summary.durationNs(),
                                summary.quietNs(),
                                summary.endReason(),
                                orDash(summary.client()),
                                summary.client() < 0 ? "-" : Integer.toUnsignedString(summary.clientSequenceNumber()),
                                summary.syns())
                + " server_delay_ns=%s client_delay_ns=%s"
                        .formatted(orDash(summary.serverDelayNs()), orDash(summary.clientDelayNs()));
    }

    private static String told(Summary.Sent sent) {
        return "packets=%d data_packets=%d data_bytes=%d header_bytes=%d acknowledged_bytes=%d largest_data_bytes=%d"
                        .formatted(
                                sent.packets(),
                                sent.dataPackets(),
                                sent.dataBytes(),
                                sent.headerBytes(),
                                sent.acknowledgedBytes(),
                                sent.largestDataBytes())
                + " full_packets=%d maximum_segment_size=%d flags=%d"
                        .formatted(sent.fullPackets(), sent.maximumSegmentSize(), sent.flags());
    }

    private static String orDash(long value) {
        return value < 0 ? "-" : Long.toString(value);
    }

    private static String addressOf(long upper, long lower) {
        byte[] bytes = FlowKey.isIpv4(upper, lower)
                ? ByteBuffer.allocate(Integer.BYTES).putInt((int) lower).array()
                : ByteBuffer.allocate(2 * Long.BYTES)
                        .putLong(upper)
                        .putLong(lower)
                        .array();
        try {
            return addressOf(new InetSocketAddress(InetAddress.getByAddress(bytes), 0));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    private String toldRun() {
        Flow flow = RunPackets.flowOf(run);
        return "run domain=%d low_address=%s low_port=%d high_address=%s high_port=%d"
                        .formatted(
                                run.domain(),
                                addressOf(flow.low()),
                                run.lowPort(),
                                addressOf(flow.high()),
                                run.highPort())
                + " vlan_id=%s tunnel_id=%s flow_start_ns=%d packets_before=%d observed_until_ns=%d end_reason=%s"
                        .formatted(
                                flow.vlanId() == null ? "-" : flow.vlanId(),
                                flow.tunnelId() == null ? "-" : flow.tunnelId(),
                                run.flowStartNs(),
                                run.packetsBefore(),
                                run.observedUntilNs(),
                                run.endReason());
    }

    /** As RFC 5952 shortens the addresses of the golden files: the one run of zeros becomes "::". */
    private static String addressOf(InetSocketAddress endpoint) {
        return endpoint.getAddress().getHostAddress().replaceFirst("(^|:)0(:0)+(:|$)", "::");
    }

    private String toldPacket(int i) {
        String line = "packet time_ns=%d direction=%d sequence_number=%s acknowledgment_number=%s payload_bytes=%d"
                        .formatted(
                                run.timeNs()[i],
                                run.direction()[i],
                                Integer.toUnsignedString(run.sequenceNumber()[i]),
                                Integer.toUnsignedString(run.acknowledgmentNumber()[i]),
                                run.payloadBytes()[i])
                + " header_bytes=%d tcp_flags=%d window_field=%d"
                        .formatted(run.headerBytes()[i], run.tcpFlags()[i], run.windowField()[i])
                + (run.hasIpId() ? " ip_id=%d".formatted(run.ipId()[i]) : "")
                + " time_to_live=%d traffic_class=%d options_present=%d"
                        .formatted(run.timeToLive()[i], run.trafficClass()[i], run.optionsPresent()[i]);
        return line + toldOptions(i);
    }

    private String toldOptions(int i) {
        int present = run.optionsPresent()[i];
        StringBuilder line = new StringBuilder();
        if ((present & Run.OPTION_TIMESTAMPS) != 0) {
            line.append(" timestamp_value=").append(Integer.toUnsignedString(run.timestampValue()[i]));
            line.append(" timestamp_echo=").append(Integer.toUnsignedString(run.timestampEcho()[i]));
        }
        if ((present & Run.OPTION_MSS) != 0) {
            line.append(" maximum_segment_size=").append(run.maximumSegmentSize()[i]);
        }
        if ((present & Run.OPTION_WINDOW_SCALE) != 0) {
            line.append(" window_scale=").append(run.windowScale()[i]);
        }
        if ((present & Run.OPTION_SACK_BLOCKS) != 0) {
            line.append(" sack_blocks=");
            line.append(IntStream.range(run.sackOffset()[i], run.sackOffset()[i + 1])
                    .mapToObj(block -> Integer.toUnsignedString(run.sackLeft()[block]) + "-"
                            + Integer.toUnsignedString(run.sackRight()[block]))
                    .collect(Collectors.joining(",")));
        }
        return line.toString();
    }
}
