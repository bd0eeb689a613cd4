// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** The books of one origin: totals by fate, the same by minute, what is missing, and the probe's counters. */
final class LedgerState {
    static final String MISSING_BATCH = "missing_batch";
    static final String REPEATED_BATCH = "repeated_batch";

    /** Of more minutes that are not balanced the oldest is let go; totals know of it. */
    static final int MAX_MINUTES = 128;

    private String probe = "";
    private Arrivals arrivals = new Arrivals();
    private long minute;
    private boolean changed;
    private long touchedMillis;
    private final Map<String, Amount> totals = new TreeMap<>();
    private final TreeMap<Long, MinuteBooks> minutes = new TreeMap<>();
    private final Map<String, Long> counters = new TreeMap<>();
    private final Map<String, Long> told = new TreeMap<>();

    /** Takes what has changed; of several tellings the one with the highest version counts. */
    interface Told {
        void total(String fate, Amount total, long version);

        void range(long minute, String fate, Span span, Amount amount, long version);

        void counter(String counter, long value);
    }

    /** A record came, used or refused: what became of it, and what its number says of its neighbours. */
    void onBatch(LedgerEntry.Batch batch) {
        Amount amount = batch.amount();
        Span span = batch.span();
        addBatch(batch.fate(), amount, span, batch.minute());
        if (!batch.origin().isUnknown()) {
            probe = batch.probe();
            Amount repeated = arrivals.onBatch(batch.sequence(), batch.packetsBefore(), amount, batch.minute());
            if (repeated.batches() > 0) {
                addBatch(REPEATED_BATCH, repeated, span, batch.minute());
            }
        }
        minute = Math.max(minute, batch.minute());
        touchedMillis = Math.max(touchedMillis, batch.appendedMillis());
        // They only grow, so a batch that comes late sets none back.
        batch.counters().forEach((counter, value) -> counters.merge(counter, value, Math::max));
    }

    private void addBatch(String fate, Amount amount, Span span, long ofMinute) {
        totals.merge(fate, amount, Amount::plus);
        minuteBooks(ofMinute).onBatch(fate, amount, span);
        changed = true;
    }

    /** Runs of batches of a minute had a fate. */
    void add(LedgerEntry.Fate fate) {
        totals.merge(fate.fate(), fate.amount(), Amount::plus);
        minuteBooks(fate.minute()).add(fate.fate(), fate.amount());
        changed = true;
    }

    private MinuteBooks minuteBooks(long ofMinute) {
        return minutes.computeIfAbsent(ofMinute, key -> new MinuteBooks());
    }

    /** Whether what waits to be told must be told before the batch is added. */
    boolean mustTellBefore(LedgerEntry.Batch batch) {
        return changed && (minute < batch.minute() || arrivals.owesMany());
    }

    /** Tells what has changed since it was told. */
    void tell(Told listener) {
        if (!changed) {
            return;
        }
        changed = false;
        totals.forEach((fate, total) -> listener.total(fate, total, total.sum()));
        if (arrivals.hadGaps()) {
            listener.total(MISSING_BATCH, arrivals.missing(), arrivals.handled());
        }
        minutes.forEach((ofMinute, books) ->
                books.tell((fate, span, amount, version) -> listener.range(ofMinute, fate, span, amount, version)));
        arrivals.tell(gap -> listener.range(gap.minute(), MISSING_BATCH, gap.span(), gap.amount(), arrivals.handled()));
        counters.forEach((counter, value) -> {
            if (!value.equals(told.put(counter, value))) {
                listener.counter(counter, value);
            }
        });
        closeMinutes();
    }

    /** The log may step back by a minute, when another broker takes over. */
    private void closeMinutes() {
        minutes.headMap(minute - 1).values().removeIf(MinuteBooks::isBalanced);
        while (minutes.size() > MAX_MINUTES) {
            minutes.pollFirstEntry();
        }
    }

