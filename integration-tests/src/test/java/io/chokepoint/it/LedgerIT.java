// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packets are dropped at every hop, by plan: the ledger says how many, where and why, and balances. */
class LedgerIT {
    private static final int SINGLE_OBJECT_HEADER_BYTES = 10;
    private static final Path SAMPLE = Command.ROOT.resolve("samples/porto-before.pcap");
    /** A run fills a batch. */
    private static final String SMALL_BATCHES = "512B";

    @TempDir
    private static Path directory;

    private static Stack stack;

    @BeforeAll
    static void start() throws IOException {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
        stack = Stack.start(2, 1);
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    @Test
    void framesThatTheProbeRefusesAreToldByTheirReason() throws IOException {
        Capture good = Capture.read(SAMPLE);
        long port = Short.toUnsignedLong(
                ByteBuffer.wrap(good.frames().get(0).bytes()).getShort(34));
        List<Capture.Frame> frames = new ArrayList<>(good.frames());
        Map<String, Long> planted = new TreeMap<>();
        for (Capture.Spoiler spoiler : Capture.Spoiler.values()) {
            long count = 1 + spoiler.ordinal();
            for (int i = 0; i < count; i++) {
                frames.add(10, spoiler.spoil(good.frames().get(10)));
            }
            planted.put(spoiler.counter, count);
        }
        Capture capture = new Capture(good.linkType(), frames);

        Map<String, Long> books = play(capture.write(directory.resolve("refused.pcap")));
        Map<String, Long> filtered = play(
                Files.copy(SAMPLE, directory.resolve("filtered.pcap")),
                "--filter",
                "not (tcp src port " + port + " and tcp[13] & 8 != 0)");

        JsonNode refused = balanced("refused");
        assertThat(counts(refused, "frames_not_encoded")).isEqualTo(planted);
        assertThat(refused.path("frames_on_wire").asLong())
                .isEqualTo(capture.frames().size());
        allCame(refused, books);
        assertThat(filtered.get("frames_filtered")).isPositive();
        JsonNode others = balanced("filtered");
        assertThat(counts(others, "frames_not_encoded"))
                .containsExactly(Map.entry("frames_filtered", filtered.get("frames_filtered")));
        allCame(others, filtered);
    }

    private static void allCame(JsonNode balance, Map<String, Long> books) {
        long encoded = books.get("packets_encoded");
        assertThat(balance.path("packets_encoded").asLong()).isEqualTo(encoded);
        assertThat(balance.path("packets_arrived").asLong()).isEqualTo(encoded);
        assertThat(counts(balance, "packets_analysed")).containsExactly(Map.entry("contributed", encoded));
    }

    /** The client of Kafka takes no batch above a size, as about half of them are: these are lost to the probe, which goes on. */
    @Test
    void whatKafkaDoesNotTakeIsMissing() throws IOException {
        Path capture = Files.copy(SAMPLE, directory.resolve("undelivered.pcap"));

        Map<String, Long> books = play(
                1,
                capture,
                "--batch-bytes",
                "12KiB",
                "--batch-delay",
                "10s",
                "--kafka-option",
                "message.max.bytes=14550");

        long undelivered = books.get("packets_undelivered_refused");
        assertThat(undelivered).isPositive().isLessThan(books.get("packets_encoded"));
        JsonNode balance = balanced("undelivered");
        assertThat(balance.path("packets_encoded").asLong()).isEqualTo(books.get("packets_encoded"));
        assertThat(balance.path("packets_missing").asLong()).isEqualTo(undelivered);
        assertThat(balance.path("packets_arrived").asLong()).isEqualTo(books.get("packets_delivered"));
    }

    /** A batch is left out, one comes twice, one is spoiled, one has a bad run; a second playing mends the gaps. */
    @Test
    void whatHappensInKafkaIsToldWithItsPlace() throws IOException {
        List<byte[]> batches = batches(Files.copy(SAMPLE, directory.resolve("kafka.pcap")));
        GenericRecord missing = record(batches.get(2));
        GenericRecord spoiled = record(batches.get(4));
        GenericRecord malformed = record(batches.get(6));
        List<byte[]> sent = new ArrayList<>(batches);
        sent.set(4, Arrays.copyOf(batches.get(4), batches.get(4).length - 1));
        sent.set(6, withoutAColumn(malformed));
        sent.add(4, batches.get(3));
        sent.remove(2);
        produce(sent);

        JsonNode balance = balanced("kafka");
        assertThat(balance.path("packets_missing").asLong()).isEqualTo(packets(missing) + packets(spoiled));
        assertThat(balance.path("packets_repeated").asLong()).isEqualTo(packets(record(batches.get(3))));
        assertThat(counts(balance, "packets_analysed")).containsEntry("malformed", packetsOfRun(malformed));
        assertThat(ranges("kafka", "missing_batch")).containsExactly(range(missing), range(spoiled));
        assertThat(ranges("kafka", "repeated_batch")).containsExactly(range(record(batches.get(3))));

        produce(batches);
        JsonNode mended = await(
                "kafka",
                row -> row.path("packets_missing").asLong() == 0
                        && row.path("balanced").asBoolean());
        assertThat(mended.path("packets_arrived").asLong())
                .isEqualTo(mended.path("packets_encoded").asLong());
        assertThat(ranges("kafka", "missing_batch")).isEmpty();
    }

    @Test
    void batchesThatTheJobRefusesAreNotMissing() throws IOException {
        Path capture = Files.copy(SAMPLE, directory.resolve("seed.pcap"));

        Map<String, Long> books = play(capture, "--hash-seed", "7");

        JsonNode balance = balanced("seed");
        assertThat(counts(balance, "packets_rejected"))
                .containsExactly(Map.entry("rejected_hash_seed", books.get("packets_delivered")));
        assertThat(balance.path("packets_missing").asLong()).isZero();
    }

    @Test
    void rowsThatTheirTableRefusesAreKept() throws IOException {
        stack.ask("ADMIN", "ALTER TABLE flows_stored ADD CONSTRAINT poisoned CHECK tap != 'poisoned'");
        Path capture = Files.copy(SAMPLE, directory.resolve("poisoned.pcap"));
        long flows = chokepoint("analyze", "--format", "json", capture).run().succeeded().stream()
                .filter(line -> line.contains("\"record\":\"flow\""))
                .count();
        assertThat(flows).isPositive();

        Map<String, Long> books = play(capture);

        Stack.await(
                flows + " rejected rows",
                () -> ask("SELECT count() AS n FROM rejected_rows FINAL WHERE table_name = 'flows_stored'")
                        .path("n")
                        .asLong(),
                rejected -> rejected == flows);
        allCame(balanced("poisoned"), books);
    }

    /** Plays a capture; its name without the ending is the tap. */
    private static Map<String, Long> play(Path capture, Object... options) throws IOException {
        return play(0, capture, options);
    }

    private static Map<String, Long> play(int exitCode, Path capture, Object... options) throws IOException {
        Path ledger = directory.resolve(Samples.tap(capture) + ".json");
        Command.Outcome outcome = probe(capture)
                .with("--kafka", stack.environment().get("CHOKEPOINT_KAFKA"), "--ledger", ledger)
                .with(options)
                .with(capture)
                .run();
        assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(exitCode);
        JsonNode books = Rows.parse(Files.readString(ledger));
        assertThat(books.path("balanced").asBoolean())
                .as("the probe's own books")
                .isTrue();
        return counts(books, "counters");
    }

    private static Command probe(Path capture) {
        return Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--tap", Samples.tap(capture));
    }

    /** The batches of a capture, small ones. */
    private static List<byte[]> batches(Path capture) throws IOException {
        Path stream = directory.resolve("stream");
        probe(capture)
                .with("--output", stream, "--partitions", 1, "--batch-bytes", SMALL_BATCHES, capture)
                .run()
                .succeeded();
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(stream)).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> batches = new ArrayList<>();
        while (in.hasRemaining()) {
            byte[] batch = new byte[in.getInt()];
            in.get(batch);
            batches.add(batch);
        }
        assertThat(batches).hasSizeGreaterThan(8);
        return batches;
    }

