// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.junit.jupiter.api.Test;

class LimitationJobTest {
    /** What the sink of Kafka adds, named after its uid. */
    private static final String COMMITTER = "Sink Committer: rejected";

    @Test
    void theUidsAreThoseThatSavepointsKnow() throws Exception {
        List<String> uids = new ArrayList<>();
        for (StreamNode node : environment().getStreamGraph(true).getStreamNodes()) {
            uids.add(node.getTransformationUID());
        }

        assertThat(uids)
                .containsExactlyInAnyOrder(
                        "batches", "split", "analyse", "groups", "paths", "books", "clickhouse", "rejected", COMMITTER);
    }

    @Test
    void noTypeIsLeftToFlinkToSerialise() {
        assertThat(LimitationJob.configuration().get(PipelineOptions.GENERIC_TYPES))
                .isFalse();
    }

    private static StreamExecutionEnvironment environment() throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(LimitationJob.configuration());
        JobOptions options = JobOptions.parse(new String[0], Map.of());
        LimitationJob.build(environment, options, 32);
        return environment;
    }
}
