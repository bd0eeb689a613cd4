// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.doctor;

import io.chokepoint.cli.VerdictStore;
import io.chokepoint.cli.doctor.Doctor.Hop;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;

/** The hops from packet to verdict, in the order of the way. */
final class Hops {
    private static final int PATIENCE_SECONDS = 5;
    private static final String SEGMENTS = "tcp-segments";
    private static final String START = "start the local services by services/stack start, or name yours in ";

    /** A job in Flink's overview of jobs. */
    private static final Pattern JOB = Pattern.compile(
            "\"name\":\"(?<name>[^\"]*)\".*?\"state\":\"(?<state>[A-Z]+)\"" + ".*?\"tasks\":\\{(?<tasks>[^}]*)}");

    private static final Set<String> ENDED = Set.of("FINISHED", "CANCELED", "FAILED", "SUSPENDED");

    private final Path root;
    private final Map<String, String> environment;
    private final VerdictStore store;
    private final HttpClient http = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(PATIENCE_SECONDS))
            .build();

    private Hops(Path root, Map<String, String> environment) {
        this.root = root;
        this.environment = environment;
        this.store = new VerdictStore(environment);
    }

    /** The hops of an installation. */
    static List<Hop> of(Path root, Map<String, String> environment) {
        Hops hops = new Hops(root, environment);
        return List.of(
                new Hop("java", "", Hops::java, "install openjdk-17-jdk-headless"),
                new Hop("probe", "", hops::probe, "build it: chokepoint build probe"),
                new Hop("job", "", hops::jobJar, "build it: chokepoint build job"),
                new Hop("kafka", "", hops::kafka, START + "CHOKEPOINT_KAFKA=HOST:PORT"),
                new Hop("topics", "kafka", hops::topics, "create them: chokepoint migrate --only topics"),
                new Hop("flink", "", hops::flink, START + "CHOKEPOINT_FLINK=URL"),
                new Hop("running", "flink", hops::runningJob, "submit it: services/flink run -d " + JOB_JAR),
                new Hop("clickhouse", "", hops::clickHouse, START + "CHOKEPOINT_CLICKHOUSE=URL"),
                new Hop(
                        "tables",
                        "clickhouse",
                        hops::tables,
                        "create them, or bring them to this version: chokepoint migrate --only tables"));
    }

    private static final String JOB_JAR = "flink-jobs/limitation-job/target/limitation-job.jar";

    private static String java() {
        return Runtime.version().toString();
    }

    private String probe() throws IOException, InterruptedException {
        Path probe = root.resolve("build/probe/chokepoint-probe");
        if (!Files.isExecutable(probe)) {
            throw new IOException(probe + " is not there");
        }
        Process process = new ProcessBuilder(probe.toString(), "--version")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(probe + " does not run: " + said);
        }
        return said;
    }

    private String jobJar() throws IOException {
        Path jar = root.resolve(JOB_JAR);
        if (!Files.isReadable(jar)) {
            throw new IOException(jar + " is not there");
        }
        return JOB_JAR;
    }

    private String kafka() throws IOException, InterruptedException {
        try (Admin admin = admin()) {
            int brokers = get(admin.describeCluster().nodes()).size();
            return brokers + (brokers == 1 ? " broker at " : " brokers at ") + brokers();
        }
    }

    private String topics() throws IOException, InterruptedException {
        try (Admin admin = admin()) {
            TopicDescription topic = get(admin.describeTopics(Set.of(SEGMENTS)).allTopicNames())
                    .values()
                    .iterator()
                    .next();
            return SEGMENTS + " has " + topic.partitions().size() + " partitions";
        }
    }

    private String brokers() {
        return setting("CHOKEPOINT_KAFKA", "127.0.0.1:19092");
    }

    private Admin admin() {
        int patienceMillis = (int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS);
        return Admin.create(Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokers(),
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, patienceMillis,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, patienceMillis));
    }

    private <T> T get(org.apache.kafka.common.KafkaFuture<T> future) throws IOException, InterruptedException {
        try {
            return future.get(2L * PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            boolean silent = cause instanceof org.apache.kafka.common.errors.TimeoutException;
            throw new IOException(silent ? brokers() + " does not answer" : String.valueOf(cause.getMessage()), e);
        } catch (TimeoutException e) {
            throw new IOException(brokers() + " does not answer", e);
        }
    }

    private String flink() throws IOException, InterruptedException {
        String overview = ask(flinkUrl() + "/overview");
        int taskManagers = number(overview, "taskmanagers");
        if (taskManagers == 0) {
            throw new IOException("the JobManager at " + flinkUrl() + " has no TaskManager");
        }
        return taskManagers + (taskManagers == 1 ? " TaskManager, " : " TaskManagers, ")
                + number(overview, "slots-available") + " of " + number(overview, "slots-total") + " slots free, "
                + flinkUrl();
    }

    private String runningJob() throws IOException, InterruptedException {
        return runningJobs(ask(flinkUrl() + "/jobs/overview"), flinkUrl());
    }

    /** What Flink's overview of jobs says; throws if there is none, or one without all of its tasks. */
    static String runningJobs(String overview, String url) throws IOException {
        int running = 0;
        Matcher jobs = JOB.matcher(overview);
        while (jobs.find()) {
            if (ENDED.contains(jobs.group("state"))) {
                continue;
            }
            int tasks = number(jobs.group("tasks"), "running");
            int wanted = number(jobs.group("tasks"), "total");
            if (tasks < wanted) {
                throw new IOException("job " + jobs.group("name") + " is " + jobs.group("state") + ", " + tasks + " of "
                        + wanted + " tasks run, at " + url + ": are there slots for it? Its log tells more");
            }
            running++;
        }
        if (running == 0) {
            throw new IOException("no job is running at " + url);
        }
        return running + (running == 1 ? " job running" : " jobs running");
    }

    private String flinkUrl() {
        return setting("CHOKEPOINT_FLINK", "http://127.0.0.1:18081");
    }

    private String clickHouse() throws IOException, InterruptedException {
        ask(store.url() + "/ping");
        return store.url();
    }

    private String tables() throws IOException, InterruptedException {
        String[] counts = store.ask("SELECT count(), uniq(tap) FROM flows FORMAT TabSeparated")
                .strip()
                .split("\t", -1);
        return "flows has " + counts[0] + " rows of " + counts[1] + " taps";
    }

    private String ask(String url) throws IOException, InterruptedException {
        try {
            return send(HttpRequest.newBuilder(URI.create(url))
                    .timeout(Duration.ofSeconds(PATIENCE_SECONDS))
                    .build());
        } catch (IllegalArgumentException e) {
            throw new IOException(url + " is no URL", e);
        }
    }

    private String send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response;
        try {
            response = http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException(origin(request.uri()) + " does not answer", e);
        }
        if (response.statusCode() / 100 != 2) {
            throw new IOException(response.body().lines().findFirst().orElse("status " + response.statusCode()));
        }
        return response.body();
    }

    private static String origin(URI uri) {
        return uri.getScheme() + "://" + uri.getAuthority();
    }

    private String setting(String name, String otherwise) {
        String value = environment.get(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(String json, String name) throws IOException {
        Matcher matcher = Pattern.compile("\"" + name + "\":([0-9]+)").matcher(json);
        if (!matcher.find()) {
            throw new IOException("the answer has no " + name + ": " + json);
        }
        return Integer.parseInt(matcher.group(1));
    }
}
