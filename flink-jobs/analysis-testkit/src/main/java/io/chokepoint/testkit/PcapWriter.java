// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes frames of one link type to a little-endian pcap file with nanoseconds, in the order in which they come. */
public final class PcapWriter implements AutoCloseable {
    public static final int ETHERNET = 1;

    private static final int MAGIC_NANOS = 0xa1b23c4d;
    private static final short MAJOR = 2;
    private static final short MINOR = 4;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final OutputStream out;

    /**
     * Opens the file anew.
     *
     * @param snapBytes what the file says to hold of a frame at most
     */
    public PcapWriter(Path file, int linkType, int snapBytes) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES);
        out.write(littleEndian(FILE_HEADER_BYTES)
                .putInt(MAGIC_NANOS)
                .putShort(MAJOR)
                .putShort(MINOR)
                .putLong(0)
                .putInt(snapBytes)
                .putInt(linkType)
                .array());
    }

    /**
     * Adds a frame.
     *
     * @param timeNs since the epoch
     * @param captured what remains in it is what was captured of the frame
     * @param wireBytes its length on the wire
     */
    public void write(long timeNs, ByteBuffer captured, int wireBytes) throws IOException {
        byte[] bytes = new byte[captured.remaining()];
        captured.duplicate().get(bytes);
        out.write(littleEndian(RECORD_HEADER_BYTES)
                .putInt((int) (timeNs / NANOS_PER_SECOND))
                .putInt((int) (timeNs % NANOS_PER_SECOND))
                .putInt(bytes.length)
                .putInt(wireBytes)
                .array());
        out.write(bytes);
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
