// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.analysis.wire.Varint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What the taps have told of one flow. Taps tell of the same interval at different times, and none waits for another: every
 * observation that finds others of its interval gives the row anew, so a silent tap holds nothing back. The last row of an
 * interval does not depend on the order of its observations.
 *
 * <p>How long an observation is kept is not for the clocks of the taps to say: the driver calls {@link #forget} by the
 * time at which things arrive, or never. Each is kept as its bytes, about a hundred, and read again only if another tap tells
 * of the same interval: most flows pass one tap.
 */
public final class FlowPath {
    /** Taps of a flow that count: those whose names come first. */
    public static final int MAX_TAPS = 8;
    /** Observations of an interval: both directions at all taps, four pieces of the flow each. */
    static final int MAX_OF_INTERVAL = 8 * MAX_TAPS;
    /** Observations that {@link #forget} leaves: an hour of both directions at one tap, seven minutes at eight. */
    static final int MAX_KEPT = 7_200;

    /** How many more there may be before those are let go of: to look for them costs more than one is worth. */
    static final int SLACK = MAX_KEPT / 8;

    private static final int STATE_VERSION = 2;
    /** Intervals that a tap was let go of, and no further apart, are one span. */
    private static final long SPAN_GAP_NANOS = 60_000_000_000L;

    /** What became of an observation. */
    public enum Fate {
        /** No other tap has told of the interval yet. */
        ALONE,
        /** A row was given. */
        COMBINED,
        /** The tap has told the same before, as when a capture is played again whose flow had ended. */
        REPEATED,
        /** What another tap told of about this time is let go of: a row of it, if any, lacks that tap. */
        LATE,
        /** What this tap told of about this time is let go of: nothing is made of it. */
        FORGOTTEN,
        /** The flow passes more taps, or has more pieces, than count. */
        REFUSED
    }

    private static final class Tap {
        private final String name;
        /** Intervals that were let go of of late, of its own time: first and last begin; none if the last is lower. */
        private long forgottenFromNanos;

        private long forgottenToNanos = -1;

        Tap(String name) {
            this.name = name;
        }

        void forget(long startNanos) {
            boolean isNear = forgottenFromNanos - SPAN_GAP_NANOS <= startNanos
                    && startNanos <= forgottenToNanos + SPAN_GAP_NANOS
                    && forgottenFromNanos <= forgottenToNanos;
            forgottenFromNanos = isNear ? Math.min(forgottenFromNanos, startNanos) : startNanos;
            forgottenToNanos = isNear ? Math.max(forgottenToNanos, startNanos) : startNanos;
        }

        boolean isForgotten(long startNanos) {
            return forgottenFromNanos <= startNanos && startNanos <= forgottenToNanos;
        }
    }

    private static final class Kept {
        private final int tap;
        private final long arrivedMillis;
        private final byte[] bytes;

        Kept(int tap, long arrivedMillis, byte[] bytes) {
            this.tap = tap;
            this.arrivedMillis = arrivedMillis;
            this.bytes = bytes;
        }
    }

    private final FlowKey key;
    private final List<Tap> taps = new ArrayList<>();
    private final TreeMap<Long, List<Kept>> intervals = new TreeMap<>();
    private int size;
    private long firstArrivedMillis = Long.MAX_VALUE;

    /** Nothing yet of the flow with this key. */
    public FlowPath(FlowKey key) {
        this.key = key;
    }

    /**
     * Folds an observation of the flow in; the row goes to {@code out} if at least two taps saw its interval.
     *
     * @param arrivedMillis when it came, by the clock of the driver
     * @param tenants whose the ends of the row are
     */
    public Fate add(PathObservation observation, long arrivedMillis, Tenants tenants, Consumer<PathRow> out) {
        int index = tap(observation.tap());
        long start = observation.startNanos();
        if (index < 0) {
            return Fate.REFUSED;
        }
        if (taps.get(index).isForgotten(start)) {
            return Fate.FORGOTTEN;
        }
        byte[] bytes = bytes(observation);
        List<Kept> ofInterval = intervals.getOrDefault(start, List.of());
        if (ofInterval.stream().anyMatch(one -> one.tap == index && Arrays.equals(one.bytes, bytes))) {
            return Fate.REPEATED;
        }
        if (ofInterval.size() >= MAX_OF_INTERVAL) {
            return Fate.REFUSED;
        }
        keep(start, new Kept(index, arrivedMillis, bytes));
        PathRow row = PathJudge.judge(besides(observation), tenants);
        if (row != null) {
            out.accept(row);
        }
        if (taps.stream().anyMatch(tap -> tap.isForgotten(start))) {
            return Fate.LATE;
        }
        return row == null ? Fate.ALONE : Fate.COMBINED;
    }

    private void keep(long startNanos, Kept one) {
        intervals.computeIfAbsent(startNanos, start -> new ArrayList<>(1)).add(one);
        firstArrivedMillis = Math.min(firstArrivedMillis, one.arrivedMillis);
        size++;
    }

    /** How many observations are kept. */
    public int size() {
        return size;
    }

    /**
     * Lets go of what arrived before an instant and, of some more than 7200 observations, of those that arrived first. That they were
     * there is remembered, so that what comes too late for them is known as such.
     *
     * @return how many it let go of
     */
    public int forget(long beforeMillis) {
        long before = beforeMillis;
        if (size > MAX_KEPT + SLACK) {
            before = Math.max(before, arrivalOf(size - MAX_KEPT) + 1);
        }
        if (firstArrivedMillis >= before) {
            return 0;
        }
        int had = size;
        firstArrivedMillis = Long.MAX_VALUE;
        Iterator<Map.Entry<Long, List<Kept>>> each = intervals.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry<Long, List<Kept>> interval = each.next();
            forget(interval.getKey(), interval.getValue(), before);
            if (interval.getValue().isEmpty()) {
                each.remove();
            }
        }
        return had - size;
    }

    private void forget(long startNanos, List<Kept> ofInterval, long beforeMillis) {
        for (Kept one : ofInterval) {
            if (one.arrivedMillis < beforeMillis) {
                taps.get(one.tap).forget(startNanos);
                size--;
            } else {
                firstArrivedMillis = Math.min(firstArrivedMillis, one.arrivedMillis);
            }
        }
        ofInterval.removeIf(one -> one.arrivedMillis < beforeMillis);
    }

    /** When so many had arrived. */
    private long arrivalOf(int number) {
        return intervals.values().stream()
                .flatMap(List::stream)
                .mapToLong(one -> one.arrivedMillis)
                .sorted()
                .skip(number - 1L)
                .findFirst()
                .orElseThrow();
    }

    /** Index of a tap, which becomes known if its name is among the first; -1 if it is not. */
    private int tap(String name) {
        int last = 0;
        for (int i = 0; i < taps.size(); i++) {
            if (taps.get(i).name.equals(name)) {
                return i;
            }
            last = taps.get(i).name.compareTo(taps.get(last).name) > 0 ? i : last;
        }
        if (taps.size() < MAX_TAPS) {
            taps.add(new Tap(name));
            return taps.size() - 1;
        }
        if (name.compareTo(taps.get(last).name) > 0) {
            return -1;
        }
        refuse(last);
        taps.set(last, new Tap(name));
        return last;
    }

    /** What a tap has told counts no more. */
    private void refuse(int tap) {
        intervals.values().forEach(ofInterval -> ofInterval.removeIf(one -> one.tap == tap));
        intervals.values().removeIf(List::isEmpty);
        size = intervals.values().stream().mapToInt(List::size).sum();
    }

    /** All of the same direction and interval, itself too; nothing but itself if only one tap is known. */
    private List<PathObservation> besides(PathObservation observation) {
        if (taps.size() < 2) {
            return List.of(observation);
        }
        List<PathObservation> besides = new ArrayList<>();
        for (Kept one : intervals.getOrDefault(observation.startNanos(), List.of())) {
            PathObservation other = read(one);
            if (other.isBesides(observation)) {
                besides.add(other);
            }
        }
        return besides;
    }

    private PathObservation read(Kept one) {
        try {
            return PathObservation.readFrom(
                    new DataInputStream(new ByteArrayInputStream(one.bytes)), key, taps.get(one.tap).name);
        } catch (IOException e) {
            throw new UncheckedIOException("an observation of tap " + taps.get(one.tap).name, e);
        }
    }

    private static byte[] bytes(PathObservation observation) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            observation.writeTo(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory failed", e);
        }
        return bytes.toByteArray();
    }

    /** Writes the state; the first number is its version. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, STATE_VERSION);
        Varint.write(out, taps.size());
        for (Tap tap : taps) {
            out.writeUTF(tap.name);
            Varint.write(out, tap.forgottenFromNanos);
            Varint.write(out, tap.forgottenToNanos - tap.forgottenFromNanos);
        }
        Varint.write(out, size);
        long previousStart = 0;
        long previousArrived = 0;
        for (Map.Entry<Long, List<Kept>> interval : intervals.entrySet()) {
            for (Kept one : interval.getValue()) {
                Varint.write(out, one.tap);
                Varint.write(out, interval.getKey() - previousStart);
                Varint.write(out, one.arrivedMillis - previousArrived);
                Varint.write(out, one.bytes.length);
                out.write(one.bytes);
                previousStart = interval.getKey();
                previousArrived = one.arrivedMillis;
            }
        }
    }

    /**
     * Reads what {@link #writeTo} wrote.
     *
     * @param arrivedMillis of those that an earlier version wrote, which does not know when they came
     */
    public static FlowPath readFrom(DataInput in, FlowKey key, long arrivedMillis) throws IOException {
        long version = Varint.read(in);
        if (version < 1 || version > STATE_VERSION) {
            throw new IOException("path state of version " + version + ", this program knows up to " + STATE_VERSION);
        }
        FlowPath path = new FlowPath(key);
        long[] newestNanos = new long[Varint.readInt(in)];
        for (int i = 0; i < newestNanos.length; i++) {
            Tap tap = new Tap(in.readUTF());
            newestNanos[i] = Varint.read(in);
            if (version > 1) {
                tap.forgottenFromNanos = newestNanos[i];
                tap.forgottenToNanos = newestNanos[i] + Varint.read(in);
            }
            path.taps.add(tap);
        }
        long start = 0;
        long arrived = version == 1 ? arrivedMillis : 0;
        for (int left = Varint.readInt(in); left > 0; left--) {
            int tap = Varint.readInt(in);
            start = version == 1 ? newestNanos[tap] - Varint.read(in) : start + Varint.read(in);
            arrived += version == 1 ? 0 : Varint.read(in);
            byte[] bytes = new byte[Varint.readInt(in)];
            in.readFully(bytes);
            path.keep(start, new Kept(tap, arrived, bytes));
        }
        return path;
    }
}
