// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Probes of every released schema, and of one that is not written yet, before this job: the rows are those of its own probe. */
class NeighboursIT {
    private static final int PARTITIONS = 2;
    private static final int HEADER_BYTES = 10;
    private static final short MARKER = (short) 0xc301;

    @TempDir
    Path directory;

    @BeforeAll
    static void build() {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
    }

    /** By what their taps are called. */
    private static Map<String, Schema> schemas() throws IOException {
        Map<String, Schema> schemas = new TreeMap<>();
        try (Stream<Path> releases = Files.list(Command.ROOT.resolve("schemas/avro/released"))) {
            for (Path release : releases.toList()) {
                Schema schema = new Schema.Parser()
                        .parse(release.resolve("segment_batch.avsc").toFile());
                schemas.put(release.getFileName().toString(), schema);
            }
        }
        schemas.put("later", later());
        return schemas;
    }

    /** As whoever adds a field will do: with a default, and not at the end. */
    private static Schema later() {
        Schema today = BatchEncoder.SCHEMA;
        List<Schema.Field> fields = new ArrayList<>();
        fields.add(new Schema.Field("invented_later", Schema.create(Schema.Type.LONG), "Later.", 7L));
        today.getFields().forEach(field -> fields.add(new Schema.Field(field, field.schema())));
        return Schema.createRecord(today.getName(), today.getDoc(), today.getNamespace(), false, fields);
    }

    @Test
    void batchesOfOtherVersionsGiveTheSameRows() throws IOException {
        List<Path> captures = new ArrayList<>(Samples.captures());
        captures.add(Scripts.captureOfAll(directory));
        Command analyze = chokepoint("analyze", "--format", "json");

        try (Stack stack = Stack.start(1, PARTITIONS)) {
            long packets = 0;
            for (Map.Entry<String, Schema> version : schemas().entrySet()) {
                publish(stack, version.getValue());
                for (Path capture : captures) {
                    String tap = Samples.tap(capture) + "-" + version.getKey();
                    analyze.with("--tap", tap, capture);
                    packets += send(stack, tap, capture, version.getValue());
                }
            }

            List<Map<String, String>> expected = Rows.of(analyze.run().succeeded());
            Stack.await(expected.size() + " rows", () -> stack.parsedRows().size(), size -> size >= expected.size());
            assertThat(stack.parsedRows()).isEqualTo(expected);
            Map<String, Long> fates = Map.of("consumed", packets, "contributed", packets);
            Stack.await(
                    "the ledger " + fates,
                    () -> stack.counts("SELECT fate AS name, sum(packets) AS n FROM ledger GROUP BY fate"),
                    fates::equals);
        }
    }

    private void publish(Stack stack, Schema schema) throws IOException {
        Path file = Files.writeString(directory.resolve("schema"), schema.toString());
        stack.shell("kcat -P -b \"$CHOKEPOINT_KAFKA\" -t tcp-schemas -k \"$1\" \"$2\"")
                .with(SchemaNormalization.parsingFingerprint64(schema), file)
                .run()
                .succeeded();
    }

    /** What today's probe makes of a capture, each batch written in the other schema; the packets in it. */
    private long send(Stack stack, String tap, Path capture, Schema schema) throws IOException {
        Path stream = directory.resolve(tap + ".batches");
        Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--tap", tap, "--output", stream)
                .with("--partitions", PARTITIONS, "--ledger", directory.resolve("ledger"), capture)
                .run()
                .succeeded();
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(BatchEncoder.SCHEMA, schema);
        Map<Integer, List<Path>> files = new TreeMap<>();
        long packets = 0;
        int number = 0;
        ByteBuffer batches = ByteBuffer.wrap(Files.readAllBytes(stream)).order(ByteOrder.LITTLE_ENDIAN);
        while (batches.hasRemaining()) {
            byte[] batch = new byte[batches.getInt()];
            batches.get(batch);
            GenericRecord record = reader.read(
                    null, DecoderFactory.get().binaryDecoder(batch, HEADER_BYTES, batch.length - HEADER_BYTES, null));
            packets += (Integer) record.get("packets");
            Path file = Files.write(directory.resolve(tap + "-" + number++), singleObject(record, schema));
            files.computeIfAbsent((Integer) record.get("partition"), partition -> new ArrayList<>())
                    .add(file);
        }
        files.forEach((partition, values) -> stack.shell(
                        "p=$1; shift; kcat -P -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -p \"$p\" \"$@\"", partition)
                .with(values.toArray())
                .run()
                .succeeded());
        return packets;
    }

    private static byte[] singleObject(GenericRecord record, Schema schema) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(ByteBuffer.allocate(HEADER_BYTES)
                .putShort(MARKER)
                .putLong(Long.reverseBytes(SchemaNormalization.parsingFingerprint64(schema)))
                .array());
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(schema, GenericData.get()).write(record, encoder);
        encoder.flush();
        return out.toByteArray();
    }
}
