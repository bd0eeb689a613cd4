// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import io.chokepoint.testkit.TcpOptions;
import io.chokepoint.testkit.sim.Application;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/** What rows must not depend on, and what holds for every row, over flows of many kinds. */
class FlowProperties {
    private static final int TRIES = 30;
    private static final long INTERVAL_NANOS = AnalysisSettings.DEFAULT.intervalNanos();
    private static final List<RowField> SHARES = Arrays.stream(RowField.values())
            .filter(field -> field.kind() == RowField.Kind.SHARE)
            .toList();

    private static final List<RowField> COUNTED = List.of(
            RowField.DATA_PACKETS,
            RowField.DATA_BYTES,
            RowField.REORDERED_PACKETS,
            RowField.CAPTURE_LOSS_BYTES,
            RowField.MSS_BYTES,
            RowField.RECEIVER_WINDOW_MAX_BYTES,
            RowField.OUTSTANDING_MAX_BYTES,
            RowField.LOSS_EVENTS);

    /** What one tap saw of a flow. */
    private record Seen(Flow flow, List<Packet> packets) {
        Seen with(UnaryOperator<Packet> change) {
            return new Seen(flow, packets.stream().map(change).toList());
        }

        List<RunSpec> runs(RunCutter cutter) {
            return cutter.cutAndEnd(flow, packets, "FIN", 0);
        }

        List<Row> rows() {
            return Tap.rowsOf(runs(RunCutter.PROBE));
        }

        @Override
        public String toString() {
            return packets.size() + " packets";
        }
    }

