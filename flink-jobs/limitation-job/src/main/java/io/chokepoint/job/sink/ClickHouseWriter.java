// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;

/**
 * Sends rows in large blocks. At a checkpoint it sends what it has; what ClickHouse does not take then, because it is
 * away, becomes part of the checkpoint, so that checkpoints go on and nothing is lost.
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
        outbox.flush(endOfInput);
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
