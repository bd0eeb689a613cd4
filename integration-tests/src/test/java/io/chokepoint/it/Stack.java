// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Kafka, Flink and ClickHouse of one test, real and on free ports, and the job in them. */
final class Stack implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofMinutes(3);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Path directory;
    private final Map<String, String> environment = new HashMap<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private String job = "";

    private Stack(Path directory) {
        this.directory = directory;
        environment.put("CHOKEPOINT_RUN", directory.toString());
        environment.put("CHOKEPOINT_PORTS", "free");
    }

    /** Starts the services, creates topics and tables, and submits the job. */
    static Stack start(int parallelism, int partitions, String... jobOptions) throws IOException {
        return start("hashmap", parallelism, partitions, jobOptions);
    }

    /** As {@link #start(int, int, String...)}, with the state of the job in {@code hashmap} or {@code rocksdb}. */
    static Stack start(String stateBackend, int parallelism, int partitions, String... jobOptions) throws IOException {
        return start(Map.of("CHOKEPOINT_FLINK_STATE_BACKEND", stateBackend), parallelism, partitions, jobOptions);
    }

    /** As {@link #start(int, int, String...)}, with variables of {@code services/README.md}; each topic is on all brokers. */
    static Stack start(Map<String, String> variables, int parallelism, int partitions, String... jobOptions)
            throws IOException {
        Stack stack = services(variables, partitions);
        try {
            stack.job = stack.submit(List.of("-p", parallelism), jobOptions);
            return stack;
        } catch (Throwable e) {
            stack.close();
            throw e;
        }
    }

    /** Starts the services and creates topics and tables; no job runs. */
    static Stack services(Map<String, String> variables, int partitions) throws IOException {
        Stack stack = new Stack(Files.createTempDirectory("chokepoint-it-"));
        stack.environment.putAll(variables);
        try {
            stack.service("stack", "start").run().succeeded();
            for (String line : Files.readAllLines(stack.directory.resolve("services.env"))) {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    stack.environment.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
            stack.chokepoint("migrate", "--partitions", partitions)
                    .with("--replication", variables.getOrDefault("CHOKEPOINT_KAFKA_BROKERS", "1"))
                    .run()
                    .succeeded();
            return stack;
        } catch (Throwable e) {
            stack.close();
            throw e;
        }
    }

    /** Goes on from a savepoint. */
    void restore(Path savepoint, int parallelism, String... jobOptions) {
        job = submit(List.of("-p", parallelism, "-s", savepoint), jobOptions);
    }

    /** Submits a job, and returns its id. */
    String submit(List<Object> flinkOptions, String... jobOptions) {
        return service("flink", "run", "-d")
                .with(flinkOptions.toArray())
                .with(Command.ROOT.resolve("flink-jobs/limitation-job/target/limitation-job.jar"))
                .with((Object[]) jobOptions)
                .run()
                .succeeded()
                .get(0);
    }

    /** Writes a savepoint and ends the job; where it is. */
    Path stop() {
        String path = service("flink", "savepoint", job).run().succeeded().stream()
                .filter(line -> line.contains("Path: file:"))
                .map(line -> line.substring(line.indexOf("file:") + "file:".length()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no path of the savepoint of job " + job));
        service("flink", "cancel", job).run().succeeded();
        return Path.of(path);
    }

    /** The launcher, among these services. */
    Command chokepoint(Object... arguments) {
        return Command.chokepoint(arguments).environment(environment);
    }

    /** One of the scripts of {@code services/}. */
    Command service(String name, Object... arguments) {
        return Command.of(Command.ROOT.resolve("services").resolve(name), arguments)
                .environment(environment);
    }

    /** A line of the shell that knows where the services are. */
    Command shell(String line, Object... arguments) {
        return Command.shell(line, arguments).environment(environment);
    }

    /** Plays a capture through the probe into Kafka; the probe's books come back. */
    Map<String, Long> play(Path capture, Object... probeOptions) throws IOException {
        Path ledger = directory.resolve("ledger.json");
        Command.of(Command.ROOT.resolve("build/probe/chokepoint-probe"), "--tap", Samples.tap(capture))
                .with("--kafka", environment.get("CHOKEPOINT_KAFKA"), "--ledger", ledger)
                .with(probeOptions)
                .with(capture)
                .run()
                .succeeded();
        Map<String, Long> counters = new HashMap<>();
        Rows.parse(Files.readString(ledger))
                .path("counters")
                .properties()
                .forEach(counter ->
                        counters.put(counter.getKey(), counter.getValue().asLong()));
        return counters;
    }

    /** Rows of a query as JSON lines with ISO instants and plain 64-bit numbers. */
    List<String> ask(String query) throws IOException {
        return ask(
                "READER",
                query
                        + " FORMAT JSONEachRow SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0");
    }

    /** Sends a statement as one of the users: {@code READER}, {@code WRITER} or {@code ADMIN}. */
    List<String> ask(String user, String statement) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create(environment.get("CHOKEPOINT_CLICKHOUSE") + "/?database=chokepoint"))
                .header("X-ClickHouse-User", environment.get("CHOKEPOINT_CLICKHOUSE_" + user + "_USER"))
                .header("X-ClickHouse-Key", environment.get("CHOKEPOINT_CLICKHOUSE_" + user + "_PASSWORD"))
                .POST(HttpRequest.BodyPublishers.ofString(statement))
                .build();
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new AssertionError(statement + ": " + response.body());
            }
            return new ArrayList<>(response.body().lines().toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** All rows of the views, as {@code analyze --format json} would print them. */
    List<String> rows() throws IOException {
        List<String> rows = ask("SELECT 'limitation_interval' AS record, * FROM limitation_intervals");
        rows.addAll(ask("SELECT 'flow' AS record, * FROM flows"));
        rows.addAll(ask("SELECT 'bottleneck_group' AS record, * FROM bottleneck_groups"));
        rows.addAll(ask("SELECT 'flow_path_interval' AS record, * FROM flow_path_intervals"));
        return rows;
    }

    /** Asks until the answer is good, and returns it; fails with the last answer when the time is over. */
    static <T> T await(String what, Supplier<T> question, Predicate<T> good) {
        return await(what, DEADLINE, question, good);
    }

    /** As {@link #await(String, Supplier, Predicate)}, with another deadline. */
    static <T> T await(String what, Duration deadline, Supplier<T> question, Predicate<T> good) {
        T answer = awaitAnyway(deadline, question, good);
        if (!good.test(answer)) {
            throw new AssertionError(what + " did not come about within " + deadline + "; last seen: " + answer);
        }
        return answer;
    }

    /** Asks until the answer is good or the time is over, and returns the last answer. */
    static <T> T awaitAnyway(Duration deadline, Supplier<T> question, Predicate<T> good) {
        long end = System.nanoTime() + deadline.toNanos();
        T answer = question.get();
        while (!good.test(answer) && System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE.toNanos());
            answer = question.get();
        }
        return answer;
    }

    /** What {@link #rows} gives, to be compared. */
    List<Map<String, String>> parsedRows() {
        try {
            return Rows.of(rows());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sums of a query with the columns {@code name} and {@code n}. */
    Map<String, Long> counts(String query) {
        try {
            Map<String, Long> counts = new TreeMap<>();
            for (String line : ask(query)) {
                JsonNode row = Rows.parse(line);
                counts.put(row.path("name").asText(), row.path("n").asLong());
            }
            return counts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** In the end, in the minutes is all that is in the intervals, and nothing else. */
    void awaitMinutesThatAddUp() {
        String query = """
                SELECT 'apart' AS name, count() AS n FROM
                (
                    SELECT flow_id, tap, direction, minute, intervals, bytes, ns FROM
                    (
                        SELECT flow_id, tap, direction, toDateTime64(toStartOfMinute(interval_start), 9, 'UTC') AS minute,
                            toUInt64(count()) AS intervals, sum(data_bytes) AS bytes, sum(transport_ns) AS ns
                        FROM limitation_intervals_stored FINAL GROUP BY ALL
                        UNION ALL
                        SELECT flow_id, tap, direction, minute, intervals, data_bytes, transport_ns
                        FROM limitation_minutes_stored FINAL
                    )
                    GROUP BY ALL HAVING count() != 2
                )
                """;

        await("minutes that add up", () -> counts(query), seen -> seen.getOrDefault("apart", -1L) == 0);
    }

    /** What Flink tells of the job, at a path below {@code /jobs/ID}; empty while there is no JobManager. */
    String ofTheJob(String path) {
        URI uri = URI.create(environment.get("CHOKEPOINT_FLINK") + "/jobs/" + job + path);
        try {
            return http.send(
                            HttpRequest.newBuilder(uri).timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** The process of a service, as its {@code .pid} file names it. */
    long pid(String service, String process) throws IOException {
        String file = Files.readString(directory.resolve(service).resolve(process + ".pid"));
        return Long.parseLong(file.substring(0, file.indexOf(' ')));
    }

    /** Its run directory. */
    Path directory() {
        return directory;
    }

    /** Where the services are. */
    Map<String, String> environment() {
        return environment;
    }

    /** Id of the job. */
    String job() {
        return job;
    }

    @Override
    public void close() {
        service("stack", "stop").run();
        Command.of("rm", "-rf", directory).run();
    }
}
