// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.batch.FlowKey;

/** Addresses as texts: IPv4 with dots, IPv6 as RFC 5952 §4 wants it. */
public final class AddressText {
    private static final int GROUPS = 8;
    private static final int GROUPS_PER_HALF = 4;

    private AddressText() {}

    /** The text of 16 bytes in two halves; {@code ::ffff:a.b.c.d} is IPv4. */
    public static String of(long upper, long lower) {
        return FlowKey.isIpv4(upper, lower) ? ipv4((int) lower) : ipv6(upper, lower);
    }

    private static String ipv4(int address) {
        return (address >>> 24) + "." + (address >>> 16 & 0xff) + "." + (address >>> 8 & 0xff) + "." + (address & 0xff);
    }

    private static String ipv6(long upper, long lower) {
        int longestStart = 0;
        int longestLength = 1; // RFC 5952 §4.2.2: a single zero group is not shortened.
        for (int i = 0, length = 0; i < GROUPS; i++) {
            length = group(upper, lower, i) == 0 ? length + 1 : 0;
            if (length > longestLength) {
                longestLength = length;
                longestStart = i - length + 1;
            }
        }

        if (longestLength == 1) {
            return groups(upper, lower, 0, GROUPS);
        }
        return groups(upper, lower, 0, longestStart)
                + "::"
                + groups(upper, lower, longestStart + longestLength, GROUPS);
    }

    private static String groups(long upper, long lower, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(group(upper, lower, i)));
        }
        return text.toString();
    }

    private static int group(long upper, long lower, int index) {
        long half = index < GROUPS_PER_HALF ? upper : lower;
        int shift = Short.SIZE * (GROUPS_PER_HALF - 1 - index % GROUPS_PER_HALF);
        return (int) (half >>> shift) & 0xffff;
    }
}
