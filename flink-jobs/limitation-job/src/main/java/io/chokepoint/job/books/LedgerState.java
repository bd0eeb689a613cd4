// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** The books of one origin: totals by fate, the sequence of its batches, and the probe's counters. */
final class LedgerState {
    static final String CONSUMED = "consumed";
    static final String MISSING_BATCH = "missing_batch";
    static final String REPEATED_BATCH = "repeated_batch";

    private static final long MILLIS_PER_MINUTE = 60_000;
    private static final Amount NOTHING = new Amount(0, 0, 0);

    private String probe = "";
    private long nextSequence;
    private long packetsSoFar;
    private long minute;
    private boolean changed;
    private long touchedMillis;
    private final Map<String, Amount> totals = new TreeMap<>();
    private final Map<String, Long> counters = new TreeMap<>();
    private final Map<String, Long> told = new TreeMap<>();

    /** A batch came: consumed in any case, and what its number says of its neighbours. */
    void onBatch(LedgerEntry.Batch batch) {
        probe = batch.probe();
        add(CONSUMED, batch.amount());
        long missing = batch.sequence() - nextSequence;
        if (missing < 0) {
            add(REPEATED_BATCH, batch.amount());
            return;
        }
        if (missing > 0) {
            add(MISSING_BATCH, new Amount(missing, 0, batch.packetsBefore() - packetsSoFar));
        }
        nextSequence = batch.sequence() + 1;
        packetsSoFar = batch.packetsBefore() + batch.amount().packets();
        minute = Math.floorDiv(batch.appendedMillis(), MILLIS_PER_MINUTE);
        touchedMillis = batch.appendedMillis();
        counters.putAll(batch.counters());
    }

    /** Something of this origin had a fate. */
    void add(String fate, Amount amount) {
        Amount total = totals.getOrDefault(fate, NOTHING);
        totals.put(
                fate,
                new Amount(
                        total.batches() + amount.batches(),
                        total.runs() + amount.runs(),
                        total.packets() + amount.packets()));
        changed = true;
    }

    /** Whether the counters that wait to be told belong to a minute before that of the batch. */
    boolean endsMinuteBefore(LedgerEntry.Batch batch) {
        return changed && minute < Math.floorDiv(batch.appendedMillis(), MILLIS_PER_MINUTE);
    }

    /** Tells totals and counters that have changed since they were told. */
    void tell(BiConsumer<String, Amount> fates, BiConsumer<String, Long> changedCounters) {
        if (!changed) {
            return;
        }
        changed = false;
        totals.forEach(fates);
        counters.forEach((counter, value) -> {
            if (!value.equals(told.put(counter, value))) {
                changedCounters.accept(counter, value);
            }
        });
    }

    String probe() {
        return probe;
    }

    /** Minute since the epoch in which the last batch was appended. */
    long minute() {
        return minute;
    }

    /** When the last batch was appended, ms since the epoch. */
    long touchedMillis() {
        return touchedMillis;
    }

    /** Whether something waits to be told. */
    boolean hasChanged() {
        return changed;
    }

    /** Version 1 of the bytes of the state. */
    static final class Serializer extends TypeSerializer<LedgerState> {
        private static final long serialVersionUID = 1L;
        private static final int VERSION = 1;

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
            target.writeLong(state.nextSequence);
            target.writeLong(state.packetsSoFar);
            target.writeLong(state.minute);
            target.writeBoolean(state.changed);
            target.writeLong(state.touchedMillis);
            target.writeInt(state.totals.size());
            for (Map.Entry<String, Amount> total : state.totals.entrySet()) {
                target.writeUTF(total.getKey());
                target.writeLong(total.getValue().batches());
                target.writeLong(total.getValue().runs());
                target.writeLong(total.getValue().packets());
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
            state.nextSequence = source.readLong();
            state.packetsSoFar = source.readLong();
            state.minute = source.readLong();
            state.changed = source.readBoolean();
            state.touchedMillis = source.readLong();
            for (int left = source.readInt(); left > 0; left--) {
                String fate = source.readUTF();
                state.totals.put(fate, new Amount(source.readLong(), source.readLong(), source.readLong()));
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
