// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** What Grafana sends to a contact point of the type webhook. */
final class GrafanaAlerts {
    private GrafanaAlerts() {}

    /** The labels of the alerts that fire, each set once. */
    static List<Map<String, String>> firing(String json) throws IOException {
        if (!(JsonReader.read(json) instanceof Map<?, ?> message)
                || !(message.get("alerts") instanceof List<?> alerts)) {
            throw new IOException("no alert of Grafana: there is no list called alerts");
        }
        LinkedHashSet<Map<String, String>> firing = new LinkedHashSet<>();
        for (Object item : alerts) {
            if (item instanceof Map<?, ?> alert
                    && "firing".equals(alert.get("status"))
                    && alert.get("labels") instanceof Map<?, ?> labels) {
                firing.add(texts(labels));
            }
        }
        return new ArrayList<>(firing);
    }

    private static Map<String, String> texts(Map<?, ?> labels) {
        Map<String, String> texts = new LinkedHashMap<>();
        labels.forEach((name, value) -> {
            if (name instanceof String label && value instanceof String text) {
                texts.put(label, text);
            }
        });
        return texts;
    }
}
