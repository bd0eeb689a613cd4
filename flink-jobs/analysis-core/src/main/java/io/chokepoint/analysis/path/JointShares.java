// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.row.RootCause;
import java.util.Arrays;
import java.util.List;

/** Who is the limit by the time shares of all taps together, less what each could not tell. */
final class JointShares {
    private static final double LEAST_KNOWN = 0.5; // of the interval, at one tap at least

    private final long application;
    private final long sendBuffer;
    private final long receiver;
    private final long unshared;
    private final long shared;
    private final long transport;
    private final double known; // share of the interval of the tap that knows most

    JointShares(List<PathObservation> taps) {
        application = sum(taps, Observed.APPLICATION_NS);
        sendBuffer = sum(taps, Observed.SEND_BUFFER_NS);
        receiver = sum(taps, Observed.RECEIVER_WINDOW_NS);
        unshared = sum(taps, Observed.UNSHARED_NS);
        shared = sum(taps, Observed.SHARED_NS);
        transport = sum(taps, Observed.TRANSPORT_NS);
        double most = 0;
        for (PathObservation tap : taps) {
            double seen = Math.max(1, tap.get(Observed.OBSERVED_NS));
            most = Math.max(most, 1 - tap.get(Observed.UNKNOWN_NS) / seen);
        }
        known = most;
    }

    private static long sum(List<PathObservation> taps, Observed observed) {
        return taps.stream().mapToLong(tap -> tap.get(observed)).sum();
    }

    /** Application and send buffer, window, bottleneck, transport: in ns, ascending. */
    private long[] ascending() {
        long[] groups = {application + sendBuffer, receiver, unshared + shared, transport};
        Arrays.sort(groups);
        return groups;
    }

    /** The largest of the groups, and of its two parts the larger. */
    RootCause cause() {
        long most = ascending()[3];
        if (most == 0 || known < LEAST_KNOWN) {
            return RootCause.UNKNOWN;
        }
        if (most == unshared + shared) {
            return unshared == shared
                    ? RootCause.BOTTLENECK
                    : unshared > shared ? RootCause.UNSHARED_BOTTLENECK : RootCause.SHARED_BOTTLENECK;
        }
        if (most == receiver) {
            return RootCause.RECEIVER_WINDOW;
        }
        if (most == transport) {
            return RootCause.TRANSPORT;
        }
        return application >= sendBuffer ? RootCause.APPLICATION : RootCause.SEND_BUFFER;
    }

    /** How clear that is, 0..1: by the lead of the largest group, and what the best tap knows. */
    double clarity() {
        long[] groups = ascending();
        double all = Math.max(1, Arrays.stream(groups).sum());
        return (0.5 + (groups[3] - groups[2]) / all / 2) * known;
    }
}
