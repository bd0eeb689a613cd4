// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import io.chokepoint.analysis.row.RcaCause;

/**
 * The decision tree of [BAU21 Fig. 3], verbatim, on the corrected scores.
 *
 * <pre>
 * D &lt; 0.2                  → unshared bottleneck
 * else R &gt; 0.01            → shared bottleneck
 * else RW &gt; 0.5:  B &gt; th4  → receiver window
 *                 else     → shared bottleneck
 * else R == 0 and RW == 0  → transport
 * else                     → mixed
 * </pre>
 *
 * Departs from [BAU21] in th4: the published −1000 is the trace of a unit error in the burstiness score. With the score in
 * its own unit the cut lies at 0 (a window of one bandwidth-delay product); within ±0.1 of it the cause is mixed.
 */
public final class PublishedTree {
    private static final double DISPERSION = 0.2;
    private static final double RETRANSMISSION = 0.01;
    private static final double RECEIVER_WINDOW = 0.5;
    private static final double BURSTINESS_DEAD_BAND = 0.1;

    private PublishedTree() {}

    /** The leaf for the scores; {@code burstiness} counts only where the tree asks for it. */
    public static RcaCause classify(
            double dispersion, double retransmission, double receiverWindow, double burstiness) {
        if (dispersion < DISPERSION) {
            return RcaCause.UNSHARED_BOTTLENECK;
        }
        if (retransmission > RETRANSMISSION) {
            return RcaCause.SHARED_BOTTLENECK;
        }
        if (receiverWindow > RECEIVER_WINDOW) {
            if (Math.abs(burstiness) <= BURSTINESS_DEAD_BAND) {
                return RcaCause.MIXED;
            }
            return burstiness > 0 ? RcaCause.RECEIVER_WINDOW : RcaCause.SHARED_BOTTLENECK;
        }
        return retransmission == 0 && receiverWindow == 0 ? RcaCause.TRANSPORT : RcaCause.MIXED;
    }
}
