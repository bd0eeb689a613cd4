// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.Restored;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VarintTest {
    @ParameterizedTest(name = "{0} is written as {1}")
    @CsvSource({
        "0,                    00",
        "-1,                   01",
        "1,                    02",
        "63,                   7e",
        "-64,                  7f",
        "64,                   8001",
        "9223372036854775807,  feffffffffffffffff01",
        "-9223372036854775808, ffffffffffffffffff01",
    })
    void numbersNearZeroAreShort(long value, String bytes) {
        assertThat(HexFormat.of().formatHex(Restored.bytes(out -> Varint.write(out, value))))
                .isEqualTo(bytes);
    }

    @Test
    void zerosOfAnArrayTakeNoRoom() {
        long[] values = new long[100];
        values[3] = 5;
        values[4] = -1;

        // Three zeros, 5; no zero, -1; the end.
        assertThat(Restored.bytes(out -> Varint.writeSparse(out, values))).containsExactly(6, 10, 0, 1, 1);
    }

    @Test
    void aNumberWithoutEndIsRefused() {
        assertThatThrownBy(() -> Varint.read(input("ffffffffffffffffffffff")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("10 bytes");
    }

    @Test
    void aNumberCutOffIsRefused() {
        assertThatThrownBy(() -> Varint.read(input("ffff"))).isInstanceOf(EOFException.class);
    }

    @Test
    void anIntBeyondItsRangeIsRefused() {
        byte[] bytes = Restored.bytes(out -> Varint.write(out, 1L << 31));

        assertThatThrownBy(() -> Varint.readInt(new DataInputStream(new ByteArrayInputStream(bytes))))
                .isInstanceOf(ArithmeticException.class);
    }

    private static DataInputStream input(String hexadecimal) {
        return new DataInputStream(new ByteArrayInputStream(HexFormat.of().parseHex(hexadecimal)));
    }
}
