// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a command was given: its options, then the environment, then what {@code services/} wrote when it started its
 * services, so that a demo needs no options at all.
 */
final class Settings {
    private static final int PORT_MAX = 65535;

    private final Map<String, String> options = new HashMap<>();
    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment;

    private Settings(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Reads a command line: {@code --name value} and {@code --name=value} of the known names, and arguments. */
    static Settings parse(Set<String> names, Map<String, String> environment, String... args) throws WrongOption {
        Settings settings = new Settings(environment);
        for (int i = 0; i < args.length; i++) {
            if (!args[i].startsWith("--")) {
                settings.arguments.add(args[i]);
                continue;
            }
            int equals = args[i].indexOf('=');
            String name = equals < 0 ? args[i] : args[i].substring(0, equals);
            if (!names.contains(name)) {
                throw new WrongOption("option " + name + " is not known: expected one of "
                        + String.join(", ", names.stream().sorted().toList()));
            }
            if (equals < 0 && i + 1 == args.length) {
                throw new WrongOption("option " + name + " has no value");
            }
            settings.options.put(name, equals < 0 ? args[++i] : args[i].substring(equals + 1));
        }
        return settings;
    }

    /** The environment of this process, filled up from {@code services.env} of the run directory if there is one. */
    static Map<String, String> processEnvironment() throws IOException {
        Map<String, String> all = new HashMap<>();
        String root = System.getProperty("chokepoint.root", ".");
        String run = System.getenv().getOrDefault("CHOKEPOINT_RUN", root + "/build/run");
        Path written = Path.of(run, "services.env");
        if (Files.isReadable(written)) {
            for (String line : Files.readAllLines(written)) {
                int equals = line.indexOf('=');
                if (equals > 0 && !line.startsWith("#")) {
                    all.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
        }
        all.putAll(System.getenv());
        return all;
    }

    /** What follows the options. */
    List<String> arguments() {
        return arguments;
    }

    /** The value of an option, else of a variable of the environment, else the default. */
    String get(String option, String variable, String otherwise) {
        String given = options.get(option);
        return given != null ? given : environment.getOrDefault(variable, otherwise);
    }

    /** The value of an option, or null. */
    @Nullable
    String get(String option) {
        return options.get(option);
    }

    /** A whole number within its range; null if the option is not given. */
    @Nullable
    Integer integer(String option, int min, int max) throws WrongOption {
        String text = options.get(option);
        if (text == null) {
            return null;
        }
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new WrongOption(
                "option " + option + " is '" + text + "': expected a whole number, " + min + " to " + max);
    }

    /** Where ClickHouse is and who asks; {@code role} is ADMIN or READER. */
    ClickHouse.Access access(String role, String defaultUser) throws WrongOption {
        String url = get("--clickhouse", "CHOKEPOINT_CLICKHOUSE", "http://127.0.0.1:18123");
        if (!isHttp(url)) {
            throw new WrongOption(
                    "option --clickhouse is '" + url + "': expected a URL such as http://127.0.0.1:18123");
        }
        String database = get("--database", "CHOKEPOINT_CLICKHOUSE_DATABASE", "chokepoint");
        if (!database.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw new WrongOption("option --database is '" + database + "': expected letters, digits and _");
        }
        String user = get("--user", "CHOKEPOINT_CLICKHOUSE_" + role + "_USER", defaultUser);
        return new ClickHouse.Access(url, database, user, password(role));
    }

    private static boolean isHttp(String text) {
        try {
            URI url = new URI(text);
            return ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                    && url.getHost() != null
                    && url.getPort() <= PORT_MAX;
        } catch (URISyntaxException e) {
            return false;
        }
    }

    private String password(String role) throws WrongOption {
        String file = options.get("--password-file");
        if (file != null) {
            try {
                return Files.readString(Path.of(file)).strip();
            } catch (IOException e) {
                throw new WrongOption("option --password-file is '" + file + "': expected a file that can be read");
            }
        }
        String password = environment.get("CHOKEPOINT_CLICKHOUSE_PASSWORD");
        return password != null
                ? password
                : environment.getOrDefault("CHOKEPOINT_CLICKHOUSE_" + role + "_PASSWORD", "");
    }
}
