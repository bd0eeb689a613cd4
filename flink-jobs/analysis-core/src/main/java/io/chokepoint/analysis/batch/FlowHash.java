// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/**
 * The hash by which flows find their partition and get their name; probe and jobs compute the same one.
 *
 * <pre>{@code
 * mix(x)       = SplitMix64's finalizer
 * hash(w0..wk) = h = seed; for each word w: h = mix((h + 0x9e3779b97f4a7c15) ^ w)
 * key words    = domain << 8 | 6, low address (2 words), high address (2 words), low port << 16 | high port
 * }</pre>
 */
public final class FlowHash {
    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;
    private static final int PROTOCOL_TCP = 6;

    private FlowHash() {}

    /** The hash of a key: under the hash seed of its topic it decides the partition. */
    public static long of(FlowKey key, long seed) {
        long hash = next(seed, ((long) key.domain() << 8) | PROTOCOL_TCP);
        hash = next(hash, key.lowAddressUpper());
        hash = next(hash, key.lowAddressLower());
        hash = next(hash, key.highAddressUpper());
        hash = next(hash, key.highAddressLower());
        return next(hash, ((long) key.lowPort() << 16) | key.highPort());
    }

    /** The name of a flow whose SYN or SYN-ACK was seen: the same at every tap. */
    public static long flowId(FlowKey key, int clientInitialSequenceNumber) {
        return next(of(key, 0), Integer.toUnsignedLong(clientInitialSequenceNumber));
    }

    /** The hash of all words hashed so far and of one more. */
    public static long next(long hash, long word) {
        return mix((hash + GOLDEN_GAMMA) ^ word);
    }

    /** The partition of a hash, 0..{@code partitionCount}-1. */
    public static int partition(long hash, int partitionCount) {
        return (int) ((hash >>> 1) % partitionCount);
    }

    private static long mix(long x) {
        long mixed = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}
