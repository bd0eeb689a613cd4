// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** What the ledger learns. */
public sealed interface LedgerEntry {
    /** The fate of a batch that was used. */
    String CONSUMED = "consumed";

    /** A minute of the log. */
    long MILLIS_PER_MINUTE = 60_000;

    /** Whose books it belongs to. */
    BatchOrigin origin();

    /** For Flink. */
    static TypeInformation<LedgerEntry> type() {
        return new ValueType<>(LedgerEntry.class, new Serializer());
    }

    /**
     * A record came: a batch, or what should have been one.
     *
     * @param fate {@code consumed}, or {@code rejected_} and the reason
     * @param sequence number of the batch; the Kafka offset if its header could not be read
     * @param packetsBefore packets in all batches before it
     * @param amount what is in it, as far as it could be read
     * @param appendedMillis when the broker appended it, ms since the epoch
     * @param counters the probe's counters so far; none if the header could not be read
     */
    record Batch(
            BatchOrigin origin,
            String fate,
            String probe,
            long sequence,
            long packetsBefore,
            Amount amount,
            long appendedMillis,
            Map<String, Long> counters)
            implements LedgerEntry {
        long minute() {
            return minuteOf(appendedMillis);
        }

        Span span() {
            return new Span(sequence, sequence + 1, packetsBefore, packetsBefore + amount.packets);
        }
    }

    /** Runs of batches that were appended in a minute since the epoch had a fate, counted where it happened. */
    record Fate(BatchOrigin origin, long minute, String fate, Amount amount) implements LedgerEntry {}

    /** The minute since the epoch, by the log, in which something belongs. */
    static long minuteOf(long appendedMillis) {
        return Math.floorDiv(appendedMillis, MILLIS_PER_MINUTE);
    }

    /** How much of something; fields that do not apply are 0. Summaries count as runs. */
    record Amount(long batches, long runs, long packets) {
        static final Amount NOTHING = new Amount(0, 0, 0);

        /** Both together. */
        public Amount plus(Amount other) {
            return new Amount(batches + other.batches, runs + other.runs, packets + other.packets);
        }

        /** Grows whenever one of them does. */
        public long sum() {
            return batches + runs + packets;
        }

        void write(DataOutputView target) throws IOException {
            target.writeLong(batches);
            target.writeLong(runs);
            target.writeLong(packets);
        }

        static Amount read(DataInputView source) throws IOException {
            return new Amount(source.readLong(), source.readLong(), source.readLong());
        }
    }

    /** One byte tells the kinds apart. */
    final class Serializer extends ValueSerializer<LedgerEntry> {
        private static final long serialVersionUID = 1L;
        private static final int BATCH = 0;
        private static final int FATE = 1;

        private final BatchOrigin.Serializer origins = new BatchOrigin.Serializer();

        @Override
        public Serializer duplicate() {
            return new Serializer();
        }

        @Override
        public void serialize(LedgerEntry entry, DataOutputView target) throws IOException {
            target.writeByte(entry instanceof Batch ? BATCH : FATE);
            origins.serialize(entry.origin(), target);
            if (entry instanceof Batch batch) {
                writeBatch(batch, target);
            } else if (entry instanceof Fate fate) {
                target.writeLong(fate.minute);
                target.writeUTF(fate.fate);
                fate.amount.write(target);
            }
        }

        private static void writeBatch(Batch batch, DataOutputView target) throws IOException {
            target.writeUTF(batch.fate);
            target.writeUTF(batch.probe);
            target.writeLong(batch.sequence);
            target.writeLong(batch.packetsBefore);
            batch.amount.write(target);
            target.writeLong(batch.appendedMillis);
            target.writeInt(batch.counters.size());
            for (Map.Entry<String, Long> counter : batch.counters.entrySet()) {
                target.writeUTF(counter.getKey());
                target.writeLong(counter.getValue());
            }
        }

        @Override
        public LedgerEntry deserialize(DataInputView source) throws IOException {
            int kind = source.readByte();
            BatchOrigin origin = origins.deserialize(source);
            return kind == BATCH
                    ? readBatch(origin, source)
                    : new Fate(origin, source.readLong(), source.readUTF(), Amount.read(source));
        }

        private static Batch readBatch(BatchOrigin origin, DataInputView source) throws IOException {
            String fate = source.readUTF();
            String probe = source.readUTF();
            long sequence = source.readLong();
            long packetsBefore = source.readLong();
            Amount amount = Amount.read(source);
            long appendedMillis = source.readLong();
            Map<String, Long> counters = new LinkedHashMap<>();
            for (int left = source.readInt(); left > 0; left--) {
                counters.put(source.readUTF(), source.readLong());
            }
            return new Batch(origin, fate, probe, sequence, packetsBefore, amount, appendedMillis, counters);
        }

        @Override
        public TypeSerializerSnapshot<LedgerEntry> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<LedgerEntry> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
