// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicSpecTest {
    @Test
    void theShippedTopicsAreThoseOfTheDesign() throws IOException {
        List<TopicSpec> topics =
                TopicSpec.readAll(Path.of(System.getProperty("chokepoint.root"), "schemas/kafka/topics.properties"));

        assertThat(topics)
                .extracting(TopicSpec::name)
                .containsExactlyInAnyOrder(
                        "tcp-segments", "tcp-segments-replay", "tcp-segments-rejected", "tcp-schemas");
        assertThat(topics)
                .filteredOn(topic -> topic.name().equals("tcp-segments"))
                .singleElement()
                .satisfies(topic -> {
                    assertThat(topic.partitions()).isEqualTo(32);
                    assertThat(topic.config())
                            .containsEntry(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime")
                            .containsEntry(TopicConfig.COMPRESSION_TYPE_CONFIG, "producer");
                });
        assertThat(topics)
                .filteredOn(topic -> topic.name().equals("tcp-schemas"))
                .singleElement()
                .satisfies(topic -> assertThat(topic.config()).containsEntry("cleanup.policy", "compact"));
    }

    @Test
    void aKeyThatMeansNothingIsRefused(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("topics.properties"), "a.partition = 3\n");

        assertThatThrownBy(() -> TopicSpec.readAll(file)).hasMessageContaining("key a.partition is not known");
    }
}
