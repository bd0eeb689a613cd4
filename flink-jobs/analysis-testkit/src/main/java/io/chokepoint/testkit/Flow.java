// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Two endpoints, A and B, and what else a probe knows of their flow.
 *
 * @param domain address space, 0..2^31-1
 * @param vlanId 0..4095 or null
 * @param tunnelId 0..2^32-1 or null
 */
public record Flow(
        int domain,
        InetSocketAddress a,
        InetSocketAddress b,
        @Nullable Integer vlanId,
        @Nullable Long tunnelId) {
    private static final int IPV4_BYTES = 4;
    private static final int MAPPED_PREFIX_BYTES = 12;

    /** An untagged flow of domain 0. */
    public static Flow between(InetSocketAddress a, InetSocketAddress b) {
        return new Flow(0, a, b, null, null);
    }

    public boolean isIpv4() {
        return a.getAddress().getAddress().length == IPV4_BYTES;
    }

    /** Whether A is the lower endpoint by (address as 16 bytes, port), so that it sends direction 0. */
    public boolean isALow() {
        int byAddress = Arrays.compareUnsigned(sixteenBytes(a.getAddress()), sixteenBytes(b.getAddress()));
        return byAddress != 0 ? byAddress < 0 : a.getPort() <= b.getPort();
    }

    public InetSocketAddress low() {
        return isALow() ? a : b;
    }

    public InetSocketAddress high() {
        return isALow() ? b : a;
    }

    static byte[] sixteenBytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length != IPV4_BYTES) {
            return bytes;
        }
        byte[] mapped = new byte[MAPPED_PREFIX_BYTES + IPV4_BYTES];
        mapped[MAPPED_PREFIX_BYTES - 2] = (byte) 0xff;
        mapped[MAPPED_PREFIX_BYTES - 1] = (byte) 0xff;
        System.arraycopy(bytes, 0, mapped, MAPPED_PREFIX_BYTES, IPV4_BYTES);
        return mapped;
    }
}
