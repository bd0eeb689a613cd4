// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a link did, bin by bin: the ground truth of a bottleneck. */
final class LinkBooks {
    /** Counts of a flow in a bin; bytes are of layer 2. */
    static final class Counts {
        long frames;
        long bytes;
        long drops;
        long marks;
    }

    /** A stretch of time; counts are by flow. */
    static final class Bin {
        final long startNs;
        long minBytes;
        long maxBytes;
        long busyNs;
        final Map<Integer, Counts> flows = new TreeMap<>();

        Bin(long startNs, long bytes) {
            this.startNs = startNs;
            minBytes = bytes;
            maxBytes = bytes;
        }

        Counts of(int flow) {
            return flows.computeIfAbsent(flow, ignored -> new Counts());
        }

        long drops() {
            return flows.values().stream().mapToLong(counts -> counts.drops).sum();
        }
    }

    private final List<Bin> bins = new ArrayList<>();
    private final long binNs;
    private long bookedUntilNs;
    private long bytes;
    private Bin bin;

    LinkBooks(long startNs, long binNs) {
        this.binNs = binNs;
        bookedUntilNs = startNs;
        bin = new Bin(startNs, 0);
        bins.add(bin);
    }

    long binNs() {
        return binNs;
    }

    List<Bin> bins() {
        return bins;
    }

    /** So many bytes wait or are being sent from now on. */
    void waiting(long nowNs, long newBytes) {
        advance(nowNs);
        bytes = newBytes;
        bin.minBytes = Math.min(bin.minBytes, bytes);
        bin.maxBytes = Math.max(bin.maxBytes, bytes);
    }

    void sent(Frame frame, long nowNs) {
        advance(nowNs);
        Counts counts = bin.of(frame.flow);
        counts.frames++;
        counts.bytes += frame.bytes;
        counts.marks += frame.isMarked() ? 1 : 0;
    }

    void dropped(Frame frame, long nowNs) {
        advance(nowNs);
        bin.of(frame.flow).drops++;
    }

    void advance(long nowNs) {
        while (bin.startNs + binNs <= nowNs) {
            book(bin.startNs + binNs);
            bin = new Bin(bin.startNs + binNs, bytes);
            bins.add(bin);
        }
        book(nowNs);
    }

    private void book(long untilNs) {
        bin.busyNs += bytes > 0 ? untilNs - bookedUntilNs : 0;
        bookedUntilNs = untilNs;
    }
}
