// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrafanaAlertsTest {
    @Test
    void theLabelsOfWhatFiresEachOnce() throws IOException {
        String message = """
                {"receiver": "captures", "status": "firing", "orgId": 1, "truncatedAlerts": 0,
                 "alerts": [
                  {"status": "firing", "labels": {"alertname": "slow", "tap": "core-1"}, "annotations": {}, "values": {"B": 1}},
                  {"status": "resolved", "labels": {"alertname": "slow", "tap": "core-2"}},
                  {"status": "firing", "labels": {"alertname": "slow", "tap": "core-1"}, "startsAt": "2026-01-01T00:00:00Z"},
                  {"status": "firing", "labels": {"tap": "core-3"}}]}
                """;

        assertThat(GrafanaAlerts.firing(message))
                .containsExactly(Map.of("alertname", "slow", "tap", "core-1"), Map.of("tap", "core-3"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "null", "{\"alerts\": 1}"})
    void whatIsNoMessageOfGrafanaIsRefused(String text) {
        assertThatThrownBy(() -> GrafanaAlerts.firing(text))
                .isInstanceOf(IOException.class)
                .hasMessage("no alert of Grafana: there is no list called alerts");
    }

    @Test
    void jsonIsRead() throws IOException {
        assertThat(JsonReader.read(
                        " {\"a\" : [1, -2.5e1, true, false, null, \"\\u00e4\\n\\\"\\\\/\\/\"], \"b\":{}, \"c\":[]} "))
                .isEqualTo(Map.of(
                        "a", Arrays.asList(1.0, -25.0, true, false, null, "ä\n\"\\//"), "b", Map.of(), "c", List.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1,]",
                "{\"a\"}",
                "{\"a\":1,}",
                "\"",
                "\"\\x\"",
                "\"\\u12g4\"",
                "01",
                "1.",
                "+1",
                "tru",
                "nulll",
                "1 2",
                "\"\n\"",
                "{a:1}"
            })
    void whatIsNoJsonIsRefused(String text) {
        assertThatThrownBy(() -> JsonReader.read(text))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("no JSON: ");
    }

    @Test
    void depthIsBounded() {
        assertThatThrownBy(() -> JsonReader.read("[".repeat(100_000))).isInstanceOf(IOException.class);
    }
}
