// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.chokepoint.analysis.row.RootCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times in the order application, send buffer, receiver window, unshared, shared, transport, unknown. */
class SharesTest {
    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "nothing was booked,                          0  0  0  0  0  0  0,     UNKNOWN",
        "the application all the time,                10 0  0  0  0  0  0,     APPLICATION",
        "the send buffer,                             0  10 0  0  0  0  0,     SEND_BUFFER",
        "the receiver's window,                       0  0  10 0  0  0  0,     RECEIVER_WINDOW",
        "congestion control,                          0  0  0  0  0  10 0,     TRANSPORT",
        "a path full of one flow is named later,      0  0  0  10 0  0  0,     BOTTLENECK",
        "as is one full of several,                   0  0  0  0  10 0  0,     BOTTLENECK",
        "both kinds of full path win together,        4  0  0  3  3  0  0,     BOTTLENECK",
        "half and a tenth ahead is enough,            50 0  40 0  0  0  10,    APPLICATION",
        "less than a tenth ahead is not,              50 0  41 0  0  0  9,     MIXED",
        "less than half is not,                       49 10 10 10 11 10 0,     MIXED",
        "half of it unknown says nothing,             50 0  0  0  0  0  50,    UNKNOWN",
        "a little less says something,                51 0  0  0  0  0  49,    APPLICATION",
        "both just so,                                50 0  0  0  0  1  49,    APPLICATION",
    })
    void theWinnerHoldsHalfOfTheTimeAndATenthMoreThanTheNext(String name, String times, RootCause expected) {
        assertThat(shares(times).winner()).as(name).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: {1}, {2}")
    @CsvSource({
        "1 2 3 4 5 6 99, 9, 6",
        "7 7 0 0 0 0 0,  7, 7",
        "0 0 0 0 0 0 5,  0, 0",
        "0 0 9 4 4 0 0,  9, 8",
    })
    void largestAndNextCountTheFullPathAsOneAndLeaveTheUnknownOut(String times, long largest, long second) {
        assertThat(shares(times).largest()).isEqualTo(largest);
        assertThat(shares(times).secondLargest()).isEqualTo(second);
    }

    @Test
    void partsAreOfTheWholeRow() {
        assertThat(shares("10 10 10 10 10 10 40").part(25)).isCloseTo(0.25, within(1e-12));
        assertThat(shares("0 0 0 0 0 0 0").part(25)).isZero();
    }

    static Shares shares(String times) {
        String[] parts = times.strip().split("\\s+");
        long[] nanos = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            nanos[i] = Long.parseLong(parts[i]);
        }
        return new Shares(nanos[0], nanos[1], nanos[2], nanos[3], nanos[4], nanos[5], nanos[6]);
    }
}
