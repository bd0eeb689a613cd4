// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.MinuteField;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Minute rows: what they add up, and when the flow's own stream closes them. */
class MinuteSumsTest {
    private static final long MINUTE_NANOS = 60_000_000_000L;
    /** 180 segments from 58.510 s on, the last ones acknowledged at 59.110 s. */
    private static final String ELEPHANT = "start 2026-01-01T00:00:58.5Z\n" + OPENING + """
            repeat 60 {
            +0.000 A > B .  +4344  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            """;

    /** Fields that are sums of stored columns of interval rows, whichever those are. */
    private static final Map<MinuteField, RowField> ADDED = Map.ofEntries(
            Map.entry(MinuteField.APPLICATION_NS, RowField.SHARE_APPLICATION),
            Map.entry(MinuteField.SEND_BUFFER_NS, RowField.SHARE_SEND_BUFFER),
            Map.entry(MinuteField.RECEIVER_WINDOW_NS, RowField.SHARE_RECEIVER_WINDOW),
            Map.entry(MinuteField.UNSHARED_BOTTLENECK_NS, RowField.SHARE_UNSHARED_BOTTLENECK),
            Map.entry(MinuteField.SHARED_BOTTLENECK_NS, RowField.SHARE_SHARED_BOTTLENECK),
            Map.entry(MinuteField.TRANSPORT_NS, RowField.SHARE_TRANSPORT),
            Map.entry(MinuteField.UNKNOWN_NS, RowField.SHARE_UNKNOWN),
            Map.entry(MinuteField.THROUGHPUT_BYTES, RowField.THROUGHPUT_BITS_PER_SECOND),
            Map.entry(MinuteField.GOODPUT_BYTES, RowField.GOODPUT_BITS_PER_SECOND),
            Map.entry(MinuteField.DATA_PACKETS, RowField.DATA_PACKETS),
            Map.entry(MinuteField.DATA_BYTES, RowField.DATA_BYTES),
            Map.entry(MinuteField.LOSS_EVENTS, RowField.LOSS_EVENTS),
            Map.entry(MinuteField.ZERO_WINDOW_NS, RowField.ZERO_WINDOW_SECONDS));

    /** Key and sums of a minute row, by name. */
    static Map<String, Long> sums(MinuteRow row) {
        Map<String, Long> sums = new LinkedHashMap<>();
        sums.put("minute", row.startNanos());
        sums.put("direction", (long) row.direction().ordinal());
        sums.put("INTERVALS", row.get(MinuteField.INTERVALS));
        for (MinuteField field : MinuteField.values()) {
            if (ADDED.containsKey(field)) {
                sums.put(field.name(), row.get(field));
            }
        }
        sums.put(
                "lost",
                row.get(MinuteField.LOST_APPLICATION_BYTES)
                        + row.get(MinuteField.LOST_SEND_BUFFER_BYTES)
                        + row.get(MinuteField.LOST_RECEIVER_WINDOW_BYTES)
                        + row.get(MinuteField.LOST_SHARED_BOTTLENECK_BYTES)
                        + row.get(MinuteField.LOST_TRANSPORT_BYTES));
        return sums;
    }

    /** The same of interval rows, added up by the minute in which they begin. */
    static List<Map<String, Long>> expected(List<Row> rows) {
        Map<List<Long>, Map<String, Long>> minutes = new LinkedHashMap<>();
        for (Row row : rows) {
            if (row.table() != Row.Table.LIMITATION_INTERVALS) {
                continue;
            }
            long minute = Math.floorDiv(row.get(RowField.INTERVAL_START), MINUTE_NANOS) * MINUTE_NANOS;
            Map<String, Long> sums =
                    minutes.computeIfAbsent(List.of(minute, row.get(RowField.DIRECTION)), key -> new LinkedHashMap<>());
            sums.put("minute", minute);
            sums.put("direction", row.get(RowField.DIRECTION));
            sums.merge("INTERVALS", 1L, Long::sum);
            for (MinuteField field : MinuteField.values()) {
                RowField from = ADDED.get(field);
                if (from != null) {
                    sums.merge(field.name(), row.get(from), Long::sum);
                }
            }
            sums.merge("lost", row.isNull(RowField.LOST_BYTES) ? 0 : row.get(RowField.LOST_BYTES), Long::sum);
        }
        return new ArrayList<>(minutes.values());
    }

