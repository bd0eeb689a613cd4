// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * What tells flows apart, the same for both directions and at every tap.
 *
 * <p>An address is 16 bytes, IPv4 as {@code ::ffff:a.b.c.d}, in two halves: {@code Upper} holds the first eight bytes in
 * network order, {@code Lower} the last eight. The low endpoint comes first by (address, port), both unsigned.
 *
 * @param domain address space, 0..2^31-1
 * @param lowPort 0..65535
 * @param highPort 0..65535
 */
public record FlowKey(
        int domain,
        long lowAddressUpper,
        long lowAddressLower,
        int lowPort,
        long highAddressUpper,
        long highAddressLower,
        int highPort) {
    private static final long IPV4_PREFIX = 0xffff_0000_0000L;

    /** The same on every machine and for every Java: it decides where state lives. */
    @Override
    public int hashCode() {
        return Long.hashCode(FlowHash.of(this, 0));
    }

    /** The key of two endpoints, whichever is the lower one. */
    public static FlowKey between(int domain, Endpoint one, Endpoint other) {
        boolean ordered = one.compareTo(other) <= 0;
        Endpoint low = ordered ? one : other;
        Endpoint high = ordered ? other : one;
        return new FlowKey(
                domain,
                low.addressUpper(),
                low.addressLower(),
                low.port(),
                high.addressUpper(),
                high.addressLower(),
                high.port());
    }

    /** Lower half of the 16-byte form of an IPv4 address, whose upper half is 0. */
    public static long ipv4Lower(int address) {
        return IPV4_PREFIX | Integer.toUnsignedLong(address);
    }

    /** Whether the 16-byte form holds an IPv4 address. */
    public static boolean isIpv4(long addressUpper, long addressLower) {
        return addressUpper == 0 && addressLower >>> Integer.SIZE == IPV4_PREFIX >>> Integer.SIZE;
    }

    /**
     * One end of a flow.
     *
     * @param addressUpper first eight bytes of the address
     * @param addressLower last eight bytes of the address
     * @param port 0..65535
     */
    public record Endpoint(long addressUpper, long addressLower, int port) implements Comparable<Endpoint> {
        @Override
        public int compareTo(Endpoint other) {
            int byUpper = Long.compareUnsigned(addressUpper, other.addressUpper);
            if (byUpper != 0) {
                return byUpper;
            }
            int byLower = Long.compareUnsigned(addressLower, other.addressLower);
            return byLower != 0 ? byLower : Integer.compare(port, other.port);
        }
    }
}