    /** Forgets what a new batch brings again; what remains is some hundred bytes. */
    void rest() {
        counters.clear();
        told.clear();
    }

    String probe() {
        return probe;
    }

    /** Minute since the epoch in which the newest batch was appended. */
    long minute() {
        return minute;
    }

    /** When the newest batch was appended, ms since the epoch. */
    long touchedMillis() {
        return touchedMillis;
    }

    /** Version 2 of the bytes of the state. */
    static final class Serializer extends TypeSerializer<LedgerState> {
        private static final long serialVersionUID = 1L;
        private static final int VERSION = 2;

        @Override
        public boolean isImmutableType() {
            return false;
        }

        @Override
        public TypeSerializer<LedgerState> duplicate() {
            return this;
        }

        @Override
        public LedgerState createInstance() {
            return new LedgerState();
        }

        @Override
        public LedgerState copy(LedgerState from) {
            try {
                DataOutputSerializer out = new DataOutputSerializer(256);
                serialize(from, out);
                return deserialize(new DataInputDeserializer(out.getSharedBuffer(), 0, out.length()));
            } catch (IOException e) {
                throw new IllegalStateException("memory does not fail", e);
            }
        }

        @Override
        public LedgerState copy(LedgerState from, LedgerState reuse) {
            return copy(from);
        }

        @Override
        public int getLength() {
            return -1;
        }

        @Override
        public void serialize(LedgerState state, DataOutputView target) throws IOException {
            target.writeInt(VERSION);
            target.writeUTF(state.probe);
            state.arrivals.write(target);
            target.writeLong(state.minute);
            target.writeBoolean(state.changed);
            target.writeLong(state.touchedMillis);
            target.writeInt(state.totals.size());
            for (Map.Entry<String, Amount> total : state.totals.entrySet()) {
                target.writeUTF(total.getKey());
                total.getValue().write(target);
            }
            target.writeInt(state.minutes.size());
            for (Map.Entry<Long, MinuteBooks> books : state.minutes.entrySet()) {
                target.writeLong(books.getKey());
                books.getValue().write(target);
            }
            writeCounters(state.counters, target);
            writeCounters(state.told, target);
        }

        private static void writeCounters(Map<String, Long> counters, DataOutputView target) throws IOException {
            target.writeInt(counters.size());
            for (Map.Entry<String, Long> counter : counters.entrySet()) {
                target.writeUTF(counter.getKey());
                target.writeLong(counter.getValue());
            }
        }

        @Override
        public LedgerState deserialize(DataInputView source) throws IOException {
            int version = source.readInt();
            if (version != VERSION) {
                throw new IOException("ledger state has version " + version + ", expected " + VERSION);
            }
            LedgerState state = new LedgerState();
            state.probe = source.readUTF();
            state.arrivals = Arrivals.read(source);
            state.minute = source.readLong();
            state.changed = source.readBoolean();
            state.touchedMillis = source.readLong();
            for (int left = source.readInt(); left > 0; left--) {
                state.totals.put(source.readUTF(), Amount.read(source));
            }
            for (int left = source.readInt(); left > 0; left--) {
                state.minutes.put(source.readLong(), MinuteBooks.read(source));
            }
            readCounters(source, state.counters);
            readCounters(source, state.told);
            return state;
        }

        private static void readCounters(DataInputView source, Map<String, Long> into) throws IOException {
            for (int left = source.readInt(); left > 0; left--) {
                into.put(source.readUTF(), source.readLong());
            }
        }

        @Override
        public LedgerState deserialize(LedgerState reuse, DataInputView source) throws IOException {
            return deserialize(source);
        }

        @Override
        public void copy(DataInputView source, DataOutputView target) throws IOException {
            serialize(deserialize(source), target);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Serializer;
        }

        @Override
        public int hashCode() {
            return Serializer.class.hashCode();
        }

        @Override
        public TypeSerializerSnapshot<LedgerState> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only; the bytes tell their version. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<LedgerState> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
