// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.testkit.PacketScript;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The corpus of scripts, and that expectations can fail. */
class TimelineTest {
    private static final String ONE_PACKET = """
            +0.000 A > B S  0:0(0)        win 64240
            +0.010 B > A S. 0:0(0) ack 1  win 65160
            +0.000 A > B P. +100   ack 1
            expect %s
            """;

    static List<String> corpus() {
        return PacketScript.names(Path.of(System.getProperty("chokepoint.root", "../.."), "schemas/golden/scripts"));
    }

    @ParameterizedTest
    @MethodSource("corpus")
    void scriptsOfTheCorpusHoldWhatTheyExpect(String name) {
        Timeline.check(PacketScript.load(name));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "client A",
                "connection 1 A > B data_packets 1",
                "A > B data_packets 1, data_bytes 99..101, root_cause short_transfer",
                "A > B sub_cause slow_start, capacity_bits_per_second null",
                "A > B quality no_timestamps !hole",
                "A > B seconds",
                "B > A none",
            })
    void whatHoldsPasses(String expectation) {
        assertThatCode(() -> Timeline.check(ONE_PACKET.formatted(expectation))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "client B",
                "A > B data_packets 2",
                "A > B data_packets 1, data_bytes 101..102",
                "A > B root_cause application",
                "A > B data_packets null",
                "A > B capacity_bits_per_second 0",
                "A > B quality hole",
                "A > B quality !no_timestamps",
                "A > B seconds 0",
                "A > B second 0 data_packets 1",
                "connection 2 A > B data_packets 1",
                "A > B none",
                "B > A data_packets 0",
            })
    void whatDoesNotHoldFails(String expectation) {
        assertThatThrownBy(() -> Timeline.check(ONE_PACKET.formatted(expectation)))
                .isInstanceOf(AssertionError.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"anything at all", "A > B no_such_column 1", "A > B quality no_such_flag"})
    void whatIsNoExpectationIsRefused(String expectation) {
        assertThatThrownBy(() -> Timeline.check(ONE_PACKET.formatted(expectation)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
