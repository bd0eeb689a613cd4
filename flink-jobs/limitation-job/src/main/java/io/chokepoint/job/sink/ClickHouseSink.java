// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Rows into ClickHouse, at least once: after a failure some are written again, byte for byte, and the tables keep one of
 * them. ClickHouse may be away for any time; the job then waits as soon as its buffer is full.
 */
public final class ClickHouseSink implements Sink<EncodedRow>, SupportsWriterState<EncodedRow, UnsentRows> {
    private static final long serialVersionUID = 1L;

    /** An insert costs as much as a thousand rows, so those that nobody awaits wait so many times as long. */
    private static final int PATIENCE_OF_OTHERS = 4;

    private final ClickHouseSettings settings;

    public ClickHouseSink(ClickHouseSettings settings) {
        this.settings = settings;
    }

    @Override
    public SinkWriter<EncodedRow> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<EncodedRow, UnsentRows> restoreWriter(
            WriterInitContext context, Collection<UnsentRows> kept) throws IOException {
        long delayNanos = settings.maxDelay().toNanos();
        Outbox.Limits limits =
                new Outbox.Limits(settings.maxRows(), PATIENCE_OF_OTHERS * delayNanos, delayNanos, settings.maxBytes());
        Outbox outbox = new Outbox(new ClickHouseInserter(settings), limits, new DeliveryCounts(context.metricGroup()));
        context.metricGroup().gauge("waiting_bytes", outbox::waitingBytes);
        context.metricGroup().gauge("clickhouse_away", () -> outbox.isStalled() ? 1 : 0);
        kept.forEach(rows -> outbox.restore(rows.block()));
        return new ClickHouseWriter(outbox.start());
    }

    @Override
    public SimpleVersionedSerializer<UnsentRows> getWriterStateSerializer() {
        return new UnsentRows.Serializer();
    }
}
