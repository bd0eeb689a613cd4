// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.cli.rows.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    @Test
    void aTapCannotLeaveItsQuotes() {
        assertThat(Report.query(List.of("a", "b' OR '1'='1", "c\\")))
                .contains("WHERE tap IN ('a', 'b\\' OR \\'1\\'=\\'1', 'c\\\\') ORDER BY");
    }

    @Test
    void aLineOfTheAnswerIsAVerdict() {
        Verdict verdict = Report.verdict(String.join(
                "\t",
                "1500000000",
                "before",
                "10.0.1.1",
                "40000",
                "2001:db8::1",
                "5201",
                "server_to_client",
                "1000000",
                "7200000.5",
                "\\N",
                "\\N",
                "0.0201",
                "90",
                "receiver_window",
                "\\N",
                "0.997",
                "half of 50 %",
                "Raise the receiver\\'s socket buffer",
                ""));

        assertThat(verdict)
                .isEqualTo(new Verdict(
                        "before",
                        "10.0.1.1:40000",
                        "[2001:db8::1]:5201",
                        false,
                        1_000_000,
                        1.5,
                        7_200_000.5,
                        null,
                        false,
                        0.0201,
                        0.1,
                        "receiver_window",
                        "",
                        0.997,
                        "half of 50 %",
                        "Raise the receiver's socket buffer",
                        ""));
    }
}
