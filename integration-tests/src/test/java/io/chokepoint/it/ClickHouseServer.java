// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tables on a real server of their own, without the rest of the pipeline. */
final class ClickHouseServer implements AutoCloseable {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<String, String> environment = new HashMap<>();
    private final Path services;

    private ClickHouseServer(Path services, Path run) {
        this.services = services;
        environment.put("CHOKEPOINT_RUN", run.toString());
        environment.put("CHOKEPOINT_PORTS", "free");
    }

    /** Starts it in a directory, with a further file of users; it has no tables yet. */
    static ClickHouseServer start(Path directory, String usersXml) throws IOException {
        Command.of("cp", "-r", Command.ROOT.resolve("services"), directory)
                .run()
                .succeeded();
        Path services = directory.resolve("services");
        Files.writeString(services.resolve("conf/clickhouse/users.d/zz-test.xml"), usersXml);
        ClickHouseServer server = new ClickHouseServer(services, Files.createDirectory(directory.resolve("run")));
        try {
            server.service("start").run().succeeded();
            for (String line : Files.readAllLines(directory.resolve("run/services.env"))) {
                int equals = line.indexOf('=');
                server.environment.put(line.substring(0, Math.max(0, equals)), line.substring(equals + 1));
            }
            server.environment.remove("");
            return server;
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private Command service(String verb) {
        return Command.of(services.resolve("clickhouse"), verb).environment(environment);
    }

    /** The launcher, at this server. */
    Command chokepoint(Object... arguments) {
        return Command.chokepoint(arguments).environment(environment);
    }

    /** Makes the tables in a database. */
    void migrate(String database) {
        chokepoint("migrate", "--only", "tables", "--database", database).run().succeeded();
    }

    /** The lines of an answer to the administrator. */
    List<String> ask(String database, String statement) {
        return ask(
                environment.get("CHOKEPOINT_CLICKHOUSE_ADMIN_USER"),
                environment.get("CHOKEPOINT_CLICKHOUSE_ADMIN_PASSWORD"),
                database,
                statement);
    }

    /** The lines of an answer to a user. */
    List<String> ask(String user, String password, String database, String statement) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create(environment.get("CHOKEPOINT_CLICKHOUSE") + "/?database=" + database))
                .header("X-ClickHouse-User", user)
                .header("X-ClickHouse-Key", password)
                .POST(HttpRequest.BodyPublishers.ofString(statement))
                .build();
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new AssertionError(statement + ": " + response.body());
            }
            return response.body().lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        service("stop").run();
    }
}
