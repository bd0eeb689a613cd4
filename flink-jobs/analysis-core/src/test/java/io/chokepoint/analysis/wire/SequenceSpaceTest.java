// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SequenceSpaceTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a smaller one is before,                    1,          2,          true",
        "none is before itself,                      7,          7,          false",
        "a larger one is not,                        2,          1,          false",
        "the last one is before 0,                   0xffffffff, 0,          true",
        "and 0 is not before the last,               0,          0xffffffff, false",
        "the signed wrap means nothing,              0x7fffffff, 0x80000000, true",
        "nor does it backwards,                      0x80000000, 0x7fffffff, false",
        "almost half the space ahead is still after, 0,          0x7fffffff, true",
    })
    void comparesModulo32Bits(String name, String a, String b, boolean expected) {
        assertThat(SequenceSpace.isBefore(number(a), number(b))).as(name).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the number itself,          5,          5,           5",
        "above within 32 bits,       100,        5,           100",
        "below within 32 bits,       5,          100,         5",
        "above across the wrap,      5,          0xfffffff0,  0x100000005",
        "below across the wrap,      0xfffffff0, 0x100000005, 0xfffffff0",
        "in a later turn,            7,          0x300000000, 0x300000007",
        "half a turn is taken below, 0x80000000, 0x300000000, 0x280000000",
    })
    void findsTheNearestNumber(String name, String number, String reference, String expected) {
        assertThat(SequenceSpace.unwrap(number(number), Long.decode(reference)))
                .as(name)
                .isEqualTo(Long.decode(expected));
    }

    private static int number(String text) {
        return Long.decode(text).intValue();
    }
}
