// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing buffer in ClickHouse's RowBinary: integers little-endian, texts behind their LEB128 length. */
final class RowBinary {
    private static final VarHandle SHORT = littleEndian(short[].class);
    private static final VarHandle INT = littleEndian(int[].class);
    private static final VarHandle LONG = littleEndian(long[].class);
    private static final VarHandle LONG_IN_NETWORK_ORDER =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final int VARINT_BITS = 7;
    private static final int VARINT_MORE = 0x80;

    private byte[] bytes = new byte[1024];
    private int length;

    private static VarHandle littleEndian(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
    }

    /** Empty again. */
    RowBinary reset() {
        length = 0;
        return this;
    }

    /** What was put since {@link #reset}. */
    byte[] toByteArray() {
        return Arrays.copyOf(bytes, length);
    }

    RowBinary putByte(int value) {
        reserve(Byte.BYTES);
        bytes[length++] = (byte) value;
        return this;
    }

    RowBinary putShort(int value) {
        reserve(Short.BYTES);
        SHORT.set(bytes, length, (short) value);
        length += Short.BYTES;
        return this;
    }

    RowBinary putInt(int value) {
        reserve(Integer.BYTES);
        INT.set(bytes, length, value);
        length += Integer.BYTES;
        return this;
    }

    RowBinary putLong(long value) {
        reserve(Long.BYTES);
        LONG.set(bytes, length, value);
        length += Long.BYTES;
        return this;
    }

    /** Half of an IPv6 address. */
    RowBinary putLongInNetworkOrder(long value) {
        reserve(Long.BYTES);
        LONG_IN_NETWORK_ORDER.set(bytes, length, value);
        length += Long.BYTES;
        return this;
    }

    /** A FixedString(16) of lower-case hexadecimal digits. */
    RowBinary putHex(long value) {
        reserve(Long.BYTES * 2);
        for (int shift = Long.SIZE - 4; shift >= 0; shift -= 4) {
            bytes[length++] = (byte) Character.forDigit((int) (value >>> shift) & 0xf, 16);
        }
        return this;
    }

    RowBinary putString(String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        putLength(text.length);
        reserve(text.length);
        System.arraycopy(text, 0, bytes, length, text.length);
        length += text.length;
        return this;
    }

    /** Of the text or array whose elements follow. */
    RowBinary putLength(int length) {
        int rest = length;
        while (rest >= VARINT_MORE) {
            putByte(rest | VARINT_MORE);
            rest >>>= VARINT_BITS;
        }
        return putByte(rest);
    }

    private void reserve(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
