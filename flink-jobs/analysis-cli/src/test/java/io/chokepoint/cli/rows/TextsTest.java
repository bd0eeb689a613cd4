// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextsTest {
    @ParameterizedTest
    @CsvSource({
        "0,                 0000ffff0a000001, 10.0.0.1",
        "0,                 0000ffffffffffff, 255.255.255.255",
        "0,                 0,                ::",
        "0,                 1,                ::1",
        "20010db800000000,  1,                2001:db8::1",
        "20010db800000001,  0001000100010001, 2001:db8:0:1:1:1:1:1", // RFC 5952 §4.2.2
        "2001000000000001,  0000000000000001, 2001:0:0:1::1", // §4.2.3: the longest run
        "20010db800000000,  0001000000000001, 2001:db8::1:0:0:1", // §4.2.3: the first of equal runs
        "fe80000000000000,  abcdef0000000000, fe80::abcd:ef00:0:0",
        "1,                 0,                0:0:0:1::",
    })
    void addressesFollowRfc5952(String upper, String lower, String text) {
        assertThat(AddressText.of(Long.parseUnsignedLong(upper, 16), Long.parseUnsignedLong(lower, 16)))
                .isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0,                    1970-01-01T00:00:00.000000000Z",
        "1,                    1970-01-01T00:00:00.000000001Z",
        "-1,                   1969-12-31T23:59:59.999999999Z",
        "4291747200000000000,  2106-01-01T00:00:00.000000000Z",
        "9223372036854775807,  2262-04-11T23:47:16.854775807Z",
    })
    void instantsAreRfc3339(long epochNanos, String text) {
        assertThat(InstantText.of(epochNanos)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0,        0",
        "-0.0,     0",
        "1,        1",
        "2.0E-3,   0.002", // Java 17 says 0.0020 in scientific notation
        "2.0E-9,   0.000000002",
        "0.1,      0.1",
        "1E11,     100000000000",
        "1.5,      1.5",
        "-1.5,     -1.5",
        "9007199254740993, 9007199254740992",
        "1e17, 100000000000000000",
    })
    void doublesAreShort(double number, String text) {
        assertThat(NumberText.of(number)).isEqualTo(text);
    }

    @Test
    void doublesReadBackAsTheyWere() {
        Random random = new Random(7);
        for (int i = 0; i < 100_000; i++) {
            double number = random.nextInt(1_000_000_000) * 8e9 / (1 + random.nextInt(1_000_000_000));

            assertThat(Double.parseDouble(NumberText.of(number))).isEqualTo(number);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0,          0 B",
        "999,        999 B",
        "1000,       1.00 KB",
        "9994,       9.99 KB",
        "9995,       10.0 KB",
        "99949,      99.9 KB",
        "99950,      100 KB",
        "999499,     999 KB",
        "999500,     1.00 MB",
        "12300000,   12.3 MB",
    })
    void bytesHaveThreeDigits(double bytes, String text) {
        assertThat(UnitText.bytes(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0.0201, 20.1 ms", "1, 1.00 s", "59.94, 59.9 s", "3600, 3600 s", "0.00000841, 8.41 us"})
    void durationsHaveThreeDigits(double seconds, String text) {
        assertThat(UnitText.seconds(seconds)).isEqualTo(text);
    }
}
