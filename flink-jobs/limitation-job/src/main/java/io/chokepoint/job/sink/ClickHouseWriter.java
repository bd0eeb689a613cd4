// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;

/**
 * Sends rows in large blocks. What ClickHouse has not confirmed at a checkpoint becomes part of it, so that neither waits
 * for the other: rows come no later for it, and checkpoints go on while ClickHouse is away.
 */
final class ClickHouseWriter implements StatefulSinkWriter<EncodedRow, UnsentRows> {
    private final Outbox outbox;

    ClickHouseWriter(Outbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public void write(EncodedRow row, Context context) throws IOException, InterruptedException {
        outbox.add(row);
    }

    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        if (endOfInput) {
            outbox.flush();
        } else {
            outbox.throwIfFailed();
        }
    }

    @Override
    public List<UnsentRows> snapshotState(long checkpointId) {
        return outbox.unsent().stream().map(UnsentRows::new).toList();
    }

    @Override
    public void close() {
        outbox.close();
    }
}
