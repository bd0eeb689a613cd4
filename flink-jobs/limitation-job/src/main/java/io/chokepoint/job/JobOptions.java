// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.job.sink.ClickHouseSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.util.TimeUtils;
import org.jspecify.annotations.Nullable;

/** The options of the job: one table that parses, checks, logs and documents them. An option wins over its variable. */
public final class JobOptions {
    /** One line of the table. */
    enum Option {
        KAFKA("host:port,…", "127.0.0.1:19092", "CHOKEPOINT_KAFKA", "Brokers."),
        KAFKA_OPTIONS("key=value,…", "", null, "Further settings of the Kafka clients, as for TLS and SASL."),
        TOPIC("name", "tcp-segments", null, "Where probes write segment batches."),
        REJECTED_TOPIC("name", "tcp-segments-rejected", null, "Where records go that cannot be used, with the reason."),
        SCHEMA_TOPIC("name", "tcp-schemas", null, "Where probes publish their schema."),
        GROUP(
                "name",
                "limitation-job",
                null,
                "Consumer group, for watching the lag, and name of the job; progress is in checkpoints."),
        HASH_SEED("number", "0", null, "Seed of the flow hash; batches with another one are refused."),
        BOUNDED("true|false", "false", null, "Whether the job ends at what the topic holds when it starts."),
        INTERVAL("duration", "1 s", null, "Length of an interval."),
        LAYER("ip|l2|wire", "l2", null, "Layer on which all rates of a row are counted."),
        ROW_VERSION("number", "1", null, "Analysis generation; raised when history is analysed anew on purpose."),
        TENANTS(
                "path",
                "",
                null,
                "List of lines PREFIX,TENANT, read where the job is submitted: the longest prefix of an address names"
                        + " `client_tenant` and `server_tenant`."),
        IDLE(
                "duration",
                "40 min",
                null,
                "Silence of the log after which a flow without end mark is ended; at least 30 min."),
        LIVE_MEMORY(
                "size",
                "192 mb",
                null,
                "Heap of each slot for the flows with the newest packets: half a KiB each in their first 50 packets, 8 to 18 "
                        + "KiB later; others are bytes in the state, read and written for each run."),
        CLICKHOUSE("url", "http://127.0.0.1:18123", "CHOKEPOINT_CLICKHOUSE", "HTTP interface of ClickHouse."),
        CLICKHOUSE_DATABASE("name", "chokepoint", "CHOKEPOINT_CLICKHOUSE_DATABASE", "Database of the tables."),
        CLICKHOUSE_USER("name", "chokepoint_writer", "CHOKEPOINT_CLICKHOUSE_WRITER_USER", "User that inserts."),
        CLICKHOUSE_PASSWORD_FILE(
                "path",
                "",
                null,
                "File with its password, on the TaskManagers; else the password is taken from "
                        + "CHOKEPOINT_CLICKHOUSE_WRITER_PASSWORD where the job is submitted."),
        INSERT_ROWS("number", "100000", null, "Most rows of an insert."),
        INSERT_DELAY(
                "duration",
                "250 ms",
                null,
                "Longest time from the row of an interval that has ended within the last 10 s to its insert; other rows "
                        + "may wait four times as long."),
        INSERT_MEMORY("size", "64 mb", null, "Most bytes of rows that wait for ClickHouse; then the job waits, too.");

        private final String form;
        private final String standard;
        private final @Nullable String variable;
        private final String prose;

        Option(String form, String standard, @Nullable String variable, String prose) {
            this.form = form;
            this.standard = standard;
            this.variable = variable;
            this.prose = prose;
        }

