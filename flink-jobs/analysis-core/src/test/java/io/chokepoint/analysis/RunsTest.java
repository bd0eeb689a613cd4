// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.RunFate.CONTRIBUTED;
import static io.chokepoint.analysis.RunFate.CONTRIBUTED_AFTER_HOLE;
import static io.chokepoint.analysis.RunFate.REPEATED;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs that are missing, come twice, or belong to the next flow on the same ports. */
class RunsTest {
    private static final RunCutter TENS = new RunCutter(10, true, true);

    /** 3 + 200 packets in 1.01 s: runs of 10, but one of 7 at the end of the first second and one of 6 at the end. */
    private static final PacketScript SCRIPT = PacketScript.parse(Timeline.OPENING + """
            repeat 100 {
            +0.000 A > B P. +1448  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            end FIN
            """);

    @Test
    void everyRunHasOneFate() {
        List<RunSpec> runs = SCRIPT.runs(TENS);
        Tap tap = new Tap();

        tap.takeAll(runs.subList(0, 4));
        tap.takeAll(runs.subList(2, 4));
        tap.takeAll(runs.subList(5, 6));

        assertThat(tap.fates())
                .containsExactly(
                        CONTRIBUTED, CONTRIBUTED, CONTRIBUTED, CONTRIBUTED, REPEATED, REPEATED, CONTRIBUTED_AFTER_HOLE);
    }

    /** A capture whose replay was killed after any of its runs, and that is played anew with runs that are cut elsewhere. */
    @Test
    void runsThatAreCutElsewhereAtASecondTryAddWhatIsNewAndNothingElse() {
        List<RunSpec> first = SCRIPT.runs(new RunCutter(7, true, true));
        List<RunSpec> second = SCRIPT.runs(TENS);
        List<Row> undisturbed = Tap.rowsOf(second);

        for (int delivered = 0; delivered < first.size(); delivered++) {
            Tap tap = new Tap().takeAll(first.subList(0, delivered));
            long packets = first.subList(0, delivered).stream()
                    .mapToInt(run -> run.packets().size())
                    .sum();
            tap.takeAll(second);

            assertThat(tap.rows()).as("after %d runs", delivered).isEqualTo(undisturbed);
            assertThat(tap.fates()).doesNotContain(CONTRIBUTED_AFTER_HOLE);
            assertThat(tap.repeatedPackets()).as("after %d runs", delivered).isEqualTo(packets);
        }
    }

    /** As where a pipe fell silent: the first try had told all packets, and not yet the end. */
    @Test
    void theEndOfARunWhosePacketsAreKnownCounts() {
        List<RunSpec> first = RunCutter.PROBE.cut(SCRIPT.flow(), SCRIPT.packets());
        List<RunSpec> second = new ArrayList<>(first);
        RunSpec last = second.remove(second.size() - 1);
        second.add(new RunSpec(
                last.flow(), last.flowStartNs(), last.packetsBefore(), last.observedUntilNs(), "FIN", last.packets()));
        Tap tap = new Tap().takeAll(first).takeAll(second);

        assertThat(last.packets()).isNotEmpty();
        assertThat(tap.fates()).endsWith(REPEATED, CONTRIBUTED);
        assertThat(tap.rows()).isEqualTo(Tap.rowsOf(second));
        assertThat(tap.repeatedPackets()).isEqualTo(SCRIPT.packets().size());
    }

    @Test
    void aHoleIsMarkedAndItsTimeIsUnknown() {
        List<RunSpec> runs = new ArrayList<>(SCRIPT.runs(TENS));
        runs.remove(8);

        Timeline.check(PacketScript.parse(Timeline.OPENING + """
                repeat 100 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                expect A > B seconds 0 1
                expect A > B second 0 data_packets 94, quality hole !capture_loss, share_unknown 0.04..0.06
                expect A > B second 1 data_packets 1, quality !hole, share_unknown 0
                expect A > B data_packets 95, quality hole
                """), Tap.rowsOf(runs));
    }

    @Test
    void aHoleIsOneForBothDirections() {
        PacketScript script = PacketScript.parse(Timeline.OPENING + """
                repeat 100 {
                +0.000 B > A P. +1448  ack @ win 509
                +0.010 A > B .  0:0(0) ack @
                }
                end FIN
                expect B > A second 0 data_packets 94, quality hole !capture_loss, share_unknown 0.06..0.08
                expect B > A data_packets 95, quality hole
                """);
        List<RunSpec> runs = new ArrayList<>(script.runs(TENS));
        runs.remove(8);

        Timeline.check(script, Tap.rowsOf(runs));
    }

