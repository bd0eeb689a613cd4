// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Reads a batch stream, as a file or a pipe carries it: little-endian u32 length + that many bytes of one Kafka value.
 *
 * <p>Not thread-safe. The stream should be buffered; it is not closed here.
 */
public final class BatchStreamReader {
    /** Longest value that is believed; a probe's batches are hundreds of times shorter. */
    public static final int MAX_VALUE_BYTES = 16 << 20;

    private final InputStream in;
    private final byte[] prefix = new byte[Integer.BYTES];
    private byte[] buffer = new byte[64 << 10];
    private int length;

    /** What the next element of the stream is. */
    public enum Next {
        /** A value; its bytes are in the buffer. */
        VALUE,
        /** The stream ended behind a value, or was empty. */
        END,
        /** The stream ended inside a length or a value: the writer was killed, or the file is cut off. */
        CUT,
        /** The length is 0 or more than {@link #MAX_VALUE_BYTES}: this is no batch stream. */
        BAD_LENGTH
    }

    public BatchStreamReader(InputStream in) {
        this.in = in;
    }

    /** Reads on; after anything but {@link Next#VALUE} there is nothing more to be had. */
    public Next next() throws IOException {
        length = 0;
        int prefixBytes = in.readNBytes(prefix, 0, prefix.length);
        if (prefixBytes < prefix.length) {
            return prefixBytes == 0 ? Next.END : Next.CUT;
        }
        int announced = (prefix[0] & 0xff) | ((prefix[1] & 0xff) << 8) | ((prefix[2] & 0xff) << 16) | (prefix[3] << 24);
        if (announced <= 0 || announced > MAX_VALUE_BYTES) {
            return Next.BAD_LENGTH;
        }
        if (announced > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.max(announced, 2 * buffer.length));
        }
        length = in.readNBytes(buffer, 0, announced);
        return length == announced ? Next.VALUE : Next.CUT;
    }

    /** Holds the value from index 0; valid until the next call. */
    public byte[] buffer() {
        return buffer;
    }

    /** Bytes of the value; of a cut one, those that were there. */
    public int length() {
        return length;
    }
}
