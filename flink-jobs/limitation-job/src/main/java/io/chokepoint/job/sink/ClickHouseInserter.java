// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import com.clickhouse.client.api.ClickHouseException;
import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.ServerException;
import com.clickhouse.client.api.insert.InsertResponse;
import com.clickhouse.client.api.insert.InsertSettings;
import com.clickhouse.data.ClickHouseFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Inserts over HTTP by the official client. */
final class ClickHouseInserter implements Inserter {
    private static final int CONNECT_SECONDS = 5;
    private static final int ANSWER_SECONDS = 30;

    /**
     * Codes that blame the rows: they cannot be parsed, do not fit their columns or break a constraint. Everything else
     * (no table yet, no right, too many parts, no memory, no disk) can be mended while the rows wait.
     */
    private static final Set<Integer> CODES_OF_BAD_ROWS = Set.of(
            6, // CANNOT_PARSE_TEXT
            27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
            32, // ATTEMPT_TO_READ_AFTER_EOF
            33, // CANNOT_READ_ALL_DATA
            36, // BAD_ARGUMENTS
            41, // CANNOT_PARSE_DATETIME
            53, // TYPE_MISMATCH
            69, // ARGUMENT_OUT_OF_BOUND
            70, // CANNOT_CONVERT_TYPE
            117, // INCORRECT_DATA
            131, // TOO_LARGE_STRING_SIZE
            321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
            349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
            407, // DECIMAL_OVERFLOW
            469, // VIOLATED_CONSTRAINT
            691); // UNKNOWN_ELEMENT_OF_ENUM

    private final Client client;

    ClickHouseInserter(ClickHouseSettings settings) throws IOException {
        this.client = new Client.Builder()
                .addEndpoint(settings.url())
                .setUsername(settings.user())
                .setPassword(settings.password())
                .setDefaultDatabase(settings.database())
                .setClientName("chokepoint-limitation-job")
                .setConnectTimeout(CONNECT_SECONDS, ChronoUnit.SECONDS)
                .setSocketTimeout(ANSWER_SECONDS, ChronoUnit.SECONDS)
                .compressServerResponse(false)
                .compressClientRequest(false)
                .setMaxRetries(0) // retried here, where nothing is given up
                .build();
    }

    @Override
    public void insert(Block block, int firstRow, int endRow) throws IOException, RowsRefused, InterruptedException {
        int from = block.startOf(firstRow);
        InputStream rows = new ByteArrayInputStream(block.bytes(), from, block.startOf(endRow) - from);
        try (InsertResponse response = client.insert(
                        block.table().tableName(), block.columns(), rows, ClickHouseFormat.RowBinary, settings())
                .get()) {
            response.getWrittenRows();
        } catch (ExecutionException e) {
            throw judged(e.getCause() == null ? e : e.getCause());
        } catch (ClickHouseException e) {
            throw judged(e);
        }
    }

    /** By default an insert looks for copies of a row within its block, for a third of its CPU: merges and readers do that anyway. */
    private static InsertSettings settings() {
        return new InsertSettings().serverSetting("optimize_on_insert", "0");
    }

    /** Throws if the rows are to blame, else returns what to try again after. */
    private static IOException judged(Throwable cause) throws RowsRefused {
        ServerException refused = serverException(cause);
        String reason = firstLine(refused == null ? root(cause) : refused);
        if (refused != null && CODES_OF_BAD_ROWS.contains(refused.getCode())) {
            throw new RowsRefused(reason, cause);
        }
        return new IOException(reason, cause);
    }

    private static @Nullable ServerException serverException(Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof ServerException refused) {
                return refused;
            }
        }
        return null;
    }

    private static Throwable root(Throwable cause) {
        Throwable at = cause;
        while (at.getCause() != null) {
            at = at.getCause();
        }
        return at;
    }

    private static String firstLine(Throwable cause) {
        return String.valueOf(cause.getMessage()).lines().findFirst().orElse("no reason given");
    }

    @Override
    public void close() {
        client.close();
    }
}
