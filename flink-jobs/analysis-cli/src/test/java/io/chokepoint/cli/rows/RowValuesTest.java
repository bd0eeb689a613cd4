// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.Row.Table;
import io.chokepoint.analysis.row.RowField;
import org.junit.jupiter.api.Test;

class RowValuesTest {
    private final Row row = RowExamples.receiverWindow(Table.LIMITATION_INTERVALS);

    @Test
    void flowIdsAreSixteenHexDigits() {
        assertThat(RowValues.of(row, RowField.FLOW_ID)).isEqualTo("00000000000000ff");
    }

    @Test
    void instantsAreTextsWithNineDecimals() {
        assertThat(RowValues.of(row, RowField.INTERVAL_START)).isEqualTo("2023-11-14T22:13:20.000000000Z");
    }

    @Test
    void aRateMultipliesBeforeItDivides() {
        row.set(RowField.INTERVAL_END, row.get(RowField.INTERVAL_START) + 333_333_333L);
        row.set(RowField.GOODPUT_BITS_PER_SECOND, 1_234_570);

        assertThat(RowValues.of(row, RowField.GOODPUT_BITS_PER_SECOND)).isEqualTo(2.962968002962968E7);
    }

    @Test
    void aShareIsAPartOfTheInterval() {
        assertThat(RowValues.of(row, RowField.SHARE_RECEIVER_WINDOW)).isEqualTo(0.96);
    }

    @Test
    void aScaledValueIsDivided() {
        assertThat(RowValues.of(row, RowField.RTT_MIN_SECONDS)).isEqualTo(0.0201);
    }

    @Test
    void efficiencyIsThePartThatWasSentOnce() {
        assertThat(RowValues.of(row, RowField.EFFICIENCY_PERCENT)).isEqualTo(90.0);
    }

    @Test
    void efficiencyOfNoDataIsNotKnown() {
        row.set(RowField.DATA_BYTES, 0);

        assertThat(RowValues.of(row, RowField.EFFICIENCY_PERCENT)).isNull();
    }

    @Test
    void theThroughputRatioComparesWithAProvenCapacity() {
        assertThat(RowValues.of(row, RowField.THROUGHPUT_RATIO_PERCENT)).isEqualTo(84.0);
    }

    @Test
    void theThroughputRatioToALowerBoundIsNotKnown() {
        row.set(RowField.CAPACITY_KIND, CapacityKind.LOWER_BOUND);

        assertThat(RowValues.of(row, RowField.THROUGHPUT_RATIO_PERCENT)).isNull();
    }

    @Test
    void nothingIsDividedByAnIntervalWithoutLength() {
        row.set(RowField.INTERVAL_END, row.get(RowField.INTERVAL_START));

        assertThat(RowValues.of(row, RowField.SHARE_RECEIVER_WINDOW)).isNull();
        assertThat(RowValues.of(row, RowField.GOODPUT_BITS_PER_SECOND)).isNull();
        assertThat(RowValues.of(row, RowField.THROUGHPUT_RATIO_PERCENT)).isNull();
    }

    @Test
    void flagsAreLabelsInTheOrderOfTheirBits() {
        assertThat(RowValues.of(RowExamples.unknown(Table.FLOWS), RowField.QUALITY))
                .isEqualTo("syn_missed,hole");
    }

    @Test
    void sentencesHoldTheirNumbers() {
        assertThat(RowValues.of(row, RowField.EVIDENCE))
                .isEqualTo("the window of 64 KB was full for 96 % of the time, lowest round trip 20100 us");
        assertThat(RowValues.of(row, RowField.ADVICE))
                .isEqualTo("Raise the receiver's socket buffer (SO_RCVBUF, tcp_rmem) to at least 250 KB.");
    }

    @Test
    void aRowThatKnowsNothingHasNoSentences() {
        Row unknown = RowExamples.unknown(Table.FLOWS);

        assertThat(RowValues.of(unknown, RowField.EVIDENCE)).isEqualTo("");
        assertThat(RowValues.of(unknown, RowField.ADVICE)).isEqualTo("");
        assertThat(RowValues.of(unknown, RowField.VLAN)).isNull();
        assertThat(RowValues.of(unknown, RowField.RTT_MIN_SECONDS)).isNull();
        assertThat(RowValues.of(unknown, RowField.SUB_CAUSE)).isNull();
    }
}
