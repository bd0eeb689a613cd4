// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Decodes the bytes of one {@link Summary}. Reusable, not thread-safe.
 *
 * <p>Bytes that are not a summary are refused with the reason, never with an exception.
 */
public final class SummaryReader {
    private static final long MAX_SEQUENCE_NUMBER = 0xffff_ffffL;
    private static final int MAX_BYTES = 0xff_ffff;
    private static final int MAX_16_BITS = 0xffff;
    private static final EndReason[] END_REASONS = EndReason.values();

    private final WireCursor cursor = new WireCursor();
    private final PlaceReader placeReader = new PlaceReader(cursor);
    private final Run place = new Run();
    private @Nullable Summary summary;

    /** Decodes the whole summary; if it is OK, {@link #summary()} is what was read. */
    public DecodeStatus read(byte[] buffer, int offset, int length) {
        cursor.reset(buffer, offset, offset + length);
        placeReader.read(place);
        long durationNs = cursor.longBetween(0, Long.MAX_VALUE);
        long quietNs = cursor.longBetween(0, Long.MAX_VALUE - durationNs);
        require(place.flowStartNs <= Long.MAX_VALUE - durationNs - quietNs);
        EndReason endReason = END_REASONS[cursor.intBetween(0, END_REASONS.length - 1)];
        int client = cursor.isPresent() ? cursor.intBetween(0, 1) : Summary.UNKNOWN;
        boolean isNamed = cursor.isPresent();
        require(isNamed == (client != Summary.UNKNOWN));
        int clientSequenceNumber = isNamed ? (int) cursor.longBetween(0, MAX_SEQUENCE_NUMBER) : 0;
        int syns = cursor.intBetween(0, Run.MAX_PACKETS);
        long serverDelayNs = readDelay();
        long clientDelayNs = readDelay();
        require((serverDelayNs == Summary.UNKNOWN) == (clientDelayNs == Summary.UNKNOWN));
        require(serverDelayNs <= durationNs && clientDelayNs <= durationNs);
        Summary.Sent low = readSent();
        Summary.Sent high = readSent();
        int packets = low.packets() + high.packets();
        require(packets > 0 && packets <= Run.MAX_PACKETS);
        cursor.expectEnd(DecodeStatus.TRAILING_BYTES);
        summary = new Summary(
                place.key(),
                place.vlanId,
                place.tunnelId,
                place.flowStartNs,
                durationNs,
                quietNs,
                endReason,
                client,
                clientSequenceNumber,
                syns,
                serverDelayNs,
                clientDelayNs,
                low,
                high);
        return cursor.status();
    }

    /** What was read last. */
    public Summary summary() {
        return requireNonNull(summary, "nothing read");
    }

    private void require(boolean isPlausible) {
        if (!isPlausible) {
            cursor.fail(DecodeStatus.BAD_VALUE);
        }
    }

    private long readDelay() {
        return cursor.isPresent() ? cursor.longBetween(0, Long.MAX_VALUE) : Summary.UNKNOWN;
    }

    private Summary.Sent readSent() {
        int packets = cursor.intBetween(0, Run.MAX_PACKETS);
        int dataPackets = cursor.intBetween(0, packets);
        int dataBytes = cursor.intBetween(0, MAX_BYTES);
        int headerBytes = cursor.intBetween(0, MAX_BYTES);
        int acknowledgedBytes = cursor.intBetween(0, Integer.MAX_VALUE);
        int largestDataBytes = cursor.intBetween(0, MAX_16_BITS);
        int fullPackets = cursor.intBetween(0, dataPackets);
        int maximumSegmentSize = cursor.intBetween(0, MAX_16_BITS);
        int flags = cursor.intBetween(0, Integer.MAX_VALUE);
        require(dataPackets > 0 ? largestDataBytes > 0 : dataBytes == 0);
        require(dataBytes >= largestDataBytes && dataBytes <= (long) dataPackets * largestDataBytes);
        return new Summary.Sent(
                packets,
                dataPackets,
                dataBytes,
                headerBytes,
                acknowledgedBytes,
                largestDataBytes,
                fullPackets,
                maximumSegmentSize,
                flags);
    }
}
