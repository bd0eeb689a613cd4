// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * Reads Avro's binary forms from a slice of bytes and never beyond it.
 *
 * <p>The first bad byte sets the status and moves the cursor to the end: every later read yields 0. So callers read
 * ahead and ask {@link #ok()} where a loop or a decision depends on it, and any loop that consumes bytes ends.
 */
final class WireCursor {
    private static final byte[] EMPTY = {};
    private static final int SIZE_NOT_GIVEN = -1;
    private static final int LAST_SHIFT = 63; // the tenth byte of a 64-bit integer has one bit left

    private byte[] buffer = EMPTY;
    private int at;
    private int end;
    private int blockEnd;
    private DecodeStatus status = DecodeStatus.OK;

    /** Starts over with the bytes {@code from} (inclusive) to {@code to}. */
    void reset(byte[] bytes, int from, int to) {
        buffer = bytes;
        at = from;
        end = to;
        status = DecodeStatus.OK;
    }

    boolean ok() {
        return status == DecodeStatus.OK;
    }

    DecodeStatus status() {
        return status;
    }

    int at() {
        return at;
    }

    int remaining() {
        return end - at;
    }

    /** Refuses the bytes; the first reason stays. Returns 0, so that a read can end with it. */
    int fail(DecodeStatus reason) {
        if (status == DecodeStatus.OK) {
            status = reason;
        }
        at = end;
        return 0;
    }

    /** Fails unless every byte was read. */
    void expectEnd(DecodeStatus reason) {
        if (at != end) {
            fail(reason);
        }
    }

    /** One byte, 0..255. */
    int unsignedByte() {
        return at < end ? buffer[at++] & 0xff : fail(DecodeStatus.TRUNCATED);
    }

    /** An unsigned integer, 7 bits a byte, least significant first. */
    long varint() {
        if (at < end && buffer[at] >= 0) {
            return buffer[at++];
        }
        return longVarint();
    }

    private long longVarint() {
        long value = 0;
        for (int shift = 0; at < end; shift += 7) {
            byte next = buffer[at++];
            if (shift == LAST_SHIFT && (next & ~1) != 0) {
                return fail(DecodeStatus.BAD_VARINT);
            }
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        return fail(DecodeStatus.TRUNCATED);
    }

    /** Avro's long. */
    long zigzag() {
        long raw = varint();
        return (raw >>> 1) ^ -(raw & 1);
    }

    /** Avro's int in a range; 0 if it fails, whatever the range. */
    int intBetween(int least, int most) {
        long value = zigzag();
        if (value != (int) value) {
            return fail(DecodeStatus.BAD_VARINT);
        }
        if (value < least || value > most) {
            return fail(DecodeStatus.BAD_VALUE);
        }
        return (int) value;
    }

    /** Avro's long in a range; 0 if it fails, whatever the range. */
    long longBetween(long least, long most) {
        long value = zigzag();
        if (value < least || value > most) {
            return fail(DecodeStatus.BAD_VALUE);
        }
        return value;
    }

    /** Whether a union holds a value, and not null, its first branch. */
    boolean isPresent() {
        return intBetween(0, 1) == 1;
    }

    /** The length of the bytes or text that follow, all of which are there. */
    int length() {
        long length = zigzag();
        if (length < 0) {
            return fail(DecodeStatus.BAD_LENGTH);
        }
        return length > remaining() ? fail(DecodeStatus.TRUNCATED) : (int) length;
    }

    /** Passes over bytes that {@link #length()} has vouched for. */
    void skip(int bytes) {
        at += bytes;
    }

    /** Eight bytes, big-endian; the caller knows that they are there. */
    long bigEndianLong() {
        return ((long) bigEndianInt() << Integer.SIZE) | Integer.toUnsignedLong(bigEndianInt());
    }

    /** Four bytes, big-endian; the caller knows that they are there. */
    int bigEndianInt() {
        int value = (buffer[at] << 24)
                | ((buffer[at + 1] & 0xff) << 16)
                | ((buffer[at + 2] & 0xff) << 8)
                | (buffer[at + 3] & 0xff);
        at += Integer.BYTES;
        return value;
    }

    /**
     * Opens the next block of an array and returns how many items it has; 0 after the last block.
     *
     * <p>A negative count is followed by the size of the block in bytes. Every item of this schema takes at least one
     * byte, so a count beyond the bytes left is a lie and not worth a loop.
     */
    int openBlock() {
        long count = zigzag();
        int limit = end;
        blockEnd = SIZE_NOT_GIVEN;
        if (count < 0) {
            count = -count;
            int size = length();
            limit = at + size;
            blockEnd = limit;
        }
        return count < 0 || count > limit - at ? fail(DecodeStatus.BAD_LENGTH) : (int) count;
    }

    /** Where the block opened last says it ends; to be handed to {@link #closeBlock}. */
    int blockEnd() {
        return blockEnd;
    }

    /** Fails if a block did not end where it said it would. */
    void closeBlock(int expectedEnd) {
        if (expectedEnd != SIZE_NOT_GIVEN && at != expectedEnd) {
            fail(DecodeStatus.BAD_LENGTH);
        }
    }
}