    /** Each a record of its own, in this order. */
    private static void produce(List<byte[]> values) throws IOException {
        Path folder = Files.createTempDirectory(directory, "records");
        Command kcat = stack.shell("kcat -P -b \"$CHOKEPOINT_KAFKA\" -t tcp-segments -p 0 \"$@\"");
        for (int i = 0; i < values.size(); i++) {
            kcat.with(Files.write(folder.resolve("record" + i), values.get(i)));
        }
        kcat.run().succeeded();
    }

    private static GenericRecord record(byte[] value) throws IOException {
        int bytes = value.length - SINGLE_OBJECT_HEADER_BYTES;
        return new GenericDatumReader<GenericRecord>(BatchEncoder.SCHEMA)
                .read(null, DecoderFactory.get().binaryDecoder(value, SINGLE_OBJECT_HEADER_BYTES, bytes, null));
    }

    /** The first run with packets lacks its first column: it cannot be read, the others can. */
    private static byte[] withoutAColumn(GenericRecord batch) {
        ((List<?>) runWithPackets(batch).get("columns")).remove(0);
        return new BatchEncoder(BatchHeader.ofTap("any")).singleObject(batch);
    }

    private static GenericRecord runWithPackets(GenericRecord batch) {
        return ((List<?>) batch.get("runs"))
                .stream()
                        .map(GenericRecord.class::cast)
                        .filter(run -> (Integer) run.get("packets") > 0)
                        .findFirst()
                        .orElseThrow();
    }

