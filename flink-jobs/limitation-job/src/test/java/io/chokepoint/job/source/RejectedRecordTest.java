// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class RejectedRecordTest {
    @Test
    void theBytesGoToKafkaAsTheyWereWithTheReasonBeside() {
        byte[] value = {1, 2, 3};
        RejectedRecord rejected =
                RejectedRecord.of(new KafkaRecord(value, 7, 4242, 0), Rejection.HASH_SEED, "tcp-segments");

        ProducerRecord<byte[], byte[]> record =
                new RejectedRecord.ToKafka("tcp-segments-rejected").serialize(rejected, null, null);

        assertThat(record.topic()).isEqualTo("tcp-segments-rejected");
        assertThat(record.value()).isEqualTo(value);
        Map<String, String> headers = new LinkedHashMap<>();
        record.headers().forEach(header -> headers.put(header.key(), new String(header.value(), UTF_8)));
        assertThat(headers)
                .containsExactly(
                        Map.entry("reason", "hash_seed"),
                        Map.entry("topic", "tcp-segments"),
                        Map.entry("partition", "7"),
                        Map.entry("offset", "4242"));
    }
}