    @Test
    void aHoleOverTheEndOfAnIntervalIsMarkedWhereTimeIsUnknown() {
        PacketScript script = PacketScript.parse(Timeline.OPENING + """
                repeat 200 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                expect A > B seconds 0 1 2
                expect A > B second 0 quality hole !capture_loss, share_unknown 0.01..0.1
                expect A > B second 1 quality hole !capture_loss, share_unknown 0.01..0.1
                expect A > B second 2 quality !hole, share_unknown 0
                """);
        List<RunSpec> runs = new ArrayList<>(script.runs(TENS));
        List<RunSpec> missing = runs.stream()
                .filter(run -> run.packets().stream()
                        .anyMatch(packet -> Math.abs(packet.timeNs() - 1_767_225_601_000_000_000L) < 25_000_000))
                .toList();
        runs.removeAll(missing);

        assertThat(missing).isNotEmpty();
        Timeline.check(script, Tap.rowsOf(runs));
    }

    @Test
    void theFirstRunsMayBeMissing() {
        List<RunSpec> runs = SCRIPT.runs(TENS);
        Tap tap = new Tap().takeAll(runs.subList(10, runs.size()));

        assertThat(tap.fates().get(0)).isEqualTo(CONTRIBUTED_AFTER_HOLE);
        Timeline.check(PacketScript.parse(Timeline.OPENING + """
                repeat 100 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                expect A > B interval_start 1767225600500000000, quality hole syn_missed !capture_loss, share_unknown 0..0.05
                """), tap.rows());
    }

    @Test
    void whereATapLeftAFlowOutIsMarkedAndWhatItSawIsJudged() {
        Timeline.check(Timeline.OPENING + """
                repeat 200 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end SHED
                expect A > B seconds 0 1 2
                expect A > B second 1 quality !shed
                expect A > B second 2 data_packets 1, quality shed !hole !capture_loss, share_unknown 0
                expect A > B data_packets 200, quality shed !hole !capture_loss, share_unknown 0
                """);
    }

    @Test
    void aSilentFlowThatATapLeftOutSaysSoOfItsLifeOnly() {
        Timeline.check(Timeline.OPENING + """
                repeat 80 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end SHED +3.5
                expect A > B seconds 0
                expect A > B second 0 quality !shed
                expect A > B quality shed
                """);
    }

    /** The tap watches it again 5 s later: a flow that it meets in its midst, and no row is of the time between. */
    @Test
    void noRowIsOfTheTimeInWhichATapLeftAFlowOut() {
        PacketScript before = PacketScript.parse(Timeline.OPENING + """
                repeat 80 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end SHED
                """);
        PacketScript after = PacketScript.parse("""
                timestamps
                mss 1448
                start 2026-01-01T00:00:05.100Z
                isn A 1000000
                isn B 1
                repeat 80 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                expect A > B seconds 0
                expect A > B second 0 quality syn_missed !shed !hole !capture_loss
                expect A > B interval_start 1767225605100000000, quality syn_missed !shed !hole !capture_loss
                """);
        Tap tap = new Tap().takeAll(before.runs(RunCutter.PROBE));
        int rowsBefore = tap.rows().size();
        tap.takeAll(after.runs(RunCutter.PROBE));

        assertThat(tap.fates()).containsOnly(CONTRIBUTED);
        assertThat(tap.rows().subList(0, rowsBefore))
                .allSatisfy(row -> assertThat(row.get(RowField.INTERVAL_END)).isLessThan(1_767_225_601_000_000_000L));
        Timeline.check(after, tap.rows().subList(rowsBefore, tap.rows().size()));
    }

