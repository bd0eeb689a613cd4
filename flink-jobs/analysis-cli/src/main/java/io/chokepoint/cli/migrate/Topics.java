// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.jspecify.annotations.Nullable;

/**
 * Creates topics that are missing. Topics that are there stay as they are: another number of partitions would move flows
 * in the middle of their life, and settings may have been chosen by the operator; what differs is said.
 */
final class Topics {
    private static final int ANSWER_MILLIS = 10_000;
    private static final int REQUEST_MILLIS = 5_000;
    private static final int DURABLE_REPLICATION = 3;

    private final String brokers;
    private final Admin admin;
    private final PrintStream out;

    private Topics(String brokers, Admin admin, PrintStream out) {
        this.brokers = brokers;
        this.admin = admin;
        this.out = out;
    }

    /**
     * Creates what is missing.
     *
     * @param replication copies of a topic, or null for the brokers' default
     * @param partitionsAsked whether the operator named the number of partitions, so that another one is an error
     */
    static void migrate(
            String brokers,
            List<TopicSpec> topics,
            @Nullable Integer replication,
            boolean partitionsAsked,
            PrintStream out)
            throws IOException, InterruptedException {
        Map<String, Object> properties = Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokers,
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_MILLIS,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MILLIS);
        try (Admin admin = Admin.create(properties)) {
            Topics kafka = new Topics(brokers, admin, out);
            Set<String> present = kafka.get(admin.listTopics().names());
            for (TopicSpec topic : topics) {
                boolean created = !present.contains(topic.name()) && kafka.create(topic, replication);
                if (!created) {
                    kafka.compare(topic, partitionsAsked);
                }
            }
        } catch (KafkaException e) {
            throw new IOException(
                    "Kafka at " + brokers + " cannot be used (option --kafka): " + e.getMessage()
                            + (e.getCause() == null ? "" : ": " + e.getCause().getMessage()),
                    e);
        }
    }

    /** False if somebody else has created it meanwhile. */
    private boolean create(TopicSpec topic, @Nullable Integer replication) throws IOException, InterruptedException {
        Map<String, String> config = new HashMap<>(topic.config());
        if (replication != null && replication >= DURABLE_REPLICATION) {
            // An acknowledged batch then survives the loss of a broker.
            config.put("min.insync.replicas", Integer.toString(replication - 1));
        }
        Optional<Short> copies = Optional.ofNullable(replication).map(Integer::shortValue);
        NewTopic wanted = new NewTopic(topic.name(), Optional.of(topic.partitions()), copies).configs(config);
        try {
            admin.createTopics(List.of(wanted)).all().get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicExistsException) {
                return false;
            }
            throw failure(e);
        }
        out.println("topics: created " + topic.name() + " with " + topic.partitions() + " partitions");
        return true;
    }

    private void compare(TopicSpec topic, boolean partitionsAsked) throws IOException, InterruptedException {
        Map<String, TopicDescription> described =
                get(admin.describeTopics(List.of(topic.name())).allTopicNames());
        int partitions =
                requireNonNull(described.get(topic.name())).partitions().size();
        if (partitions != topic.partitions() && partitionsAsked) {
            throw new IOException("topic " + topic.name() + " has " + partitions + " partitions, not "
                    + topic.partitions() + " (option --partitions): the number never changes, because flows would move"
                    + " in the middle of their life; expected " + partitions + " or another topic");
        }
        out.println("topics: " + topic.name() + " is there with " + partitions + " partitions");
        compareConfig(topic);
    }

    private void compareConfig(TopicSpec topic) throws IOException, InterruptedException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic.name());
        Config config = get(admin.describeConfigs(List.of(resource)).all()).get(resource);
        for (Map.Entry<String, String> wanted : topic.config().entrySet()) {
            ConfigEntry entry = config == null ? null : config.get(wanted.getKey());
            String value = entry == null ? null : entry.value();
            if (!wanted.getValue().equals(value)) {
                out.println("topics: " + topic.name() + ": " + wanted.getKey() + " is " + value
                        + ", a new topic would have " + wanted.getValue() + "; left as it is");
            }
        }
    }

    private <T> T get(KafkaFuture<T> future) throws IOException, InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private IOException failure(ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return new IOException(
                "Kafka at " + brokers + " does not answer (option --kafka): " + cause.getMessage(), cause);
    }
}
