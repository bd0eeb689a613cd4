// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.Packet;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.sim.PathScenario;
import io.chokepoint.testkit.sim.PathSimulator;
import io.chokepoint.testkit.sim.SimulatedFlow;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which delays can be measured, and what is still said where none, or no short time, can. */
class MeasurementTest {
    /** An ACK of more than two segments may have waited. After eight round trips, at least 200 ms, a queue may have come. */
    @Test
    void whereNoDelayIsMeasuredTheRestIsUnknown() {
        Timeline.check(OPENING + """
                repeat 150 {
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                repeat 150 {
                +0.000 A > B .  +14480 ack @
                +0.010 B > A .  0:0(0) ack @
                }
                end CAPTURE_END
                expect A > B second 0 share_transport 0.95..1, share_unknown 0
                expect A > B second 1 share_transport 0.71..0.73, share_unknown 0.27..0.29
                expect A > B second 2 share_transport 0, share_unknown 1
                """);
    }

    /** Ten round trips of 10 ms before; the mean of these and what is timed later, in percent above the lowest. */
    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "15929, its first part, 18.1..18.3", // 30 ms
        "17377, its second, 18.1..18.3",
        "17377 18825, its third later, 18.1..18.3",
        "17377 18825 20273, and its fourth, 18.1..18.3",
        "17377 18825 21721, and its end, 49.9..50.1", // and 50 ms
    })
    void aSuperSegmentIsTimedByItsFirstTwoPartsAndItsEnd(String acks, String name, String percent) {
        StringBuilder script = new StringBuilder(OPENING + """
                repeat 10 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                mss 7240
                +0.000 A > B .  +7240  ack @                # 14481:21721 in one
                +0.020 B > A .  0:0(0) ack 14481 win 510
                """);
        for (String ack : acks.split(" ")) {
            script.append("+0.010 B > A .  0:0(0) ack ").append(ack).append('\n');
        }

        Timeline.check(script.append("""
                end CAPTURE_END
                expect A > B buffer_delay_percent %s, quality offload
                """.formatted(percent)).toString());
    }

    @ParameterizedTest(name = "{0} Mbit/s, stamped every {1} us: coarse {2}")
    @CsvSource({"50, 100, true", "100, 100, true", "20, 100, false", "50, 1, false"})
    void aClockThatMovesInStepsIsCoarseForAFastLink(double megabits, long stepMicros, boolean isCoarse) {
        PathScenario alone =
                PathScenario.named("alone").bottleneck(megabits, 100).lasting(3_000);
        SimulatedFlow flow = PathSimulator.run(alone).get(0);
        long stepNanos = stepMicros * 1_000;
        List<Packet> stamped = flow.before().stream()
                .map(packet -> packet.at(packet.timeNs() / stepNanos * stepNanos))
                .toList();

        Row row = Tap.rowsOf(RunCutter.PROBE.cutAndEnd(flow.flow(), stamped, "FIN", 0)).stream()
                .filter(life -> life.table() == Row.Table.FLOWS)
                .findFirst()
                .orElseThrow();

        assertThat(row.get(RowField.CAPACITY_KIND)).isEqualTo(CapacityKind.PROVEN.ordinal());
        assertThat((double) row.get(RowField.CAPACITY_BITS_PER_SECOND)).isCloseTo(megabits * 1e6, withinPercentage(1));
        assertThat((row.get(RowField.QUALITY) >> Quality.COARSE_CLOCK.ordinal() & 1) == 1)
                .isEqualTo(isCoarse);
    }
}