    // ---- what rows must not depend on ----

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void whereSequenceNumbersBeginDoesNotMatter(
            @ForAll("flows") Seen seen, @ForAll("numbers") int byA, @ForAll("numbers") int byB) {
        Seen shifted = seen.with(packet -> withNumbers(packet, byA, byB));

        assertThat(values(shifted.rows())).isEqualTo(values(seen.rows()));
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void whereTimestampsBeginDoesNotMatter(
            @ForAll("flows") Seen seen, @ForAll("ticks") int ofA, @ForAll("ticks") int ofB) {
        // Simulated ends share a clock.
        int first = requireNonNull(seen.packets().get(0).options().timestamps()).value();
        Seen shifted = seen.with(packet -> withTimestamps(packet, ofA - first, ofB - first));

        assertThat(values(shifted.rows())).isEqualTo(values(seen.rows()));
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void whenItHappensDoesNotMatter(@ForAll("flows") Seen seen, @ForAll("intervals") long intervals) {
        long nanos = intervals * INTERVAL_NANOS;
        Seen shifted = seen.with(packet -> packet.at(packet.timeNs() + nanos));

        List<Row> expected = seen.rows();
        expected.forEach(row -> row.set(RowField.INTERVAL_START, row.get(RowField.INTERVAL_START) + nanos)
                .set(RowField.INTERVAL_END, row.get(RowField.INTERVAL_END) + nanos));
        assertThat(shifted.rows()).isEqualTo(expected);
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void whichEndIsTheLowerOneDoesNotMatter(@ForAll("flows") Seen seen) {
        Flow flow = seen.flow();
        Flow swapped = Flow.between(
                new InetSocketAddress(flow.b().getAddress(), flow.a().getPort()),
                new InetSocketAddress(flow.a().getAddress(), flow.b().getPort()));
        assertThat(swapped.isALow()).isNotEqualTo(flow.isALow());

        assertThat(values(new Seen(swapped, seen.packets()).rows())).isEqualTo(values(seen.rows()));
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void whereRunsAreCutDoesNotMatter(@ForAll("flows") Seen seen, @ForAll("cutters") RunCutter cutter) {
        assertThat(Tap.rowsOf(seen.runs(cutter))).isEqualTo(seen.rows());
        assertThat(new Tap().takeAll(seen.runs(cutter)).observations())
                .isEqualTo(new Tap().takeAll(seen.runs(RunCutter.PROBE)).observations());
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void restartsDoNotMatter(@ForAll("flows") Seen seen, @ForAll("cutters") RunCutter cutter) {
        Tap tap = new Tap();

        for (RunSpec run : seen.runs(cutter)) {
            tap.take(run);
            tap.restart();
        }

        assertThat(tap.rows()).isEqualTo(Tap.rowsOf(seen.runs(cutter)));
        assertThat(tap.observations())
                .isEqualTo(new Tap().takeAll(seen.runs(cutter)).observations());
    }

    @Property(tries = 4 * TRIES, shrinking = ShrinkingMode.OFF)
    void minutesAreTheSumsOfTheirIntervalsWhateverTheCutsAndRestarts(
            @ForAll("flows") Seen seen,
            @ForAll("cutters") RunCutter cutter,
            @ForAll("secondsBefore") int secondsBefore,
            @ForAll("intervalLengths") long intervalNanos) {
        long firstNs = seen.packets().get(0).timeNs();
        long shift = Math.floorMod(-secondsBefore - Math.floorDiv(firstNs, INTERVAL_NANOS), 60) * INTERVAL_NANOS;
        Seen acrossMinutes = seen.with(packet -> packet.at(packet.timeNs() + shift));
        Tap tap = Tap.withIntervalsOf(intervalNanos);

        for (RunSpec run : acrossMinutes.runs(cutter)) {
            tap.take(run);
            tap.restart();
        }

        assertThat(tap.minutes())
                .isEqualTo(Tap.withIntervalsOf(intervalNanos)
                        .takeAll(acrossMinutes.runs(RunCutter.PROBE))
                        .minutes());
        assertThat(tap.minutes().stream().map(MinuteSumsTest::sums).toList())
                .isEqualTo(MinuteSumsTest.expected(tap.rows()));
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void runsThatComeAgainDoNotMatter(
            @ForAll("flows") Seen seen, @ForAll("cutters") RunCutter cutter, @ForAll("strides") int stride) {
        List<RunSpec> runs = seen.runs(cutter);
        Tap tap = new Tap();

        for (int i = 0; i < runs.size(); i++) {
            tap.take(runs.get(i));
            tap.takeAll(runs.subList(Math.max(0, i + 1 - stride), i + 1));
        }

        assertThat(tap.rows()).isEqualTo(Tap.rowsOf(runs));
        assertThat(tap.fates().stream().filter(RunFate.CONTRIBUTED::equals)).hasSize(runs.size());
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void anotherFlowInBetweenDoesNotMatter(@ForAll("flows") Seen one, @ForAll("flows") Seen other) {
        Tap tapOfOne = new Tap();
        Tap tapOfOther = new Tap();
        List<RunSpec> runs = one.runs(RunCutter.PROBE);
        List<RunSpec> others = other.runs(RunCutter.PROBE);

        for (int i = 0; i < Math.max(runs.size(), others.size()); i++) {
            tapOfOne.takeAll(runs.subList(Math.min(i, runs.size()), Math.min(i + 1, runs.size())));
            tapOfOther.takeAll(others.subList(Math.min(i, others.size()), Math.min(i + 1, others.size())));
        }

        assertThat(tapOfOne.rows()).isEqualTo(one.rows());
        assertThat(tapOfOther.rows()).isEqualTo(other.rows());
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void howRunsAreBatchedDoesNotMatter(
            @ForAll("flows") Seen one,
            @ForAll("flows") Seen other,
            @ForAll("batchSizes") int runsPerBatch,
            @ForAll boolean sizedBlocks) {
        Seen moved = new Seen(elsewhere(other.flow()), other.packets());
        List<RunSpec> woven = Stream.concat(one.runs(RunCutter.PROBE).stream(), moved.runs(RunCutter.PROBE).stream())
                .sorted(Comparator.comparingLong(RunSpec::observedUntilNs))
                .toList();

        List<Row> rows = Tap.rowsOfBatches(
                new BatchEncoder(BatchHeader.ofTap("leaf1"), sizedBlocks).encode(woven, runsPerBatch));

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(Stream.concat(one.rows().stream(), moved.rows().stream())
                        .toList());
    }

    private static Flow elsewhere(Flow flow) {
        return Flow.between(
                new InetSocketAddress(flow.a().getAddress(), flow.a().getPort() ^ 1),
                new InetSocketAddress(flow.b().getAddress(), flow.b().getPort()));
    }

    /** Long round trips, beside which floors in absolute time are small; the ticks of both clocks grow from 1 ms to 4 or 10. */
    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void howFastTimePassesDoesNotMatter(@ForAll("slowFlows") Seen seen, @ForAll("factors") int factor) {
        long firstNs = seen.packets().get(0).timeNs();
        Seen slower = seen.with(packet -> packet.at(firstNs + (packet.timeNs() - firstNs) * factor));

        Row life = life(seen);
        Row slow = life(slower);

        assertThat(slow.intervalNanos()).isEqualTo((life.intervalNanos() - 1) * factor + 1);
        assertThat(COUNTED).allSatisfy(field -> assertThat(slow.get(field)).isEqualTo(life.get(field)));
        assertThat(SHARES)
                .allSatisfy(share -> assertThat(share(slow, share)).isCloseTo(share(life, share), within(0.1)));
        assertThat(slow.get(RowField.ROOT_CAUSE)).isEqualTo(life.get(RowField.ROOT_CAUSE));
        assertThat(slow.get(RowField.RTT_MIN_SECONDS)).isEqualTo(life.get(RowField.RTT_MIN_SECONDS) * factor);
        assertThat(slow.isNull(RowField.CAPACITY_BITS_PER_SECOND))
                .isEqualTo(life.isNull(RowField.CAPACITY_BITS_PER_SECOND));
        if (!life.isNull(RowField.CAPACITY_BITS_PER_SECOND)) {
            assertThat((double) slow.get(RowField.CAPACITY_BITS_PER_SECOND) * factor)
                    .isCloseTo(life.get(RowField.CAPACITY_BITS_PER_SECOND), withinPercentage(1.0));
        }
    }

    private static Row life(Seen seen) {
        return seen.rows().stream()
                .filter(row -> row.table() == Row.Table.FLOWS)
                .findFirst()
                .orElseThrow();
    }

    private static double share(Row row, RowField field) {
        return (double) row.get(field) / row.intervalNanos();
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void copiesOfAMirrorAreCountedAndElseDoNotMatter(@ForAll("flows") Seen seen, @ForAll("lags") long lagNanos) {
        long endNs = seen.packets().get(seen.packets().size() - 1).timeNs();
        Stream<Packet> copies = seen.packets().stream()
                .map(packet -> packet.at(packet.timeNs() + lagNanos))
                .filter(packet -> packet.timeNs() < endNs); // a later one would end the flow later
        List<Packet> mirrored = Stream.concat(seen.packets().stream(), copies)
                .sorted(Comparator.comparingLong(Packet::timeNs))
                .toList();

        List<Row> rows = new Seen(seen.flow(), mirrored).rows();

        assertThat(rows.get(rows.size() - 1).get(RowField.DUPLICATE_PACKETS)).isPositive();
        rows.forEach(FlowProperties::forgetCopies);
        assertThat(rows).isEqualTo(seen.rows());
    }

    // ---- what holds for every row ----

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void everyNanosecondHasOneCause(@ForAll("flows") Seen seen) {
        assertThat(seen.rows()).isNotEmpty().allSatisfy(row -> {
            assertThat(SHARES).allSatisfy(share -> assertThat(row.get(share)).isNotNegative());
            assertThat(SHARES.stream().mapToLong(row::get).sum()).isEqualTo(row.intervalNanos());
        });
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void everyByteIsCountedOnce(@ForAll("flows") Seen seen) {
        long packets = seen.packets().stream()
                .filter(packet -> packet.payloadBytes() > 0)
                .count();
        long bytes = seen.packets().stream().mapToLong(Packet::payloadBytes).sum();

        assertThat(seen.rows().stream().filter(row -> row.table() == Row.Table.FLOWS))
                .extracting(row -> row.get(RowField.DATA_PACKETS), row -> row.get(RowField.DATA_BYTES))
                .containsExactly(tuple(packets, bytes));
    }

    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void rowsFollowEachOtherAndScoresKeepTheirRange(@ForAll("flows") Seen seen) {
        List<Row> intervals = seen.rows().stream()
                .filter(row -> row.table() == Row.Table.LIMITATION_INTERVALS)
                .toList();

        for (int i = 1; i < intervals.size(); i++) {
            assertThat(intervals.get(i).get(RowField.INTERVAL_START))
                    .isGreaterThanOrEqualTo(intervals.get(i - 1).get(RowField.INTERVAL_END))
                    .matches(start -> start % INTERVAL_NANOS == 0);
        }
        assertThat(seen.rows()).allSatisfy(row -> {
            assertThat(row.get(RowField.CONFIDENCE)).isBetween(0L, 1_000L);
            assertThat(row.get(RowField.RETRANSMISSION_SCORE)).isBetween(0L, 10_000L);
            assertThat(row.get(RowField.RECEIVER_WINDOW_SCORE)).isBetween(0L, 10_000L);
            assertThat(row.get(RowField.ZERO_WINDOW_SECONDS)).isBetween(0L, row.intervalNanos());
            assertThat(row.get(RowField.CAPTURE_LOSS_BYTES)).isZero();
            assertThat(row.isNull(RowField.DISPERSION_SCORE) || row.get(RowField.DISPERSION_SCORE) <= 10_000)
                    .isTrue();
        });
    }

    // ---- changes ----

    private static Packet withNumbers(Packet packet, int byA, int byB) {
        int own = packet.fromA() ? byA : byB;
        int peers = packet.fromA() ? byB : byA;
        boolean acknowledges = (packet.flags() & Packet.ACK) != 0;
        List<TcpOptions.SackBlock> blocks = packet.options().sackBlocks().stream()
                .map(block -> new TcpOptions.SackBlock(block.left() + peers, block.right() + peers))
                .toList();
        return new Packet(
                packet.timeNs(),
                packet.fromA(),
                packet.sequenceNumber() + own,
                packet.acknowledgmentNumber() + (acknowledges ? peers : 0),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                packet.ip(),
                packet.options().withSackBlocks(blocks));
    }

    private static Packet withTimestamps(Packet packet, int byA, int byB) {
        TcpOptions.Timestamps stamps = packet.options().timestamps();
        if (stamps == null) {
            return packet;
        }
        boolean echoes = (packet.flags() & Packet.ACK) != 0;
        TcpOptions options = packet.options()
                .withTimestamps(
                        stamps.value() + (packet.fromA() ? byA : byB),
                        stamps.echo() + (echoes ? packet.fromA() ? byB : byA : 0));
        return new Packet(
                packet.timeNs(),
                packet.fromA(),
                packet.sequenceNumber(),
                packet.acknowledgmentNumber(),
                packet.payloadBytes(),
                packet.headerBytes(),
                packet.flags(),
                packet.windowField(),
                packet.ip(),
                options);
    }

    /** All of a row but the flow's name and addresses. */
    private static List<List<Long>> values(List<Row> rows) {
        return rows.stream()
                .map(row -> Arrays.stream(RowField.values()).map(row::get).toList())
                .toList();
    }

    private static void forgetCopies(Row row) {
        row.set(RowField.DUPLICATE_PACKETS, 0)
                .set(RowField.QUALITY, row.get(RowField.QUALITY) & ~(1L << Quality.DUPLICATED.ordinal()));
    }

    // ---- draws ----

    /** Restarts after every packet: half-way through a repair, an even run of data, and the learning of a coarse clock, too. */
    @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
    void restartsDoNotMatterWhateverTheTapCanTell(
            @ForAll("flows") Seen seen, @ForAll("clockSteps") long stepNanos, @ForAll boolean stamped) {
        Seen told = seen.with(packet -> withoutStamps(packet.at(packet.timeNs() / stepNanos * stepNanos), stamped));
        List<RunSpec> runs = told.runs(new RunCutter(1, true, true));
        Tap tap = new Tap();

        for (RunSpec run : runs) {
            tap.take(run);
            tap.restart();
        }

        assertThat(tap.rows()).isEqualTo(Tap.rowsOf(runs));
        assertThat(tap.observations()).isEqualTo(new Tap().takeAll(runs).observations());
    }

    private static Packet withoutStamps(Packet packet, boolean keep) {
        TcpOptions seen = packet.options();
        return keep
                ? packet
                : new Packet(
                        packet.timeNs(),
                        packet.fromA(),
                        packet.sequenceNumber(),
                        packet.acknowledgmentNumber(),
                        packet.payloadBytes(),
                        packet.headerBytes(),
                        packet.flags(),
                        packet.windowField(),
                        packet.ip(),
                        new TcpOptions(
                                null,
                                seen.mss(),
                                seen.windowScale(),
                                seen.sackPermitted(),
                                seen.sackBlocks(),
                                seen.malformed()));
    }

    /** Of a card, and of interrupts that are delayed. */
    @Provide
    Arbitrary<Long> clockSteps() {
        return Arbitraries.of(1L, 100_000L, 250_000L);
    }

    /** Of a minute, when the flow begins. */
    @Provide
    Arbitrary<Integer> secondsBefore() {
        return Arbitraries.integers().between(0, 3);
    }

    /** Shorter than a second, ones that do not divide a minute, and minutes, in ns. */
    @Provide
    Arbitrary<Long> intervalLengths() {
        return Arbitraries.of(500_000_000L, 1_000_000_000L, 7_000_000_000L, 300_000_000_000L);
    }

    /** Up to some seconds of a flow, seen before or behind its bottleneck, that begins anywhere in its interval. */
    @Provide
    Arbitrary<Seen> flows() {
        Arbitrary<Long> phases = Arbitraries.of(0L, 1L, 500_000_000L, 999_999_999L);
        return Combinators.combine(paths(), ends(), Arbitraries.of(true, false), phases)
                .as((path, ends, before, phase) -> {
                    SimulatedFlow flow = PathSimulator.run(ends.apply(path)).get(0);
                    List<Packet> packets = before ? flow.before() : flow.after();
                    long firstNs = packets.get(0).timeNs();
                    long shift = Math.floorMod(phase - firstNs, INTERVAL_NANOS);
                    return new Seen(flow.flow(), packets).with(packet -> packet.at(packet.timeNs() + shift));
                })
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Seen> slowFlows() {
        List<UnaryOperator<PathScenario>> kinds =
                List.of(path -> path, PathScenario::serverSends, path -> path.receiveBuffer(30_000, 0));
        return Combinators.combine(
                        Arbitraries.of(5.0, 10.0),
                        Arbitraries.of(20, 40),
                        Arbitraries.of(50_000, 80_000),
                        Arbitraries.of(kinds),
                        Arbitraries.of(true, false))
                .as((megabits, queue, roundTrip, kind, before) -> {
                    SimulatedFlow flow = PathSimulator.run(kind.apply(PathScenario.named("slow")
                                    .lasting(4_000)
                                    .bottleneck(megabits, queue)
                                    .roundTrip(roundTrip)))
                            .get(0);
                    return new Seen(flow.flow(), before ? flow.before() : flow.after());
                })
                .withoutEdgeCases();
    }

    private static Arbitrary<PathScenario> paths() {
        return Combinators.combine(
                        Arbitraries.of(2.0, 10.0, 40.0),
                        Arbitraries.of(5, 40),
                        Arbitraries.of(500, 10_000, 80_000),
                        Arbitraries.of(0, 300),
                        Arbitraries.of(0.0, 0.02),
                        Arbitraries.of(0.0, 0.02),
                        Arbitraries.of(0.0, 0.5),
                        Arbitraries.longs().between(1, 1_000))
                .as((megabits, queue, roundTrip, jitter, loss, reordering, others, seed) -> PathScenario.named("any")
                        .seed(seed)
                        .lasting(1_400)
                        .bottleneck(megabits, queue)
                        .roundTrip(roundTrip)
                        .jitter(jitter)
                        .loss(loss)
                        .reordering(reordering, 1_500)
                        .crossTraffic(others * megabits));
    }

    /** What sender and receiver do. */
    private static Arbitrary<UnaryOperator<PathScenario>> ends() {
        List<UnaryOperator<PathScenario>> kinds = List.of(
                path -> path,
                PathScenario::serverSends,
                path -> path.sendBuffer(30_000),
                path -> path.receiveBuffer(30_000, 0),
                path -> path.receiveBuffer(100_000, 10).readingAt(40_000).lasting(4_000),
                path -> path.application(Application.transfer(20_000)).lasting(4_000),
                path -> path.application(Application.transfer(400_000)).lasting(4_000),
                path -> path.application(Application.periodic(700, 7_000_000)),
                path -> path.application(Application.periodic(60_000, 2_300_000_000L))
                        .lasting(8_000));
        return Arbitraries.of(kinds);
    }

    /** Any distance, most of them such that some number wraps or is near an end. */
    @Provide
    Arbitrary<Integer> numbers() {
        return Biased.sequenceNumbers();
    }

    /** The first tick of a clock, most of them such that it comes round within the flow. */
    @Provide
    Arbitrary<Integer> ticks() {
        Arbitrary<Integer> before = Arbitraries.integers().between(1, 1_000);
        return Arbitraries.oneOf(
                        Arbitraries.integers(),
                        before.map(ticks -> -ticks),
                        before.map(ticks -> Integer.MIN_VALUE - ticks))
                .withoutEdgeCases();
    }

    @Provide
    Arbitrary<Long> intervals() {
        return Arbitraries.of(-1_767_225_700L, -1_767_225_600L, -1L, 1L, 59L, 7_000_000_000L);
    }

    @Provide
    Arbitrary<RunCutter> cutters() {
        return Combinators.combine(
                        Arbitraries.of(1, 2, 7, 256), Arbitraries.of(true, false), Arbitraries.of(true, false))
                .as(RunCutter::new);
    }

    @Provide
    Arbitrary<Integer> batchSizes() {
        return Arbitraries.of(1, 2, 7, 1_000);
    }

    @Provide
    Arbitrary<Integer> factors() {
        return Arbitraries.of(4, 10);
    }

    @Provide
    Arbitrary<Integer> strides() {
        return Arbitraries.of(1, 2, 1_000);
    }

    @Provide
    Arbitrary<Long> lags() {
        return Arbitraries.of(0L, 1L, 2_000L, 20_000L);
    }
}
