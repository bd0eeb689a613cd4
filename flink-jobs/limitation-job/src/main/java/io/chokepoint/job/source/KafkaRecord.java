// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** A record of the topic, as it lay there. */
public final class KafkaRecord {
    private final byte @Nullable [] value;
    private final int partition;
    private final long offset;
    private final long appendedMillis;

    /** {@code appendedMillis}: when the broker appended it, ms since the epoch. */
    public KafkaRecord(byte @Nullable [] value, int partition, long offset, long appendedMillis) {
        this.value = value;
        this.partition = partition;
        this.offset = offset;
        this.appendedMillis = appendedMillis;
    }

    public byte @Nullable [] value() {
        return value;
    }

    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    public long appendedMillis() {
        return appendedMillis;
    }

    /** For Flink. */
    public static TypeInformation<KafkaRecord> type() {
        return new ValueType<>(KafkaRecord.class, new Serializer());
    }

    /** Takes records as they are: what is wrong with them is found, and counted, by {@link BatchSplitter}. */
    public static final class FromKafka implements KafkaRecordDeserializationSchema<KafkaRecord> {
        private static final long serialVersionUID = 1L;

        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<KafkaRecord> out) {
            out.collect(new KafkaRecord(record.value(), record.partition(), record.offset(), record.timestamp()));
        }

        @Override
        public TypeInformation<KafkaRecord> getProducedType() {
            return type();
        }
    }

    /** Only used where source and splitter are not chained. */
    public static final class Serializer extends ValueSerializer<KafkaRecord> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(KafkaRecord record, DataOutputView target) throws IOException {
            byte[] value = record.value;
            target.writeInt(value == null ? -1 : value.length);
            if (value != null) {
                target.write(value);
            }
            target.writeInt(record.partition);
            target.writeLong(record.offset);
            target.writeLong(record.appendedMillis);
        }

        @Override
        public KafkaRecord deserialize(DataInputView source) throws IOException {
            int length = source.readInt();
            byte[] value = length < 0 ? null : new byte[length];
            if (value != null) {
                source.readFully(value);
            }
            return new KafkaRecord(value, source.readInt(), source.readLong(), source.readLong());
        }

        @Override
        public TypeSerializerSnapshot<KafkaRecord> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<KafkaRecord> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
