// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.EndReason;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One flow at one tap, as it is kept from run to run: the bytes of its runs while they are few, and a {@link FlowAnalysis}
 * from then on. Most flows end before, so their thirty times larger analysis exists only while their last run is folded in.
 *
 * <p>What comes out, and when, is what the analysis alone would give: a flow of so few packets has no row, minute or
 * observation before its end. {@link RunFolder} folds runs in.
 */
public final class TapFlow {
    /** No direction can be an elephant with so few, and only elephants have rows while they live. */
    private static final int MOST_PACKETS = HalfConnection.ELEPHANT_PACKETS - 1;
    /** About what the state of an analysis takes after as many packets. */
    private static final int MOST_BYTES = 640;
    /** The state begins with this number instead of the version of an analysis. */
    private static final int STATE_OF_RUNS = 0;

    /** Bytes on the heap: of this object without its runs, by adding up its fields. */
    private static final int HEAP_BYTES = 88;
    /** Of an analysis, as `bench/run state` measures them. */
    private static final int MOUSE_HEAP_BYTES = 8 * 1024;

    private static final int ELEPHANT_HEAP_BYTES = 18 * 1024;

    private static final byte[] NO_RUNS = {};
    private static final int LENGTH_BYTES = 2;

    private final String tap;
    /** Each behind its length; the first with the flow's place, the others from there on. Part of savepoints: readers never get stricter. */
    private byte[] runs = NO_RUNS;

    private int packets;
    private long session;
    private long timestampResolutionNanos;
    private long flowStartNanos;
    private long observedUntilNanos;
    private @Nullable FlowAnalysis analysis;

    /** Without a run yet. */
    public TapFlow(String tap) {
        this.tap = tap;
    }

    /** Keeps the run that was read last, or folds it in behind those that were kept. */
    RunFate onRun(RunFolder folder, long runSession, long resolutionNanos, RowSink out) {
        Run run = folder.run();
        if (analysis == null) {
            if (isNext(run, runSession, resolutionNanos) && keeps(folder)) {
                session = runSession;
                timestampResolutionNanos = resolutionNanos;
                flowStartNanos = run.flowStartNs();
                packets += run.packets();
                observedUntilNanos = run.observedUntilNs();
                return RunFate.CONTRIBUTED;
            }
            analysis = folder.analyse(this, out);
            runs = NO_RUNS;
        }
        return analysis.onRun(run, runSession, resolutionNanos, out);
    }

    /** Whether it goes on where the kept runs end, and the flow goes on behind it: all else is for the analysis to judge. */
    private boolean isNext(Run run, long runSession, long resolutionNanos) {
        if (run.endReason() != EndReason.NONE || run.packetsBefore() != packets) {
            return false;
        }
        return runs.length == 0
                || (runSession == session
                        && resolutionNanos == timestampResolutionNanos
                        && run.flowStartNs() == flowStartNanos
                        && (run.packets() > 0 || run.observedUntilNs() > observedUntilNanos));
    }

    /** Adds the bytes of the run, if there is room. */
    private boolean keeps(RunFolder folder) {
        int at = runs.length;
        int from = at == 0 ? folder.from() : folder.placeEnd();
        int length = folder.end() - from;
        if (packets + folder.run().packets() > MOST_PACKETS || at + LENGTH_BYTES + length > MOST_BYTES) {
            return false;
        }
        runs = Arrays.copyOf(runs, at + LENGTH_BYTES + length);
        runs[at] = (byte) (length >>> 8);
        runs[at + 1] = (byte) length;
        System.arraycopy(folder.bytes(), from, runs, at + LENGTH_BYTES, length);
        return true;
    }

    /** What the kept runs say; {@code scratch} is overwritten. */
    FlowAnalysis replay(AnalysisSettings settings, RunReader reader, Run scratch, RowSink out) {
        FlowAnalysis replayed = new FlowAnalysis(settings, tap);
        for (int at = 0; at < runs.length; ) {
            int length = ((runs[at] & 0xFF) << 8) | (runs[at + 1] & 0xFF);
            int from = at + LENGTH_BYTES;
            DecodeStatus status =
                    at == 0 ? reader.read(runs, from, length, scratch) : reader.readAgain(runs, from, length, scratch);
            if (status != DecodeStatus.OK) {
                throw new IllegalStateException("a run that was kept cannot be decoded any more: " + status);
            }
            replayed.onRun(scratch, session, timestampResolutionNanos, out);
            at = from + length;
        }
        return replayed;
    }

    void finish(RunFolder folder, RowSink out) {
        if (analysis == null) {
            analysis = folder.analyse(this, out);
        }
        analysis.finish(out);
    }

    /** Whether an end was folded in: the caller may drop its state. */
    public boolean isFinished() {
        return analysis != null && analysis.isFinished();
    }

    /** How many packets of the newest run had been folded in before. */
    public int repeatedPackets() {
        return analysis == null ? 0 : analysis.repeatedPackets();
    }

    /** Whether it is kept as the bytes of its runs. */
    public boolean isKeptAsRuns() {
        return analysis == null;
    }

    /** Whether both directions are mice: few data packets so far, so that the state is small. */
    public boolean isMouse() {
        return analysis == null || analysis.isMouse();
    }

    /** About how much of the heap it takes. */
    public int heapBytes() {
        if (analysis == null) {
            return HEAP_BYTES + runs.length;
        }
        return HEAP_BYTES + (isMouse() ? MOUSE_HEAP_BYTES : ELEPHANT_HEAP_BYTES);
    }

    /** Writes the state: that of the analysis, or the runs. */
    public void writeTo(DataOutput out) throws IOException {
        if (analysis != null) {
            analysis.writeTo(out);
            return;
        }
        Varint.write(out, STATE_OF_RUNS);
        Varint.write(out, packets);
        out.writeLong(session);
        Varint.write(out, timestampResolutionNanos);
        out.writeLong(flowStartNanos);
        Varint.write(out, observedUntilNanos - flowStartNanos);
        Varint.write(out, runs.length);
        out.write(runs);
    }

    /** Reads what {@link #writeTo} wrote, or {@link FlowAnalysis#writeTo}, of this version or an older released one. */
    public static TapFlow readFrom(DataInput in, AnalysisSettings settings, String tap) throws IOException {
        TapFlow flow = new TapFlow(tap);
        long version = Varint.read(in);
        if (version != STATE_OF_RUNS) {
            flow.analysis = FlowAnalysis.readFrom(version, in, settings, tap);
            return flow;
        }
        flow.packets = Varint.readInt(in);
        flow.session = in.readLong();
        flow.timestampResolutionNanos = Varint.read(in);
        flow.flowStartNanos = in.readLong();
        flow.observedUntilNanos = flow.flowStartNanos + Varint.read(in);
        flow.runs = new byte[Varint.readInt(in)];
        in.readFully(flow.runs);
        return flow;
    }
}
