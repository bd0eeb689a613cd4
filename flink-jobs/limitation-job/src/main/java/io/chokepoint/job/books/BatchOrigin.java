// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Where batches come from: what their sequence numbers count in, and the key of the ledger.
 *
 * @param tap name of the tap; empty for records that could not be read so far
 * @param session start of a probe, or file
 * @param worker receive worker of the probe
 * @param partition Kafka partition
 */
public record BatchOrigin(String tap, long session, int worker, int partition) {
    /** Origin of a record that does not tell its own. */
    public static BatchOrigin unknown(int partition) {
        return new BatchOrigin("", 0, 0, partition);
    }

    /** Whether the record did not tell its own. */
    boolean isUnknown() {
        return tap.isEmpty();
    }

    /** The same on every machine: it decides where the state lives. */
    @Override
    public int hashCode() {
        int hash = 31 * tap.hashCode() + Long.hashCode(session);
        return 31 * (31 * hash + worker) + partition;
    }

    /** For Flink. */
    public static TypeInformation<BatchOrigin> type() {
        return new ValueType<>(BatchOrigin.class, new Serializer());
    }

    /** Reads equal neighbours as one object. */
    public static final class Serializer extends ValueSerializer<BatchOrigin> {
        private static final long serialVersionUID = 1L;

        private transient byte[] lastTapBytes = {};
        private transient BatchOrigin last = unknown(0);

        @Override
        public TypeSerializer<BatchOrigin> duplicate() {
            return new Serializer();
        }

        @Override
        public void serialize(BatchOrigin origin, DataOutputView target) throws IOException {
            if (lastTapBytes == null || !origin.tap.equals(last.tap)) {
                lastTapBytes = origin.tap.getBytes(StandardCharsets.UTF_8);
                last = origin;
            }
            target.writeShort(lastTapBytes.length);
            target.write(lastTapBytes);
            target.writeLong(origin.session);
            target.writeInt(origin.worker);
            target.writeInt(origin.partition);
        }

        @Override
        public BatchOrigin deserialize(DataInputView source) throws IOException {
            byte[] tapBytes = new byte[source.readUnsignedShort()];
            source.readFully(tapBytes);
            long session = source.readLong();
            int worker = source.readInt();
            int partition = source.readInt();
            boolean sameTap = lastTapBytes != null && Arrays.equals(tapBytes, lastTapBytes);
            if (!sameTap || session != last.session || worker != last.worker || partition != last.partition) {
                String tap = sameTap ? last.tap : new String(tapBytes, StandardCharsets.UTF_8);
                last = new BatchOrigin(tap, session, worker, partition);
                lastTapBytes = tapBytes;
            }
            return last;
        }

        @Override
        public TypeSerializerSnapshot<BatchOrigin> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<BatchOrigin> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
