// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.errors.RetriableException;
import org.junit.jupiter.api.Test;

class SchemaTopicTest {
    /** Else a record would be refused for good because of a moment without brokers. */
    @Test
    void whileKafkaIsAwayNobodyKnowsWhetherASchemaIsPublished() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SchemaTopic topic = new SchemaTopic(at(silent), "tcp-schemas", Duration.ofMillis(500))) {
            assertThatThrownBy(() -> topic.find(1)).isInstanceOf(RetriableException.class);
        }
    }

    private static Properties at(ServerSocket socket) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", "127.0.0.1:" + socket.getLocalPort());
        return properties;
    }
}
