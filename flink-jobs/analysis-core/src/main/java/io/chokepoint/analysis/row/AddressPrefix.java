// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.util.ArrayList;
import java.util.List;

/**
 * A prefix of IPv6 addresses; of IPv4 addresses, which are mapped, it is one of 96 bits more.
 *
 * @param high first 8 bytes of its first address
 * @param low last 8 bytes of it
 * @param bits 0..128
 */
record AddressPrefix(long high, long low, int bits) {
    private static final long IPV4_MAPPED = 0xffff_0000_0000L;
    private static final int IPV6_BITS = 128;
    private static final int IPV4_BITS = 32;
    private static final int GROUPS = 8;
    private static final int GROUP_BITS = 16;
    private static final int HEX = 16;

    /** An address at which the owner of addresses may change. */
    record Edge(long high, long low) implements Comparable<Edge> {
        @Override
        public int compareTo(Edge other) {
            return AddressPrefix.compare(high, low, other.high, other.low);
        }
    }

    /** As unsigned numbers of 128 bits. */
    static int compare(long high, long low, long otherHigh, long otherLow) {
        int byHigh = Long.compareUnsigned(high, otherHigh);
        return byHigh != 0 ? byHigh : Long.compareUnsigned(low, otherLow);
    }

    /** @throws IllegalArgumentException if it is none, with what was expected */
    static AddressPrefix parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        boolean isIpv4 = address.indexOf(':') < 0;
        long[] halves = isIpv4 ? ipv4(address, text) : ipv6(address, text);
        int longest = isIpv4 ? IPV4_BITS : IPV6_BITS;
        int length = slash < 0 ? longest : number(text.substring(slash + 1), 10, longest, text);
        int bits = isIpv4 ? IPV6_BITS - IPV4_BITS + length : length;
        AddressPrefix prefix = new AddressPrefix(halves[0] & highMask(bits), halves[1] & lowMask(bits), bits);
        if (prefix.high != halves[0] || prefix.low != halves[1]) {
            throw new IllegalArgumentException("'" + text + "' has bits behind its length: expected zeros there");
        }
        return prefix;
    }

    private static long[] ipv4(String address, String text) {
        String[] parts = address.split("\\.", -1);
        if (parts.length != Integer.BYTES) {
            throw noPrefix(text);
        }
        long value = 0;
        for (String part : parts) {
            value = value << Byte.SIZE | number(part, 10, 0xff, text);
        }
        return new long[] {0, IPV4_MAPPED | value};
    }

    private static long[] ipv6(String address, String text) {
        int gap = address.indexOf("::");
        List<Integer> before = groups(gap < 0 ? address : address.substring(0, gap), text);
        List<Integer> after = gap < 0 ? List.of() : groups(address.substring(gap + 2), text);
        int missing = GROUPS - before.size() - after.size();
        if (gap < 0 ? missing != 0 : missing < 1) {
            throw noPrefix(text);
        }
        List<Integer> all = new ArrayList<>(before);
        for (int i = 0; i < missing; i++) {
            all.add(0);
        }
        all.addAll(after);
        long[] halves = new long[2];
        for (int i = 0; i < GROUPS; i++) {
            halves[i / 4] = halves[i / 4] << GROUP_BITS | all.get(i);
        }
        return halves;
    }

    private static List<Integer> groups(String text, String whole) {
        List<Integer> groups = new ArrayList<>();
        for (String group : text.isEmpty() ? new String[0] : text.split(":", -1)) {
            groups.add(number(group, HEX, 0xffff, whole));
        }
        return groups;
    }

    private static int number(String digits, int radix, int max, String text) {
        try {
            int value = digits.matches("[0-9a-fA-F]{1,4}") ? Integer.parseInt(digits, radix) : -1;
            if (value >= 0 && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw noPrefix(text);
    }

    private static IllegalArgumentException noPrefix(String text) {
        return new IllegalArgumentException(
                "'" + text + "' is no prefix: expected one such as 192.0.2.0/24 or 2001:db8::/32");
    }

    /** Where it begins, and where the addresses behind it do if there are any. */
    List<Edge> edges() {
        Edge begin = new Edge(high, low);
        long lastHigh = high | ~highMask(bits);
        long lastLow = low | ~lowMask(bits);
        if (lastHigh == -1 && lastLow == -1) {
            return List.of(begin);
        }
        return List.of(begin, new Edge(lastLow == -1 ? lastHigh + 1 : lastHigh, lastLow + 1));
    }

    boolean holds(Edge address) {
        return (address.high & highMask(bits)) == high && (address.low & lowMask(bits)) == low;
    }

    private static long highMask(int bits) {
        return bits == 0 ? 0 : bits >= Long.SIZE ? -1 : -1L << (Long.SIZE - bits);
    }

    private static long lowMask(int bits) {
        return bits <= Long.SIZE ? 0 : -1L << (IPV6_BITS - bits);
    }
}
