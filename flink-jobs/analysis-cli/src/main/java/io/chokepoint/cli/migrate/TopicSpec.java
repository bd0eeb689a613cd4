// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * A topic as {@code topics.properties} wants it.
 *
 * @param config settings that are not the broker's default
 */
record TopicSpec(String name, int partitions, Map<String, String> config) {
    private static final String PARTITIONS = ".partitions";
    private static final String CONFIG = ".config.";

    TopicSpec withPartitions(int count) {
        return new TopicSpec(name, count, config);
    }

    /** The topics of a file, by name. */
    static List<TopicSpec> readAll(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " is malformed: " + e.getMessage(), e);
        }
        Map<String, String> all = new TreeMap<>();
        properties.stringPropertyNames().forEach(key -> all.put(key, properties.getProperty(key)));

        List<TopicSpec> topics = new ArrayList<>();
        for (Map.Entry<String, String> entry : all.entrySet()) {
            String key = entry.getKey();
            if (key.endsWith(PARTITIONS)) {
                String name = key.substring(0, key.length() - PARTITIONS.length());
                topics.add(new TopicSpec(name, Integer.parseInt(entry.getValue()), configOf(name, all)));
            } else if (!key.contains(CONFIG)) {
                throw new IOException(file + ": key " + key + " is not known");
            }
        }
        return topics;
    }

    private static Map<String, String> configOf(String topic, Map<String, String> all) {
        Map<String, String> config = new TreeMap<>();
        String prefix = topic + CONFIG;
        all.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                config.put(key.substring(prefix.length()), value);
            }
        });
        return config;
    }
}
