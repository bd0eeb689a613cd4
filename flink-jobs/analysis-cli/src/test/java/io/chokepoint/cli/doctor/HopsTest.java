// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class HopsTest {
    private static final String URL = "http://127.0.0.1:18081";

    /** As Flink 2.3 answers. */
    private static String job(String name, String state, int running) {
        return """
                {"jid":"e6c5d012b0378bc569ab8e1b1b3e2dce","name":"%s","jobType":"STREAMING","schedulerType":"Default",\
                "start-time":1795309240512,"end-time":-1,"duration":24201,"state":"%s","last-modification":1795309243261,\
                "tasks":{"running":%d,"canceling":0,"canceled":0,"total":13,"created":0},"pending-operators":0}""".formatted(name, state, running);
    }

    private static String jobs(String... jobs) {
        return "{\"jobs\":[" + String.join(",", jobs) + "]}";
    }

    @Test
    void jobsAllOfWhoseTasksRunAreRunning() throws IOException {
        String live = job("limitation-job", "RUNNING", 13);

        assertThat(Hops.runningJobs(jobs(live), URL)).isEqualTo("1 job running");
        assertThat(Hops.runningJobs(jobs(job("old", "CANCELED", 0), live, live), URL))
                .isEqualTo("2 jobs running");
    }

    @Test
    void aJobThatWaitsForSlotsIsNot() {
        String overview = jobs(job("limitation-job", "RUNNING", 13), job("limitation-job-replay", "RESTARTING", 0));

        assertThatThrownBy(() -> Hops.runningJobs(overview, URL))
                .isInstanceOf(IOException.class)
                .hasMessage("job limitation-job-replay is RESTARTING, 0 of 13 tasks run, at http://127.0.0.1:18081:"
                        + " are there slots for it? Its log tells more");
    }

    @Test
    void noJobIsNone() {
        assertThatThrownBy(() -> Hops.runningJobs(jobs(job("limitation-job", "FINISHED", 0)), URL))
                .hasMessage("no job is running at http://127.0.0.1:18081");
    }
}
