// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.wire.Varint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the taps have told of one flow of late. Taps tell of the same interval at different times, and none waits for
 * another: every observation that finds others of its interval gives the row anew, so a silent tap holds nothing back.
 *
 * <p>Bounded: so many taps, and of each the intervals of so much time before its own newest, so that a tap with a wrong clock
 * hurts no other. Each observation is kept as its bytes, about a hundred, and read again only if another tap tells of the same
 * interval: most flows pass one tap.
 */
public final class FlowPath {
    private static final int STATE_VERSION = 1;
    private static final int MAX_TAPS = 8;
    private static final int MAX_INTERVALS = 64;
    private static final int MAX_KEPT = 2 * MAX_TAPS * MAX_INTERVALS;
    private static final long HORIZON_NANOS = 60_000_000_000L;

    /** What became of an observation. */
    public enum Fate {
        /** No other tap has told of the interval yet. */
        ALONE,
        /** A row was given. */
        COMBINED,
        /** The tap has told the same before, as when a capture is played again whose flow had ended. */
        REPEATED,
        /** Its interval lies too far before the newest of the flow at this tap. */
        LATE,
        /** The flow passes more taps, or has more pieces, than are kept. */
        REFUSED
    }

    private static final class Tap {
        private final String name;
        private long newestNanos;

        Tap(String name, long newestNanos) {
            this.name = name;
            this.newestNanos = newestNanos;
        }
    }

    private static final class Kept {
        private final long startNanos;
        private final int tap;
        private final byte[] bytes;

        Kept(long startNanos, int tap, byte[] bytes) {
            this.startNanos = startNanos;
            this.tap = tap;
            this.bytes = bytes;
        }
    }

    private final FlowKey key;
    private final List<Tap> taps = new ArrayList<>();
    private final List<Kept> kept = new ArrayList<>();

    /** Nothing yet of the flow with this key. */
    public FlowPath(FlowKey key) {
        this.key = key;
    }

    /** Folds an observation of the flow in; the row goes to {@code out} if at least two taps saw its interval. */
    public Fate add(PathObservation observation, Consumer<PathRow> out) throws IOException {
        int index = tap(observation);
        if (index < 0) {
            return Fate.REFUSED;
        }
        Tap tap = taps.get(index);
        long horizon = Math.min(HORIZON_NANOS, MAX_INTERVALS * (observation.endNanos() - observation.startNanos()));
        if (observation.startNanos() <= tap.newestNanos - horizon) {
            return Fate.LATE;
        }
        if (observation.startNanos() > tap.newestNanos) {
            tap.newestNanos = observation.startNanos();
            kept.removeIf(one -> one.tap == index && one.startNanos <= tap.newestNanos - horizon);
        }
        byte[] bytes = bytes(observation);
        if (isKept(index, bytes)) {
            return Fate.REPEATED;
        }
        if (kept.size() >= MAX_KEPT) {
            return Fate.REFUSED;
        }
        List<PathObservation> besides = besides(observation);
        kept.add(new Kept(observation.startNanos(), index, bytes));
        if (besides.isEmpty()) {
            return Fate.ALONE;
        }
        besides.add(observation);
        PathRow row = PathJudge.judge(besides);
        if (row == null) {
            return Fate.ALONE;
        }
        out.accept(row);
        return Fate.COMBINED;
    }

    private boolean isKept(int tap, byte[] bytes) {
        for (Kept one : kept) {
            if (one.tap == tap && Arrays.equals(one.bytes, bytes)) {
                return true;
            }
        }
        return false;
    }

    /** Index of a tap, which becomes known if there is room for it; -1 if there is none. */
    private int tap(PathObservation observation) {
        for (int i = 0; i < taps.size(); i++) {
            if (taps.get(i).name.equals(observation.tap())) {
                return i;
            }
        }
        if (taps.size() == MAX_TAPS) {
            return -1;
        }
        taps.add(new Tap(observation.tap(), observation.startNanos()));
        return taps.size() - 1;
    }

    /** Those of the same direction and interval; none if all are of the same tap. */
    private List<PathObservation> besides(PathObservation observation) throws IOException {
        List<PathObservation> besides = new ArrayList<>();
        if (taps.size() < 2) {
            return besides;
        }
        for (Kept one : kept) {
            if (one.startNanos == observation.startNanos()) {
                PathObservation other = read(one);
                if (other.isBesides(observation)) {
                    besides.add(other);
                }
            }
        }
        return besides;
    }

    private PathObservation read(Kept one) throws IOException {
        return PathObservation.readFrom(
                new DataInputStream(new ByteArrayInputStream(one.bytes)), key, taps.get(one.tap).name);
    }

    private static byte[] bytes(PathObservation observation) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        observation.writeTo(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    /** Writes the state; the first number is its version. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, STATE_VERSION);
        Varint.write(out, taps.size());
        for (Tap tap : taps) {
            out.writeUTF(tap.name);
            Varint.write(out, tap.newestNanos);
        }
        Varint.write(out, kept.size());
        for (Kept one : kept) {
            Varint.write(out, one.tap);
            Varint.write(out, taps.get(one.tap).newestNanos - one.startNanos);
            Varint.write(out, one.bytes.length);
            out.write(one.bytes);
        }
    }

    /** Reads what {@link #writeTo} wrote. */
    public static FlowPath readFrom(DataInput in, FlowKey key) throws IOException {
        long version = Varint.read(in);
        if (version != STATE_VERSION) {
            throw new IOException("path state of version " + version + ", this program knows up to " + STATE_VERSION);
        }
        FlowPath path = new FlowPath(key);
        int taps = Varint.readInt(in);
        for (int i = 0; i < taps; i++) {
            path.taps.add(new Tap(in.readUTF(), Varint.read(in)));
        }
        int size = Varint.readInt(in);
        for (int i = 0; i < size; i++) {
            int tap = Varint.readInt(in);
            long startNanos = path.taps.get(tap).newestNanos - Varint.read(in);
            byte[] bytes = new byte[Varint.readInt(in)];
            in.readFully(bytes);
            path.kept.add(new Kept(startNanos, tap, bytes));
        }
        return path;
    }
}
