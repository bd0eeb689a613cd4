// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * Decodes the bytes of one run into a {@link Run}. Reusable, not thread-safe; allocates nothing.
 *
 * <p>Bytes that are not a run are refused with the reason, never with an exception; what the run then holds means
 * nothing.
 */
public final class RunReader {
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;
    private static final int MAX_PORT = 0xffff;
    private static final int MAX_VLAN = 4095;
    private static final long MAX_TUNNEL = 0xffff_ffffL;
    private static final EndReason[] END_REASONS = EndReason.values();

    private final WireCursor cursor = new WireCursor();
    private final ColumnReader columns = new ColumnReader();
    private long addressUpper;
    private long addressLower;

    /** Decodes the whole run. */
    public DecodeStatus read(byte[] buffer, int offset, int length, Run into) {
        cursor.reset(buffer, offset, offset + length);
        readHeader(into);
        into.unknownColumns = 0;
        columns.reset(buffer);
        readColumnList(into);
        cursor.expectEnd(DecodeStatus.TRAILING_BYTES);
        return cursor.ok() ? columns.decode(into) : cursor.status();
    }

    /** Decodes what comes before the columns: key, VLAN, tunnel, times, end reason and number of packets. */
    public DecodeStatus readHeader(byte[] buffer, int offset, int length, Run into) {
        cursor.reset(buffer, offset, offset + length);
        readHeader(into);
        return cursor.status();
    }

    private void readHeader(Run run) {
        run.domain = cursor.intBetween(0, Integer.MAX_VALUE);
        readAddress();
        run.lowAddressUpper = addressUpper;
        run.lowAddressLower = addressLower;
        run.lowPort = cursor.intBetween(0, MAX_PORT);
        readAddress();
        run.highAddressUpper = addressUpper;
        run.highAddressLower = addressLower;
        run.highPort = cursor.intBetween(0, MAX_PORT);
        if (!endpointsAreOrdered(run)) {
            cursor.fail(DecodeStatus.BAD_VALUE);
        }
        run.vlanId = isPresent() ? cursor.intBetween(0, MAX_VLAN) : Run.NO_VLAN;
        run.tunnelId = isPresent() ? cursor.longBetween(0, MAX_TUNNEL) : Run.NO_TUNNEL;
        run.flowStartNs = cursor.zigzag();
        run.packetsBefore = cursor.longBetween(0, Long.MAX_VALUE);
        run.observedUntilNs = cursor.zigzag();
        run.endReason = END_REASONS[cursor.intBetween(0, END_REASONS.length - 1)];
        run.packets = cursor.intBetween(0, Run.MAX_PACKETS);
    }

    private void readAddress() {
        int bytes = cursor.length();
        if (bytes == IPV4_BYTES) {
            addressUpper = 0;
            addressLower = FlowKey.ipv4Lower(cursor.bigEndianInt());
        } else if (bytes == IPV6_BYTES) {
            addressUpper = cursor.bigEndianLong();
            addressLower = cursor.bigEndianLong();
        } else {
            cursor.fail(DecodeStatus.BAD_VALUE);
        }
    }

    /** The branch of a union whose other side is null. */
    private boolean isPresent() {
        return cursor.intBetween(0, 1) == 1;
    }

    private static boolean endpointsAreOrdered(Run run) {
        if (run.lowAddressUpper != run.highAddressUpper) {
            return Long.compareUnsigned(run.lowAddressUpper, run.highAddressUpper) < 0;
        }
        if (run.lowAddressLower != run.highAddressLower) {
            return Long.compareUnsigned(run.lowAddressLower, run.highAddressLower) < 0;
        }
        return run.lowPort <= run.highPort;
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
