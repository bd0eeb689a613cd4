// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.EndReason;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Summary;
import io.chokepoint.analysis.batch.Summary.Sent;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the probe's own packets give instead is compared in AnalyzeIT, over the shipped captures and random short flows. */
class SummaryRowsTest {
    private static final long START = 1_700_000_000_100_000_000L;
    private static final FlowKey KEY =
            new FlowKey(0, 0, FlowKey.ipv4Lower(0x0a000001), 40000, 0, FlowKey.ipv4Lower(0x0a000002), 443);
    private static final Sent NOTHING = new Sent(1, 0, 0, 0, 0, 0, 0, 0, 0);
    private static final Sent REQUEST = new Sent(5, 1, 300, 40, 300, 300, 0, 1400, 6);
    private static final Sent ANSWER = new Sent(4, 2, 1500, 80, 1500, 1400, 1, 1460, 7);

    @Test
    void bothDirectionsOfARequestGetTheirRow() {
        List<Row> rows = rowsOf(summary(0, REQUEST, ANSWER));

        assertThat(rows)
                .extracting(row -> row.get(RowField.DIRECTION))
                .containsExactly(
                        (long) Direction.CLIENT_TO_SERVER.ordinal(), (long) Direction.SERVER_TO_CLIENT.ordinal());
        Row answer = rows.get(1);
        assertThat(answer.table()).isEqualTo(Row.Table.FLOWS);
        assertThat(answer.get(RowField.ROOT_CAUSE)).isEqualTo(RootCause.SHORT_TRANSFER.ordinal());
        assertThat(answer.get(RowField.DATA_BYTES)).isEqualTo(1500);
        assertThat(answer.get(RowField.GOODPUT_BITS_PER_SECOND)).isEqualTo(1500);
        assertThat(answer.get(RowField.THROUGHPUT_BITS_PER_SECOND)).isEqualTo(1500 + 80 + 2 * 14);
        assertThat(answer.get(RowField.MSS_BYTES)).isEqualTo(1448);
        assertThat(answer.get(RowField.RTT_MIN_SECONDS)).isEqualTo(21_000_000);
        assertThat(answer.get(RowField.PATH_POSITION)).isEqualTo(47);
        assertThat(qualityOf(answer)).containsExactlyInAnyOrder(Quality.CAPACITY_UNKNOWN, Quality.NO_TIMESTAMPS);
        assertThat(answer.identity()).isEqualTo(rows.get(0).identity());
        assertThat(answer.identity().clientPort()).isEqualTo(40000);
    }

    @Test
    void whatASummaryCannotTellIsNull() {
        Row row = rowsOf(summary(0, REQUEST, ANSWER)).get(0);

        assertThat(EnumSet.range(RowField.SHARE_APPLICATION, RowField.SHARE_UNKNOWN))
                .allMatch(row::isNull);
        assertThat(List.of(RowField.RECEIVER_WINDOW_MAX_BYTES, RowField.OUTSTANDING_MAX_BYTES, RowField.RTO_SECONDS))
                .allMatch(row::isNull);
    }

    @Test
    void aQuietMarkClosesTheIntervalOfTheLastPacket() {
        Summary ended = summary(0, REQUEST, ANSWER);
        Summary silent = new Summary(
                KEY,
                -1,
                -1,
                START,
                52_000_000,
                1_000_000_000,
                EndReason.IDLE,
                0,
                99,
                1,
                20_000_000,
                1_000_000,
                REQUEST,
                ANSWER);

        assertThat(rowsOf(ended).get(0).get(RowField.INTERVAL_END)).isEqualTo(START + 52_000_001);
        assertThat(rowsOf(silent).get(0).get(RowField.INTERVAL_END)).isEqualTo(START + 900_000_000);
    }

    @Test
    void aFlowThatWasLeftOutSaysSo() {
        Summary shed = new Summary(
                KEY, -1, -1, START, 52_000_000, 0, EndReason.SHED, 0, 99, 1, 20_000_000, 1_000_000, REQUEST, ANSWER);

        assertThat(qualityOf(rowsOf(shed).get(0))).contains(Quality.SHED);
        assertThat(qualityOf(rowsOf(summary(0, REQUEST, ANSWER)).get(0))).doesNotContain(Quality.SHED);
    }

    @Test
    void theOtherEndMayBeTheClient() {
        List<Row> rows = rowsOf(summary(1, ANSWER, REQUEST));

        assertThat(rows).extracting(row -> row.get(RowField.DATA_BYTES)).containsExactly(300L, 1500L);
        assertThat(rows.get(0).identity().clientPort()).isEqualTo(443);
    }

    @Test
    void withoutDataThereIsOneRowOfTheDirectionThatWasAcknowledged() {
        Sent acknowledged = new Sent(0, 0, 0, 0, 5000, 0, 0, 0, 2);
        Row scan = rowsOf(summary(0, NOTHING, NOTHING)).get(0);
        List<Row> rows = rowsOf(summary(Summary.UNKNOWN, NOTHING, acknowledged));

        assertThat(scan.get(RowField.DIRECTION)).isEqualTo(Direction.CLIENT_TO_SERVER.ordinal());
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).get(RowField.DIRECTION)).isEqualTo(Direction.SERVER_TO_CLIENT.ordinal());
        assertThat(qualityOf(rows.get(0))).contains(Quality.ONE_DIRECTION, Quality.WINDOW_SCALE_UNKNOWN);
    }

    private static Summary summary(int client, Sent low, Sent high) {
        return new Summary(
                KEY, -1, -1, START, 52_000_000, 0, EndReason.FIN, client, 99, 1, 20_000_000, 1_000_000, low, high);
    }

    private static List<Row> rowsOf(Summary summary) {
        List<Row> rows = new ArrayList<>();
        SummaryRows.write(AnalysisSettings.DEFAULT, "leaf1", summary, rows::add);
        return rows;
    }

    private static Set<Quality> qualityOf(Row row) {
        Set<Quality> flags = EnumSet.noneOf(Quality.class);
        for (Quality quality : Quality.values()) {
            if ((row.get(RowField.QUALITY) >> quality.ordinal() & 1) != 0) {
                flags.add(quality);
            }
        }
        return flags;
    }
}
