// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** {@code KafkaRecord BOOTSTRAP create|put|get TOPIC [VALUE]}: one topic of one partition, one record. */
final class KafkaRecord {
    public static void main(String[] args) throws Exception {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", args[0],
                "default.api.timeout.ms", "20000",
                "request.timeout.ms", "10000",
                "max.block.ms", "5000",
                "delivery.timeout.ms", "15000",
                "linger.ms", "0",
                "compression.type", "zstd");
        switch (args[1]) {
            case "create" -> create(settings, args[2]);
            case "put" -> put(settings, args[2], args[3]);
            case "get" -> System.out.println(get(settings, args[2]));
            default -> throw new IllegalArgumentException(args[1]);
        }
    }

    private static void create(Map<String, Object> settings, String topic) throws Exception {
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        }
    }

    private static void put(Map<String, Object> settings, String topic, String value) throws Exception {
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, value)).get();
        }
    }

    private static String get(Map<String, Object> settings, String topic) {
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(20))) {
                return record.value();
            }
            throw new IllegalStateException("no record in " + topic + " within 20 s");
        }
    }
}
