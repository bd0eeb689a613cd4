// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/** The tables in ClickHouse, as a user who may only read; where they are comes from the environment. */
public final class VerdictStore {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SUCCESS_CLASS = 2;

    private final Map<String, String> environment;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    public VerdictStore(Map<String, String> environment) {
        this.environment = environment;
    }

    /** The address of the server. */
    public String url() {
        return setting("CHOKEPOINT_CLICKHOUSE", "http://127.0.0.1:18123");
    }

    /** The answer to a query, in the format that the query names. */
    public String ask(String query) throws IOException, InterruptedException {
        HttpRequest request;
        try {
            request = HttpRequest.newBuilder(
                            URI.create(url() + "/?database=" + setting("CHOKEPOINT_CLICKHOUSE_DATABASE", "chokepoint")))
                    .timeout(PATIENCE)
                    .header("X-ClickHouse-User", setting("CHOKEPOINT_CLICKHOUSE_READER_USER", "chokepoint_reader"))
                    .header("X-ClickHouse-Key", setting("CHOKEPOINT_CLICKHOUSE_READER_PASSWORD", ""))
                    .POST(HttpRequest.BodyPublishers.ofString(query))
                    .build();
        } catch (IllegalArgumentException e) {
            throw new IOException("CHOKEPOINT_CLICKHOUSE is '" + url() + "': expected a URL", e);
        }
        return send(request);
    }

    private String send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response;
        try {
            response = http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException("ClickHouse at " + url() + " does not answer", e);
        }
        if (response.statusCode() / 100 != SUCCESS_CLASS) {
            throw new IOException(
                    "ClickHouse: " + response.body().lines().findFirst().orElse("status " + response.statusCode()));
        }
        return response.body();
    }

    private String setting(String name, String otherwise) {
        String value = environment.get(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }
}
