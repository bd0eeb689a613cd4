// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compacted topic on which every probe publishes its schema. Read when an unknown fingerprint turns up, from where
 * reading ended last time, so that a flood of unknown records costs one look at the end of the topic each.
 *
 * <p>A record is known by its value, the schema as JSON: the fingerprint is computed, not believed.
 */
public final class SchemaTopic implements WriterSchemas.Directory {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(SchemaTopic.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(200);

    private final Properties properties;
    private final String topic;
    private final Duration patience;
    private transient @Nullable KafkaConsumer<byte[], byte[]> consumer;
    private transient @Nullable Map<Long, Schema> known;

    /** {@code properties} of a Kafka client, at least {@code bootstrap.servers}. */
    public SchemaTopic(Properties properties, String topic) {
        this(properties, topic, PATIENCE);
    }

    SchemaTopic(Properties properties, String topic, Duration patience) {
        this.properties = properties;
        this.topic = topic;
        this.patience = patience;
    }

    @Override
    public Optional<Schema> find(long fingerprint) {
        if (known == null) {
            known = new HashMap<>();
        }
        Map<Long, Schema> schemas = known;
        if (!schemas.containsKey(fingerprint)) {
            try {
                readToTheEnd(schemas);
            } catch (RetriableException | InterruptException e) {
                throw e; // the schema may well be there
            } catch (KafkaException e) {
                LOG.error("schemas cannot be read topic={}", topic, e);
            }
        }
        return Optional.ofNullable(schemas.get(fingerprint));
    }

    private void readToTheEnd(Map<Long, Schema> schemas) {
        KafkaConsumer<byte[], byte[]> reader = consumer();
        Map<TopicPartition, Long> ends = reader.endOffsets(reader.assignment(), patience);
        long deadlineNanos = System.nanoTime() + patience.toNanos();
        while (isBehind(reader, ends)) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new TimeoutException("topic " + topic + " was not read to its end within " + patience);
            }
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                remember(record, schemas);
            }
        }
    }

    private boolean isBehind(KafkaConsumer<byte[], byte[]> reader, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().anyMatch(end -> reader.position(end.getKey(), patience) < end.getValue());
    }

    private void remember(ConsumerRecord<byte[], byte[]> record, Map<Long, Schema> schemas) {
        if (record.value() == null) {
            return;
        }
        try {
            Schema schema = new Schema.Parser().parse(new String(record.value(), StandardCharsets.UTF_8));
            schemas.put(SchemaNormalization.parsingFingerprint64(schema), schema);
        } catch (AvroRuntimeException e) {
            LOG.error("not a schema topic={} partition={} offset={}", topic, record.partition(), record.offset());
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        if (consumer != null) {
            return consumer;
        }
        Properties all = new Properties();
        all.putAll(properties);
        all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        KafkaConsumer<byte[], byte[]> made =
                new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        List<PartitionInfo> partitions = made.partitionsFor(topic, patience);
        List<TopicPartition> assigned = partitions.stream()
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .toList();
        made.assign(assigned);
        made.seekToBeginning(assigned);
        consumer = made;
        return made;
    }

    @Override
    public void close() {
        if (consumer != null) {
            consumer.close();
        }
    }
}
