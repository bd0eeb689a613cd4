// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/**
 * What the sender's application writes: so many bytes, every so often, up to a total.
 *
 * @param bytes of one write
 * @param periodNs time between two writes
 * @param totalBytes the flow ends with a FIN once they are acknowledged
 */
public record Application(long bytes, long periodNs, long totalBytes) {
    private static final long ENDLESS_BYTES = 1L << 60;

    /** Writes whenever it may, until the end of the simulation. */
    public static final Application BULK = new Application(ENDLESS_BYTES, Long.MAX_VALUE, ENDLESS_BYTES);

    /** One transfer, as fast as possible. */
    public static Application transfer(long totalBytes) {
        return new Application(totalBytes, Long.MAX_VALUE, totalBytes);
    }

    /** Periodic writes until the end of the simulation. */
    public static Application periodic(long bytes, long periodNs) {
        return new Application(bytes, periodNs, ENDLESS_BYTES);
    }

    /** Bytes that the application has wanted to write so far. */
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