    private static long packetsOfRun(GenericRecord batch) {
        return (Integer) runWithPackets(batch).get("packets");
    }

    private static long packets(GenericRecord batch) {
        return (Integer) batch.get("packets");
    }

    /** As {@link #ranges} says it. */
    private static String range(GenericRecord batch) {
        long sequence = (Long) batch.get("sequence");
        long before = (Long) batch.get("packets_before");
        return "%d..%d %d..%d %d".formatted(sequence, sequence + 1, before, before + packets(batch), packets(batch));
    }

    private static List<String> ranges(String tap, String fate) throws IOException {
        return stack
                .ask("SELECT format('{}..{} {}..{} {}', toString(from_sequence), toString(to_sequence),"
                        + " toString(from_packet), toString(to_packet), toString(packets)) AS place FROM ledger_ranges"
                        + " WHERE tap = '" + tap + "' AND fate = '" + fate + "' ORDER BY from_sequence, minute")
                .stream()
                .map(line -> Rows.parse(line).path("place").asText())
                .toList();
    }

    private static JsonNode balanced(String tap) {
        return await(tap, row -> row.path("balanced").asBoolean());
    }

    private interface Condition {
        boolean holds(JsonNode row);
    }

    /** The balance of a tap once it is so, and the sums of its ranges are those of its totals. */
    private static JsonNode await(String tap, Condition condition) {
        JsonNode balance = Stack.await(
                "the balance of " + tap,
                () -> ask("SELECT * FROM ledger_balance WHERE tap = '" + tap + "'"),
                row -> !row.isMissingNode() && condition.holds(row));
        JsonNode difference = ask("SELECT countIf(totals != ranges) AS n FROM"
                + " (SELECT fate, sum(packets) AS totals FROM ledger WHERE tap = '" + tap + "' GROUP BY fate) AS a"
                + " FULL JOIN (SELECT fate, sum(packets) AS ranges FROM ledger_ranges WHERE tap = '" + tap
                + "' GROUP BY fate) AS b USING fate");
        assertThat(difference.path("n").asLong())
                .as("fates whose ranges do not sum to the total")
                .isZero();
        return balance;
    }

    private static JsonNode ask(String query) {
        try {
            List<String> lines = stack.ask(query);
            return lines.isEmpty() ? MissingNode.getInstance() : Rows.parse(lines.get(0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, Long> counts(JsonNode row, String column) {
        Map<String, Long> counts = new HashMap<>();
        row.path(column)
                .properties()
                .forEach(count -> counts.put(count.getKey(), count.getValue().asLong()));
        return counts;
    }
}
