// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import io.chokepoint.cli.WrongOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code capture} was asked for.
 *
 * @param asked who is asked for what
 * @param seconds how much of the past
 * @param output file or folder that is written to; null: named after the flow, here
 */
record CaptureOptions(Asked asked, int seconds, @Nullable String output) {
    private static final int SECONDS_MAX = 3600;
    private static final int DEFAULT_SECONDS = 30;
    private static final List<String> NAMES =
            List.of("--probe", "--key", "--flow", "--probes", "--alert", "--seconds", "--output");

    /** Who is asked for what. */
    sealed interface Asked {}

    /** One flow of one probe. */
    record OneFlow(Probe probe, Flow flow) implements Asked {}

    /**
     * The flows of alerts.
     *
     * @param probes by the name of their tap
     * @param file what Grafana has sent; {@code -} is standard input
     */
    record Alert(Map<String, Probe> probes, String file) implements Asked {}

    /** Reads a command line. */
    static CaptureOptions parse(String... args) throws WrongOption {
        Map<String, String> given = values(args);
        Asked asked;
        if (given.containsKey("--alert")) {
            refuse(given, "--alert", "--probe", "--key", "--flow");
            asked = new Alert(Probe.ofFile(need(given, "--probes", "a file")), need(given, "--alert", "a file, or -"));
        } else {
            refuse(given, "--flow", "--probes");
            String flow = need(given, "--flow", "a flow such as '192.0.2.1:40000>198.51.100.2:443', or --alert");
            String url = need(given, "--probe", "a URL such as http://127.0.0.1:9465");
            asked = new OneFlow(Probe.of(url, need(given, "--key", "a file")), flow(flow));
        }
        return new CaptureOptions(asked, seconds(given.get("--seconds")), given.get("--output"));
    }

    private static Map<String, String> values(String... args) throws WrongOption {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            String name = equals < 0 ? args[i] : args[i].substring(0, equals);
            if (!NAMES.contains(name)) {
                throw new WrongOption((name.startsWith("-") ? "option " : "argument ") + name
                        + " is not known: expected " + expected());
            }
            if (equals < 0 && i + 1 == args.length) {
                throw new WrongOption("option " + name + " has no value");
            }
            values.put(name, equals < 0 ? args[++i] : args[i].substring(equals + 1));
        }
        return values;
    }

    private static String expected() {
        int last = NAMES.size() - 1;
        return NAMES.subList(0, last).stream().collect(Collectors.joining(", ")) + " or " + NAMES.get(last);
    }

    private static void refuse(Map<String, String> given, String with, String... names) throws WrongOption {
        for (String name : names) {
            if (given.containsKey(name)) {
                throw new WrongOption("option " + name + " is too much with " + with + ": expected either");
            }
        }
    }

    private static String need(Map<String, String> given, String name, String expected) throws WrongOption {
        String value = given.get(name);
        if (value == null) {
            throw new WrongOption("option " + name + " is missing: expected " + expected);
        }
        return value;
    }

    private static Flow flow(String text) throws WrongOption {
        Flow flow = Flow.parse(text);
        if (flow == null) {
            throw new WrongOption("option --flow is '" + text
                    + "': expected a flow such as '192.0.2.1:40000>198.51.100.2:443', IPv6 in brackets");
        }
        return flow;
    }

    private static int seconds(@Nullable String text) throws WrongOption {
        if (text == null) {
            return DEFAULT_SECONDS;
        }
        if (text.matches("\\d{1,4}") && Integer.parseInt(text) >= 1 && Integer.parseInt(text) <= SECONDS_MAX) {
            return Integer.parseInt(text);
        }
        throw new WrongOption("option --seconds is '" + text + "': expected a whole number, 1 to " + SECONDS_MAX);
    }
}
