// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import io.chokepoint.job.flow.TapRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** What was refused, why, and where it lay. */
public final class RejectedRecord {
    private final byte[] value;
    private final Rejection reason;
    private final String topic;
    private final int partition;
    private final long offset;

    private RejectedRecord(byte[] value, Rejection reason, String topic, int partition, long offset) {
        this.value = value;
        this.reason = reason;
        this.topic = topic;
        this.partition = partition;
        this.offset = offset;
    }

    /** A whole record. */
    public static RejectedRecord of(KafkaRecord record, Rejection reason, String topic) {
        byte[] value = record.value();
        return new RejectedRecord(
                value == null ? new byte[0] : value, reason, topic, record.partition(), record.offset());
    }

    /** One run of a record whose other runs were used. */
    public static RejectedRecord ofRun(TapRun run, Rejection reason, String topic) {
        byte[] value = Arrays.copyOfRange(run.bytes(), run.from(), run.from() + run.length());
        return new RejectedRecord(value, reason, topic, run.origin().partition(), run.offset());
    }

    public byte[] value() {
        return value;
    }

    public Rejection reason() {
        return reason;
    }

    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    /** For Flink. */
    public static TypeInformation<RejectedRecord> type() {
        return new ValueType<>(RejectedRecord.class, new Serializer());
    }

    /** Only crosses the network. */
    public static final class Serializer extends ValueSerializer<RejectedRecord> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(RejectedRecord record, DataOutputView target) throws IOException {
            target.writeInt(record.value.length);
            target.write(record.value);
            target.writeUTF(record.reason.name());
            target.writeUTF(record.topic);
            target.writeInt(record.partition);
            target.writeLong(record.offset);
        }

        @Override
        public RejectedRecord deserialize(DataInputView source) throws IOException {
            byte[] value = new byte[source.readInt()];
            source.readFully(value);
            Rejection reason = Rejection.valueOf(source.readUTF());
            return new RejectedRecord(value, reason, source.readUTF(), source.readInt(), source.readLong());
        }

        @Override
        public TypeSerializerSnapshot<RejectedRecord> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<RejectedRecord> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }

    /** As a Kafka record: the bytes as they were; headers {@code reason, topic, partition, offset} as text. */
    public static final class ToKafka implements KafkaRecordSerializationSchema<RejectedRecord> {
        private static final long serialVersionUID = 1L;

        private final String rejectedTopic;

        public ToKafka(String rejectedTopic) {
            this.rejectedTopic = rejectedTopic;
        }

        @Override
        public ProducerRecord<byte[], byte[]> serialize(
                RejectedRecord record, KafkaSinkContext context, @Nullable Long timestamp) {
            ProducerRecord<byte[], byte[]> out = new ProducerRecord<>(rejectedTopic, record.value);
            out.headers().add("reason", text(record.reason.label()));
            out.headers().add("topic", text(record.topic));
            out.headers().add("partition", text(Integer.toString(record.partition)));
            out.headers().add("offset", text(Long.toString(record.offset)));
            return out;
        }

        private static byte[] text(String value) {
            return value.getBytes(StandardCharsets.UTF_8);
        }
    }
}
