// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import com.clickhouse.client.api.ClickHouseException;
import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.ServerException;
import com.clickhouse.client.api.query.GenericRecord;
import com.clickhouse.client.api.query.QueryResponse;
import com.clickhouse.client.api.query.QuerySettings;
import com.clickhouse.data.ClickHouseFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A ClickHouse server over HTTP. What goes wrong is one sentence that names the option to look at. */
final class ClickHouse implements AutoCloseable {
    private static final int CONNECT_SECONDS = 5;
    private static final int ANSWER_MINUTES = 10;
    private static final int CODE_UNKNOWN_DATABASE = 81;
    private static final int CODE_AUTHENTICATION_FAILED = 516;

    private final Access access;
    private final Client client;

    /**
     * Where the server is and who asks.
     *
     * @param url of the HTTP interface
     */
    record Access(String url, String database, String user, String password) {}

    private ClickHouse(Access access, String database) {
        this.access = access;
        this.client = new Client.Builder()
                .addEndpoint(access.url())
                .setUsername(access.user())
                .setPassword(access.password())
                .setDefaultDatabase(database)
                .setConnectTimeout(CONNECT_SECONDS, ChronoUnit.SECONDS)
                .setSocketTimeout(ANSWER_MINUTES, ChronoUnit.MINUTES)
                .compressServerResponse(false)
                .setMaxRetries(0)
                .build();
    }

    /** Statements run in the database. */
    static ClickHouse of(Access access) {
        return new ClickHouse(access, access.database());
    }

    /** Statements run in the server's own database, as long as that of {@code access} may not be there. */
    static ClickHouse withoutDatabase(Access access) {
        return new ClickHouse(access, "default");
    }

    /** Runs a statement. */
    void execute(String statement) throws IOException, InterruptedException {
        release(get(() -> client.execute(statement)));
    }

    /** All rows of a small result. */
    List<GenericRecord> rows(String query) throws IOException {
        try {
            return client.queryAll(query);
        } catch (ClickHouseException e) {
            throw failure(e);
        }
    }

    /** Writes the result in a format of ClickHouse; nothing of it if the query fails. */
    void print(String query, ClickHouseFormat format, QuerySettings settings, OutputStream out)
            throws IOException, InterruptedException {
        QueryResponse response =
                get(() -> client.query(query, settings.setFormat(format).waitEndOfQuery(true)));
        try {
            response.getInputStream().transferTo(out);
        } finally {
            release(response);
        }
    }

    /** Gives the connection back; the answer was read, so what goes wrong here costs nothing. */
    private static void release(AutoCloseable response) throws InterruptedException {
        try {
            response.close();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            // the connection is not used again
        }
    }

    /** Requests are sent, and may fail, before there is a future. */
    private <T> T get(Supplier<? extends Future<T>> request) throws IOException, InterruptedException {
        try {
            return request.get().get();
        } catch (ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause());
        } catch (ClickHouseException e) {
            throw failure(e);
        }
    }

    private IOException failure(Throwable cause) {
        ServerException refused = serverException(cause);
        if (refused != null) {
            return new IOException(
                    switch (refused.getCode()) {
                        case CODE_AUTHENTICATION_FAILED ->
                            "ClickHouse at " + access.url() + " refuses user " + access.user()
                                    + ": expected the right --user, and its password by --password-file or"
                                    + " CHOKEPOINT_CLICKHOUSE_PASSWORD";
                        case CODE_UNKNOWN_DATABASE ->
                            "ClickHouse at " + access.url() + " has no database " + access.database()
                                    + ": run chokepoint migrate";
                        default -> "ClickHouse: " + firstLine(refused);
                    },
                    cause);
        }
        return new IOException(
                "ClickHouse at " + access.url() + " does not answer (option --clickhouse): " + root(cause), cause);
    }

    /** What the server said, however often the client has wrapped it. */
    private static @Nullable ServerException serverException(Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof ServerException refused) {
                return refused;
            }
        }
        return null;
    }

    private static String firstLine(Throwable cause) {
        return String.valueOf(cause.getMessage()).lines().findFirst().orElse("no reason given");
    }

    private static String root(Throwable cause) {
        Throwable at = cause;
        while (at.getCause() != null) {
            at = at.getCause();
        }
        return firstLine(at);
    }

    @Override
    public void close() {
        client.close();
    }
}
