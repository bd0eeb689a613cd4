// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/** Decodes the fields with which runs and summaries begin: key, VLAN, tunnel and start of the flow. */
final class PlaceReader {
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;
    private static final int MAX_PORT = 0xffff;
    private static final int MAX_VLAN = 4095;
    private static final long MAX_TUNNEL = 0xffff_ffffL;

    private final WireCursor cursor;
    private long addressUpper;
    private long addressLower;

    PlaceReader(WireCursor cursor) {
        this.cursor = cursor;
    }

    void read(Run run) {
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
        run.vlanId = cursor.isPresent() ? cursor.intBetween(0, MAX_VLAN) : Run.NO_VLAN;
        run.tunnelId = cursor.isPresent() ? cursor.longBetween(0, MAX_TUNNEL) : Run.NO_TUNNEL;
        run.flowStartNs = cursor.zigzag();
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

    private static boolean endpointsAreOrdered(Run run) {
        if (run.lowAddressUpper != run.highAddressUpper) {
            return Long.compareUnsigned(run.lowAddressUpper, run.highAddressUpper) < 0;
        }
        if (run.lowAddressLower != run.highAddressLower) {
            return Long.compareUnsigned(run.lowAddressLower, run.highAddressLower) < 0;
        }
        return run.lowPort <= run.highPort;
    }
}
