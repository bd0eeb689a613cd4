// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import static java.util.Objects.requireNonNull;

import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import java.util.EnumMap;
import java.util.Map;

/** Rows of taps along a path of 40 ms, as a test tells them: times in ms. */
final class Taps {
    static final long SECOND = 1_000_000_000L;
    static final long CLIENT = FlowKey.ipv4Lower(0x0a000001);
    static final long SERVER = FlowKey.ipv4Lower(0x0a000002);

    private static final long MILLI = 1_000_000;
    private static final long SAMPLES = 100;

    private final String tap;
    private final Map<RowField, Long> values = new EnumMap<>(RowField.class);
    private long flowId = 7;
    private long startNanos = 5 * SECOND;
    private boolean toServer = true;
    private boolean clientIsHigher;
    private long lengthNanos = SECOND;

    private Taps(String tap) {
        this.tap = tap;
        values.put(RowField.VERSION, 1L);
        values.put(RowField.QUALITY, 0L);
        values.put(RowField.DOMAIN, 0L);
        values.put(RowField.DATA_PACKETS, 1_000L);
        values.put(RowField.DATA_BYTES, 1_448_000L);
        values.put(RowField.GOODPUT_BITS_PER_SECOND, 1_448_000L);
        values.put(RowField.THROUGHPUT_BITS_PER_SECOND, 1_514_000L);
    }

    /** A tap so many ms of round trip behind the sender. */
    static Taps at(String tap, long senderMillis) {
        return new Taps(tap).delays(senderMillis, senderMillis, 40 - senderMillis, 40 - senderMillis);
    }

    /** A tap that times nothing, as one that sees the data only. */
    static Taps withoutTime(String tap) {
        return new Taps(tap);
    }

    /** Lowest and mean delays of the two sides. */
    private Taps delays(long senderMin, long senderMean, long receiverMin, long receiverMean) {
        values.put(RowField.SENDER_SIDE_MIN_NS, senderMin * MILLI);
        values.put(RowField.SENDER_SIDE_SUM_NS, senderMean * MILLI * SAMPLES);
        values.put(RowField.SENDER_SIDE_SAMPLES, SAMPLES);
        values.put(RowField.RECEIVER_SIDE_MIN_NS, receiverMin * MILLI);
        values.put(RowField.RECEIVER_SIDE_SUM_NS, receiverMean * MILLI * SAMPLES);
        values.put(RowField.RECEIVER_SIDE_SAMPLES, SAMPLES);
        return this;
    }

    /** Queues before and behind the tap. */
    Taps queues(long beforeMillis, long behindMillis) {
        values.merge(RowField.SENDER_SIDE_SUM_NS, beforeMillis * MILLI * SAMPLES, Long::sum);
        values.merge(RowField.RECEIVER_SIDE_SUM_NS, behindMillis * MILLI * SAMPLES, Long::sum);
        return this;
    }

    /** What was lost before and behind the tap. */
    Taps lost(long beforeBytes, long behindBytes) {
        values.put(RowField.LOST_BEFORE_TAP_BYTES, beforeBytes);
        values.put(RowField.LOST_AFTER_TAP_BYTES, behindBytes);
        return this;
    }

    /** A cause that owns the whole second. */
    Taps all(RowField share) {
        return share(share, SECOND);
    }

    Taps share(RowField share, long nanos) {
        values.put(share, nanos);
        return this;
    }

    Taps put(RowField field, long value) {
        values.put(field, value);
        return this;
    }

    /** Without a handshake: the flow has a name of its own here. */
    Taps synMissed(long ownId) {
        flowId = ownId;
        return put(RowField.QUALITY, 1L << Quality.SYN_MISSED.ordinal());
    }

    Taps named(long id) {
        flowId = id;
        return this;
    }

    /** Payload of the interval. */
    Taps data(long bytes) {
        return put(RowField.DATA_BYTES, bytes);
    }

    Taps second(long second) {
        startNanos = second * SECOND;
        return this;
    }

    Taps toClient() {
        toServer = false;
        return this;
    }

    Taps senderUntimed() {
        return put(RowField.SENDER_SIDE_SUM_NS, 0).put(RowField.SENDER_SIDE_SAMPLES, 0);
    }

    Taps clientIsHigher() {
        clientIsHigher = true;
        return this;
    }

    Taps length(long nanos) {
        lengthNanos = nanos;
        return this;
    }

    Row row() {
        Row row = new Row(
                Row.Table.LIMITATION_INTERVALS,
                new FlowIdentity(
                        flowId,
                        tap,
                        0,
                        clientIsHigher ? SERVER : CLIENT,
                        40_000,
                        0,
                        clientIsHigher ? CLIENT : SERVER,
                        443,
                        Row.NULL,
                        Row.NULL,
                        "",
                        ""));
        row.set(RowField.DIRECTION, toServer ? Direction.CLIENT_TO_SERVER : Direction.SERVER_TO_CLIENT)
                .set(RowField.INTERVAL_START, startNanos)
                .set(RowField.INTERVAL_END, startNanos + lengthNanos);
        values.forEach(row::set);
        return row;
    }

    PathObservation seen() {
        return requireNonNull(PathObservation.of(row(), SECOND));
    }
}