    /** Killed in the first second, started again in the second one: the flow ends with a hole, and goes on as one that was met in its midst. */
    @Test
    void theFlowOfAKilledProbeIsMarkedWhereItBreaksOff() {
        PacketScript script = PacketScript.parse(Timeline.OPENING + """
                repeat 300 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                """);
        List<Packet> packets = script.packets();
        List<RunSpec> killed = RunCutter.PROBE.cut(script.flow(), packets.subList(0, 120));
        List<RunSpec> next = RunCutter.PROBE.cutAndEnd(script.flow(), packets.subList(260, packets.size()), "FIN", 0);
        Tap tap = new Tap().takeAll(killed);
        int before = tap.rows().size();
        tap.nextSession().takeAll(next);
        List<Row> rows = tap.rows();
        List<Row> broken =
                rows.stream().filter(row -> isMarked(row, Quality.HOLE)).toList();
        List<Row> goingOn =
                rows.stream().filter(row -> isMarked(row, Quality.SYN_MISSED)).toList();

        assertThat(before).isZero();
        assertThat(tap.fates()).containsOnly(CONTRIBUTED);
        assertThat(broken).as("its interval and its life").hasSize(2);
        assertThat(goingOn).isNotEmpty().doesNotContainAnyElementsOf(broken);
        assertThat(rows).hasSize(broken.size() + goingOn.size());
    }

    /** One that was told to end has told it of its flows. */
    @Test
    void aProbeThatEndsLeavesNoHole() {
        Tap tap = new Tap().takeAll(SCRIPT.runs(TENS)).nextSession();
        tap.take(SCRIPT.runs(TENS).get(0));

        assertThat(tap.rows()).noneMatch(row -> isMarked(row, Quality.HOLE));
    }

    private static boolean isMarked(Row row, Quality quality) {
        return (row.get(RowField.QUALITY) & 1L << quality.ordinal()) != 0;
    }

    @Test
    void anEndMarkEndsOnceAndNothingFollowsIt() {
        List<RunSpec> runs = SCRIPT.runs(TENS);
        Tap tap = new Tap().takeAll(runs);
        List<Row> rows = tap.rows();

        tap.take(runs.get(runs.size() - 1));
        tap.take(runs.get(0));
        tap.finish();

        assertThat(tap.fates()).endsWith(CONTRIBUTED, REPEATED, REPEATED);
        assertThat(tap.rows()).isEqualTo(rows);
    }

    @Test
    void anOldQuietMarkChangesNothing() {
        PacketScript script = PacketScript.parse(Timeline.OPENING + """
                +0.000 A > B P. +1448  ack @
                +9.000 A > B P. +1448  ack @
                """);
        List<RunSpec> runs = script.runs(RunCutter.PROBE);
        Tap tap = new Tap();

        tap.takeAll(runs.subList(0, 4));
        tap.takeAll(runs.subList(1, 3));

        assertThat(runs.subList(1, 4))
                .allSatisfy(run -> assertThat(run.packets()).isEmpty());
        assertThat(tap.fates()).containsExactly(CONTRIBUTED, CONTRIBUTED, CONTRIBUTED, CONTRIBUTED, REPEATED, REPEATED);
    }

    @Test
    void theNextFlowOnTheSamePortsEndsTheOneBefore() {
        PacketScript first = PacketScript.parse("""
                isn A 1000
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 7>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                """);
        PacketScript second = PacketScript.parse("""
                start 2026-01-01T00:01:00Z
                isn A 5000
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.020 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +300   ack 1
                end FIN
                """);
        List<RunSpec> runs = new ArrayList<>(RunCutter.PROBE.cut(first.flow(), first.packets()));
        runs.addAll(second.runs(RunCutter.PROBE));

        List<Row> rows = Tap.rowsOf(runs);

        assertThat(rows).extracting(row -> row.get(RowField.DATA_BYTES)).containsExactly(100L, 300L);
        assertThat(rows.get(1))
                .isEqualTo(Tap.rowsOf(second.runs(RunCutter.PROBE)).get(0));
        assertThat(rows.get(0).identity().flowId())
                .isNotEqualTo(rows.get(1).identity().flowId());
    }

    @Test
    void aFlowWithoutAnyDataHasOneRow() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 64240
                +0.010 B > A R. 0:0(0) ack 1  win 0
                end RST
                expect client A
                expect A > B data_packets 0, zero_window_seconds 0, root_cause short_transfer
                expect B > A none
                """);
    }

    @Test
    void anEndMarkAloneIsAFlowOfWhichNothingIsKnown() {
        RunSpec mark = SCRIPT.runs(TENS).get(SCRIPT.runs(TENS).size() - 1);

        List<Row> rows = Tap.rowsOf(List.of(mark));

        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).get(RowField.DATA_PACKETS)).isZero();
        assertThat(rows.get(0).intervalNanos()).isEqualTo(1);
    }
}
