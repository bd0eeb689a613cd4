// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.bench;

import io.chokepoint.analysis.batch.BatchStreamReader;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Segment batches in memory, to be decoded again and again. */
final class Batches {
    /** Takes the runs in their order; the run is reused. */
    interface RunConsumer {
        void accept(Run run, SegmentBatchReader batch) throws IOException;
    }

    private final List<byte[]> values;
    private final SegmentBatchReader reader = new SegmentBatchReader();
    private final RunReader runReader = new RunReader();
    private final Run run = new Run();

    Batches(List<byte[]> values) {
        this.values = values;
    }

    static Batches ofStream(Path path) throws IOException {
        List<byte[]> values = new ArrayList<>();
        try (InputStream in = new BufferedInputStream(Files.newInputStream(path), 1 << 20)) {
            BatchStreamReader stream = new BatchStreamReader(in);
            while (stream.next() == BatchStreamReader.Next.VALUE) {
                values.add(Arrays.copyOf(stream.buffer(), stream.length()));
            }
        }
        return new Batches(values);
    }

    void forEachRun(RunConsumer consumer) throws IOException {
        for (byte[] value : values) {
            require(reader.read(value));
            for (int i = 0; i < reader.runs(); i++) {
                require(runReader.read(value, reader.runOffset(i), reader.runLength(i), run));
                consumer.accept(run, reader);
            }
        }
    }

    private static void require(DecodeStatus status) {
        if (status != DecodeStatus.OK) {
            throw new IllegalArgumentException("a batch cannot be decoded: " + status);
        }
    }

    long packets() throws IOException {
        long[] packets = new long[1];
        forEachRun((decoded, batch) -> packets[0] += decoded.packets());
        return packets[0];
    }

    long bytes() {
        return values.stream().mapToLong(value -> value.length).sum();
    }
}
