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
    /** Whose books it belongs to. */
    BatchOrigin origin();

    /** For Flink. */
    static TypeInformation<LedgerEntry> type() {
        return new ValueType<>(LedgerEntry.class, new Serializer());
    }

    /**
     * A batch was consumed.
     *
     * @param sequence number of the batch
     * @param packetsBefore packets in all batches before it
     * @param amount what is in it
     * @param appendedMillis when the broker appended it, ms since the epoch
     * @param counters the probe's counters so far
     */
    record Batch(
            BatchOrigin origin,
            String probe,
            long sequence,
            long packetsBefore,
            Amount amount,
            long appendedMillis,
            Map<String, Long> counters)
            implements LedgerEntry {}

    /** Something had a fate, counted where it happened. */
    record Fate(BatchOrigin origin, String fate, Amount amount) implements LedgerEntry {}

    /** How much of something; fields that do not apply are 0. Summaries count as runs. */
    record Amount(long batches, long runs, long packets) {}

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
                target.writeUTF(fate.fate);
                writeAmount(fate.amount, target);
            }
        }

        private static void writeBatch(Batch batch, DataOutputView target) throws IOException {
            target.writeUTF(batch.probe);
            target.writeLong(batch.sequence);
            target.writeLong(batch.packetsBefore);
            writeAmount(batch.amount, target);
            target.writeLong(batch.appendedMillis);
            target.writeInt(batch.counters.size());
            for (Map.Entry<String, Long> counter : batch.counters.entrySet()) {
                target.writeUTF(counter.getKey());
                target.writeLong(counter.getValue());
            }
        }

        private static void writeAmount(Amount amount, DataOutputView target) throws IOException {
            target.writeLong(amount.batches);
            target.writeLong(amount.runs);
            target.writeLong(amount.packets);
        }

        @Override
        public LedgerEntry deserialize(DataInputView source) throws IOException {
            int kind = source.readByte();
            BatchOrigin origin = origins.deserialize(source);
            return kind == BATCH ? readBatch(origin, source) : new Fate(origin, source.readUTF(), readAmount(source));
        }

        private static Batch readBatch(BatchOrigin origin, DataInputView source) throws IOException {
            String probe = source.readUTF();
            long sequence = source.readLong();
            long packetsBefore = source.readLong();
            Amount amount = readAmount(source);
            long appendedMillis = source.readLong();
            Map<String, Long> counters = new LinkedHashMap<>();
            for (int left = source.readInt(); left > 0; left--) {
                counters.put(source.readUTF(), source.readLong());
            }
            return new Batch(origin, probe, sequence, packetsBefore, amount, appendedMillis, counters);
        }

        private static Amount readAmount(DataInputView source) throws IOException {
            return new Amount(source.readLong(), source.readLong(), source.readLong());
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
