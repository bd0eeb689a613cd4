// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/**
 * What the sender's application writes: so many bytes, every so often, up to a total; or in answer to each request.
 *
 * @param bytes of one write
 * @param periodNs time between two writes
 * @param totalBytes the flow ends with a FIN once they are acknowledged
 * @param answers whether a write answers a request, instead of coming by the clock
 * @param thinkNs between a request and its answer
 * @param pauseNs between an answer and the next request
 */
public record Application(long bytes, long periodNs, long totalBytes, boolean answers, long thinkNs, long pauseNs) {
    static final int REQUEST_BYTES = 300;

    private static final long ENDLESS_BYTES = 1L << 60;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    /** Writes whenever it may, until the end of the simulation. */
    public static final Application BULK = byClock(ENDLESS_BYTES, Long.MAX_VALUE, ENDLESS_BYTES);

    /** One transfer, as fast as possible. */
    public static Application transfer(long totalBytes) {
        return byClock(totalBytes, Long.MAX_VALUE, totalBytes);
    }

    /** Periodic writes until the end of the simulation. */
    public static Application periodic(long bytes, long periodNs) {
        return byClock(bytes, periodNs, ENDLESS_BYTES);
    }

    /** Messages of this size at a steady rate of payload. */
    public static Application paced(long messageBytes, double bitsPerSecond) {
        return periodic(messageBytes, Math.round(messageBytes * BITS_PER_BYTE / bitsPerSecond * NANOS_PER_SECOND));
    }

    /** An answer to each request of the client; for scenarios in which the server sends. */
    public static Application answering(long bytes, long thinkNs, long pauseNs) {
        return new Application(bytes, Long.MAX_VALUE, ENDLESS_BYTES, true, thinkNs, pauseNs);
    }

    private static Application byClock(long bytes, long periodNs, long totalBytes) {
        return new Application(bytes, periodNs, totalBytes, false, 0, 0);
    }

    /** Bytes that the application has wanted to write so far, if it writes by the clock. */
    long wantedBytes(long sinceStartNs) {
        long writes = sinceStartNs / periodNs + 1;
        return bytes >= totalBytes / writes ? totalBytes : bytes * writes;
    }

    /** Time from one instant to the next write; {@link Long#MAX_VALUE} if none follows. */
    long untilNextWriteNs(long sinceStartNs) {
        boolean isLast = periodNs == Long.MAX_VALUE || wantedBytes(sinceStartNs) == totalBytes;
        return isLast ? Long.MAX_VALUE : periodNs - sinceStartNs % periodNs;
    }
}