        String flag() {
            return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** What was given cannot be used; the message is one sentence for people. */
    public static final class WrongOption extends Exception {
        private static final long serialVersionUID = 1L;

        WrongOption(String sentence) {
            super(sentence);
        }
    }

    private static final String PASSWORD_VARIABLE = "CHOKEPOINT_CLICKHOUSE_WRITER_PASSWORD";
    private static final Duration SHORTEST_IDLE = Duration.ofMinutes(30);
    private static final Duration LONGEST = Duration.ofDays(365);
    private static final MemorySize LEAST_MEMORY = MemorySize.ofMebiBytes(1);

    private final Map<Option, String> values = new EnumMap<>(Option.class);
    private final Map<String, String> environment;

    private JobOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Reads {@code --option value} and {@code --option=value}; {@code --bounded} alone means true. */
    public static JobOptions parse(String[] arguments, Map<String, String> environment) throws WrongOption {
        JobOptions options = new JobOptions(environment);
        for (Option option : Option.values()) {
            String given = option.variable == null ? null : environment.get(option.variable);
            options.values.put(option, given == null || given.isEmpty() ? option.standard : given);
        }
        for (int i = 0; i < arguments.length; i++) {
            String[] parts = arguments[i].split("=", 2);
            Option option = byFlag(parts[0]);
            boolean alone = parts.length == 1;
            if (alone && option == Option.BOUNDED && (i + 1 == arguments.length || arguments[i + 1].startsWith("--"))) {
                options.values.put(option, "true");
            } else if (!alone) {
                options.values.put(option, parts[1]);
            } else if (i + 1 < arguments.length) {
                options.values.put(option, arguments[++i]);
            } else {
                throw new WrongOption(option.flag() + " needs a value: " + option.form);
            }
        }
        options.check();
        return options;
    }

    private static Option byFlag(String flag) throws WrongOption {
        for (Option option : Option.values()) {
            if (option.flag().equals(flag)) {
                return option;
            }
        }
        throw new WrongOption("unknown option " + flag + ": --print-options lists those there are");
    }

    private void check() throws WrongOption {
        settings();
        clickHouse();
        hashSeed();
        isBounded();
        liveBytes();
        kafka();
        if (idle().compareTo(SHORTEST_IDLE) < 0) {
            throw wrong(Option.IDLE, "at least 30 min");
        }
    }

    private String value(Option option) {
        return values.getOrDefault(option, option.standard);
    }

    private WrongOption wrong(Option option, String expected) {
        return new WrongOption(option.flag() + " is '" + value(option) + "', expected " + expected);
    }

    private long number(Option option) throws WrongOption {
        try {
            return Long.parseLong(value(option));
        } catch (NumberFormatException e) {
            throw wrong(option, "a whole number");
        }
    }

    private int numberFrom(int least, Option option) throws WrongOption {
        long number = number(option);
        if (number < least) {
            throw wrong(option, "a whole number of at least " + least);
        }
        if (number > Integer.MAX_VALUE) {
            throw wrong(option, "a whole number of at most " + Integer.MAX_VALUE);
        }
        return (int) number;
    }

    private Duration duration(Option option) throws WrongOption {
        try {
            Duration duration = TimeUtils.parseDuration(value(option));
            if (duration.isNegative() || duration.isZero() || duration.compareTo(LONGEST) > 0) {
                throw wrong(option, "a duration above zero and of at most 365 d");
            }
            return duration;
        } catch (IllegalArgumentException e) {
            throw wrong(option, "a duration such as '500 ms', '1 s' or '40 min'");
        }
    }

    /** Choices that change rows. */
    public AnalysisSettings settings() throws WrongOption {
        return new AnalysisSettings(
                duration(Option.INTERVAL).toNanos(), layer(), numberFrom(0, Option.ROW_VERSION), tenants());
    }

    private Tenants tenants() throws WrongOption {
        String file = value(Option.TENANTS);
        try {
            return file.isEmpty() ? Tenants.NONE : Tenants.parse(Files.readAllLines(Path.of(file)));
        } catch (IllegalArgumentException e) {
            throw wrong(Option.TENANTS, "a list of tenants: " + e.getMessage());
        } catch (IOException e) {
            throw wrong(Option.TENANTS, "a file that can be read, of UTF-8");
        }
    }

    private Layer layer() throws WrongOption {
        for (Layer layer : Layer.values()) {
            if (layer.name().equalsIgnoreCase(value(Option.LAYER))) {
                return layer;
            }
        }
        throw wrong(Option.LAYER, "ip, l2 or wire");
    }

    /** Where rows go. */
    public ClickHouseSettings clickHouse() throws WrongOption {
        String file = value(Option.CLICKHOUSE_PASSWORD_FILE);
        ClickHouseSettings.Secret secret = file.isEmpty()
                ? new ClickHouseSettings.Secret(environment.get(PASSWORD_VARIABLE), null)
                : new ClickHouseSettings.Secret(null, file);
        return new ClickHouseSettings(
                value(Option.CLICKHOUSE),
                value(Option.CLICKHOUSE_DATABASE),
                value(Option.CLICKHOUSE_USER),
                secret,
                numberFrom(1, Option.INSERT_ROWS),
                duration(Option.INSERT_DELAY),
                size(Option.INSERT_MEMORY).getBytes());
    }

    private MemorySize size(Option option) throws WrongOption {
        try {
            MemorySize size = MemorySize.parse(value(option));
            if (size.compareTo(LEAST_MEMORY) < 0) {
                throw wrong(option, "at least 1 mb");
            }
            return size;
        } catch (IllegalArgumentException e) {
            throw wrong(option, "a size such as '64 mb'");
        }
    }

    /** Settings of every Kafka client. */
    public Properties kafka() throws WrongOption {
        Properties properties = new Properties();
        for (String setting : value(Option.KAFKA_OPTIONS).split(",", -1)) {
            if (setting.isEmpty()) {
                continue;
            }
            String[] parts = setting.split("=", 2);
            if (parts.length != 2) {
                throw wrong(Option.KAFKA_OPTIONS, "key=value pairs");
            }
            properties.setProperty(parts[0], parts[1]);
        }
        properties.setProperty("bootstrap.servers", value(Option.KAFKA));
        return properties;
    }

    /** Seed of the flow hash. */
    public long hashSeed() throws WrongOption {
        return number(Option.HASH_SEED);
    }

    /** Whether the job ends by itself. */
    public boolean isBounded() throws WrongOption {
        return switch (value(Option.BOUNDED)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw wrong(Option.BOUNDED, "true or false");
        };
    }

    /** Silence that ends a flow. */
    public Duration idle() throws WrongOption {
        return duration(Option.IDLE);
    }

    /** About how much heap a slot's flows may take. */
    public long liveBytes() throws WrongOption {
        return size(Option.LIVE_MEMORY).getBytes();
    }

    public String topic() {
        return value(Option.TOPIC);
    }

    public String rejectedTopic() {
        return value(Option.REJECTED_TOPIC);
    }

    public String schemaTopic() {
        return value(Option.SCHEMA_TOPIC);
    }

    public String group() {
        return value(Option.GROUP);
    }

    /** All values on one line; no secret is among them. */
    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        values.forEach((option, value) -> line.append(line.isEmpty() ? "" : " ")
                .append(option.flag().substring(2))
                .append('=')
                .append(option == Option.KAFKA_OPTIONS ? "(" + value.length() + " characters)" : value));
        return line.toString();
    }

    /** The table as Markdown: what {@code docs/job-options.md} holds. */
    public static String markdown() {
        StringBuilder table = new StringBuilder("# Options of the job\n\n")
                .append("`services/flink run limitation-job.jar --option value …`; this page is what `--print-options`"
                        + " prints.\n\n")
                .append("| option | value | default | variable | meaning |\n|---|---|---|---|---|\n");
        for (Option option : Option.values()) {
            table.append("| `")
                    .append(option.flag())
                    .append("` | ")
                    .append(option.form.replace("|", "\\|"))
                    .append(" | ")
                    .append(option.standard.isEmpty() ? "" : "`" + option.standard + "`")
                    .append(" | ")
                    .append(option.variable == null ? "" : "`" + option.variable + "`")
                    .append(" | ")
                    .append(option.prose)
                    .append(" |\n");
        }
        return table.toString();
    }
}
