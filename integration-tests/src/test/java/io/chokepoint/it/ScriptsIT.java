// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.cli.rows.JsonRows;
import io.chokepoint.cli.rows.Output;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each packet script as frames through the real probe: the runs that come out are those that Avro's own library makes of the
 * script, column by column, and {@code analyze} prints the rows that the analysis makes of the script.
 */
class ScriptsIT {
    private static final int SINGLE_OBJECT_HEADER_BYTES = 10;
    private static final long SESSION = 1;
    private static final long RESOLUTION_NANOS = 1;

    @TempDir
    Path directory;

    @BeforeAll
    static void build() {
        chokepoint("build").run().succeeded();
    }

    static List<String> scripts() {
        return Scripts.names();
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void theProbeSeesThePacketsOfTheScript(String name) throws IOException {
        PacketScript script = PacketScript.load(name);
        Path stream = directory.resolve("stream");
        Path ledger = directory.resolve("ledger");

        Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--output", stream, "--ledger", ledger)
                .with(Scripts.capture(name, directory))
                .run()
                .succeeded();

        assertThat(runs(stream))
                .isEqualTo(withEnds(script.runs(RunCutter.PROBE)).stream()
                        .map(BatchEncoder::runRecord)
                        .toList());
        JsonNode counters = Rows.parse(Files.readString(ledger)).path("counters");
        assertThat(counters.path("frames_received").asInt())
                .isEqualTo(script.packets().size());
        for (String expectation : script.expectations()) {
            if (expectation.startsWith("ledger ")) {
                String[] words = expectation.split(" ");
                assertThat(counters.path(words[1]).asText()).as(expectation).isEqualTo(words[2]);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void analyzePrintsTheRowsOfTheAnalysis(String name) throws IOException {
        List<String> out = chokepoint("analyze", "--format", "json", Scripts.capture(name, directory))
                .run()
                .succeeded();

        List<Map<String, String>> rows = Rows.of(rowsOfTheAnalysis(name));
        assertThat(rows).isNotEmpty();
        assertThat(Rows.of(out)).isEqualTo(rows);
        assertThat(Rows.ledger(out).path("balanced").asBoolean()).isTrue();
    }

    /** The probe tells the end in the last run, if that is still open. */
    private static List<RunSpec> withEnds(List<RunSpec> runs) {
        List<RunSpec> joined = new ArrayList<>();
        for (RunSpec run : runs) {
            RunSpec last = joined.isEmpty() ? run : joined.get(joined.size() - 1);
            if (run.packets().isEmpty()
                    && !run.endReason().equals("NONE")
                    && !last.packets().isEmpty()) {
                joined.remove(last);
                joined.add(new RunSpec(
                        last.flow(),
                        last.flowStartNs(),
                        last.packetsBefore(),
                        run.observedUntilNs(),
                        run.endReason(),
                        last.packets()));
            } else {
                joined.add(run);
            }
        }
        return joined;
    }

    private static List<GenericRecord> runs(Path stream) throws IOException {
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(BatchEncoder.SCHEMA);
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(stream)).order(ByteOrder.LITTLE_ENDIAN);
        List<GenericRecord> runs = new ArrayList<>();
        while (in.hasRemaining()) {
            byte[] value = new byte[in.getInt()];
            in.get(value);
            GenericRecord batch = reader.read(
                    null,
                    DecoderFactory.get()
                            .binaryDecoder(
                                    value,
                                    SINGLE_OBJECT_HEADER_BYTES,
                                    value.length - SINGLE_OBJECT_HEADER_BYTES,
                                    null));
            ((List<?>) batch.get("runs")).forEach(run -> runs.add((GenericRecord) run));
        }
        return runs;
    }

    private static List<String> rowsOfTheAnalysis(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BatchEncoder encoder = new BatchEncoder(BatchHeader.ofTap(name));
        FlowAnalysis analysis = new FlowAnalysis(AnalysisSettings.DEFAULT, name);
        RunReader reader = new RunReader();
        Run run = new Run();
        try (Output out = new Output(bytes)) {
            JsonRows rows = new JsonRows(out);
            for (RunSpec spec : PacketScript.load(name).runs(RunCutter.PROBE)) {
                byte[] encoded = encoder.run(spec);
                assertThat(reader.read(encoded, 0, encoded.length, run)).isEqualTo(DecodeStatus.OK);
                analysis.onRun(run, SESSION, RESOLUTION_NANOS, rows::row);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
