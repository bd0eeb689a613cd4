// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecordBuilder;

/**
 * What all batches of one worker have in common.
 *
 * @param session tells the starts of a probe apart
 * @param partitionCount 1..65536
 * @param timestampSource symbol of the schema's TimestampSource
 * @param counters in the order in which they are written; a copy of any ordered map
 */
public record BatchHeader(
        String probe,
        String tap,
        long session,
        int worker,
        int partitionCount,
        long hashSeed,
        String timestampSource,
        Map<String, Long> counters) {
    private static final int PROTOCOL_TCP = 6;

    /** A file read at a tap, one partition, seed 0, no counters. */
    public static BatchHeader ofTap(String tap) {
        return new BatchHeader("probe-1", tap, 1, 0, 1, 0, "FILE", Map.of());
    }

    GenericRecordBuilder builder(Schema schema, Schema counter) {
        Schema sources = schema.getField("timestamp_source").schema();
        return new GenericRecordBuilder(schema)
                .set("probe", probe)
                .set("tap", tap)
                .set("session", session)
                .set("worker", worker)
                .set("partition_count", partitionCount)
                .set("hash_seed", hashSeed)
                .set("timestamp_source", new GenericData.EnumSymbol(sources, timestampSource))
                .set("timestamp_resolution_ns", 1L)
                .set(
                        "counters",
                        counters.entrySet().stream()
                                .map(entry -> new GenericRecordBuilder(counter)
                                        .set("name", entry.getKey())
                                        .set("value", entry.getValue())
                                        .build())
                                .collect(Collectors.toList()));
    }

    /** The flow hash of schemas/README.md, written once more so that it can disagree. */
    int partitionOf(Flow flow) {
        ByteBuffer words = ByteBuffer.allocate(6 * Long.BYTES)
                .putLong(((long) flow.domain() << 8) | PROTOCOL_TCP)
                .put(Flow.sixteenBytes(address(flow.low())))
                .put(Flow.sixteenBytes(address(flow.high())))
                .putLong(((long) flow.low().getPort() << 16) | flow.high().getPort())
                .flip();
        long hash = hashSeed;
        while (words.hasRemaining()) {
            hash = mix((hash + 0x9e3779b97f4a7c15L) ^ words.getLong());
        }
        return (int) ((hash >>> 1) % partitionCount);
    }

    private static InetAddress address(InetSocketAddress endpoint) {
        return endpoint.getAddress();
    }

    private static long mix(long word) {
        long x = word;
        x ^= x >>> 30;
        x *= 0xbf58476d1ce4e5b9L;
        x ^= x >>> 27;
        x *= 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }
}
