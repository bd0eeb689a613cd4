// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * Decodes the bytes of one run into a {@link Run}. Reusable, not thread-safe; allocates nothing.
 *
 * <p>Bytes that are not a run are refused with the reason, never with an exception; what the run then holds means
 * nothing.
 */
public final class RunReader {
    private static final EndReason[] END_REASONS = EndReason.values();

    private final WireCursor cursor = new WireCursor();
    private final PlaceReader place = new PlaceReader(cursor);
    private final ColumnReader columns = new ColumnReader();
    private int placeEnd;

    /** Decodes the whole run. */
    public DecodeStatus read(byte[] buffer, int offset, int length, Run into) {
        cursor.reset(buffer, offset, offset + length);
        readPlace(into);
        return readRest(buffer, into);
    }

    /** Decodes a further run of the flow that {@code into} holds a run of, from its bytes behind {@link #placeEnd}. */
    public DecodeStatus readAgain(byte[] buffer, int offset, int length, Run into) {
        cursor.reset(buffer, offset, offset + length);
        return readRest(buffer, into);
    }

    /** Where key, VLAN, tunnel and start of the flow ended, in the buffer of the run that was read last. */
    public int placeEnd() {
        return placeEnd;
    }

    private DecodeStatus readRest(byte[] buffer, Run into) {
        readPosition(into);
        into.unknownColumns = 0;
        columns.reset(buffer);
        readColumnList(into);
        cursor.expectEnd(DecodeStatus.TRAILING_BYTES);
        return cursor.ok() ? columns.decode(into) : cursor.status();
    }

    /** Decodes what comes before the columns: key, VLAN, tunnel, times, end reason and number of packets. */
    public DecodeStatus readHeader(byte[] buffer, int offset, int length, Run into) {
        cursor.reset(buffer, offset, offset + length);
        readPlace(into);
        readPosition(into);
        return cursor.status();
    }

    private void readPlace(Run run) {
        place.read(run);
        placeEnd = cursor.at();
    }

    private void readPosition(Run run) {
        run.packetsBefore = cursor.longBetween(0, Long.MAX_VALUE);
        run.observedUntilNs = cursor.zigzag();
        run.endReason = END_REASONS[cursor.intBetween(0, END_REASONS.length - 1)];
        run.packets = cursor.intBetween(0, Run.MAX_PACKETS);
    }

    private void readColumnList(Run run) {
        int lastId = 0;
        for (int count = cursor.openBlock(); count > 0; count = cursor.openBlock()) {
            int blockEnd = cursor.blockEnd();
            for (int i = 0; i < count && cursor.ok(); i++) {
                lastId = readColumn(run, lastId);
            }
            cursor.closeBlock(blockEnd);
        }
    }

    private int readColumn(Run run, int lastId) {
        int id = cursor.intBetween(1, ColumnReader.MAX_ID);
        int bytes = cursor.length();
        if (!cursor.ok()) {
            return lastId;
        }
        if (id <= lastId) {
            return cursor.fail(DecodeStatus.COLUMN_ORDER);
        }
        if (!columns.add(id, cursor.at(), bytes)) {
            run.unknownColumns++;
        }
        cursor.skip(bytes);
        return id;
    }
}