    @Test
    void aPacketBehindAMinuteWritesItWithAllItsIntervals() {
        Tap tap = tapOf(ELEPHANT + """
                +0.890 A > B .  +1448  ack @                # at 60.0 s
                end FIN
                """);

        assertThat(tap.minutes())
                .extracting(row -> row.startNanos() / MINUTE_NANOS % 60)
                .containsExactly(0L, 1L);
        assertThat(tap.minutes())
                .extracting(row -> row.get(MinuteField.INTERVALS))
                .containsExactly(2L, 1L);
        assertThat(tap.minutes())
                .extracting(row -> row.get(MinuteField.DATA_PACKETS))
                .containsExactly(180L, 1L);
        assertThat(tap.minutes().stream().map(MinuteSumsTest::sums).toList()).isEqualTo(expected(tap.rows()));
    }

    @Test
    void silenceThatTheTapHasSeenWritesTheMinuteWhileTheFlowLives() {
        List<RunSpec> runs = runsOf(ELEPHANT + "+5.000 A > B .  +1448  ack @\nend FIN\n");
        Tap tap = new Tap();
        int written = 0;
        for (RunSpec run : runs) {
            tap.take(run);
            written = tap.minutes().size();
            if (run.packets().isEmpty() && written > 0) {
                break;
            }
        }

        assertThat(written)
                .as("minute rows before the packet of the next minute")
                .isEqualTo(1);
        assertThat(tap.minutes().get(0).get(MinuteField.DATA_PACKETS)).isEqualTo(180);
    }

    /** Of 500 ms, a silent one ends with the minute; of 7 s and of 5 minutes, one goes on beyond it. */
    @ParameterizedTest
    @ValueSource(longs = {500_000_000L, 7_000_000_000L, 300_000_000_000L})
    void anIntervalOfAnyLengthBelongsToTheMinuteInWhichItBegins(long intervalNanos) {
        Tap tap = Tap.withIntervalsOf(intervalNanos).takeAll(runsOf(ELEPHANT + """
                +0.990 A > B .  +1448  ack @                # at 60.1 s
                +0.500 A > B .  +1448  ack @
                +400.0 A > B .  +1448  ack @
                end FIN
                """));

        assertThat(tap.minutes()).hasSizeGreaterThan(1);
        assertThat(tap.minutes().stream().map(MinuteSumsTest::sums).toList()).isEqualTo(expected(tap.rows()));
    }

    @Test
    void aMinuteOfWhichNoIntervalHadARowHasNone() {
        Tap tap = tapOf(ELEPHANT + """
                +130.0 A > B .  +1448  ack @                # at 189.1 s
                end FIN
                """);

        assertThat(tap.minutes())
                .extracting(row -> row.startNanos() / MINUTE_NANOS % 60)
                .containsExactly(0L, 3L);
    }

    @Test
    void aMouseHasNoMinutes() {
        Tap tap = tapOf(OPENING + """
                repeat 49 {
                +0.089 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                """);

        assertThat(tap.minutes()).isEmpty();
    }

    @Test
    void whatIsGivenUpIsWritten() {
        List<RunSpec> runs = runsOf(ELEPHANT + "end FIN\n");
        Tap tap = new Tap().takeAll(runs.subList(0, runs.size() - 1)).finish();

        assertThat(tap.minutes())
                .extracting(row -> row.get(MinuteField.DATA_PACKETS))
                .containsExactly(180L);
    }

    private static List<RunSpec> runsOf(String script) {
        return PacketScript.parse(script).runs(RunCutter.PROBE);
    }

    private static Tap tapOf(String script) {
        return new Tap().takeAll(runsOf(script));
    }
}
