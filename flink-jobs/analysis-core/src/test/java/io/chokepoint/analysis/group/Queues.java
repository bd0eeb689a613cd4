// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.Direction;
import java.util.ArrayList;
import java.util.List;

/** Queues whose delay is a formula, and what flows in them are observed to be held up by. */
final class Queues {
    static final long WINDOW = 1_800_000_000L * 1_000_000_000L;

    private static final int BINS_OF_SECOND = (int) (DelaySeries.SECOND_NANOS / DelaySeries.BIN_NANOS);

    /** Delay of a queue in µs at a bin of the window. */
    interface Queue {
        int micros(int bin);
    }

    private Queues() {}

    /** A saw tooth of 40 ms height, of so many bins, that begins so many bins earlier. */
    static Queue sawTooth(int period, int phase) {
        return bin -> 1_000 + 40_000 * ((bin + phase) % period) / period;
    }

    /** Noise of its own for every flow, in µs below {@code amplitude}. */
    private static int jitter(long flow, int bin, int amplitude) {
        long hash = (flow * 0x9e3779b97f4a7c15L + bin) * 0xbf58476d1ce4e5b9L;
        return amplitude == 0 ? 0 : (int) ((hash >>> 33) % amplitude);
    }

    /** The seconds [from, to) of the window of a flow in a queue, {@code wayMicros} from its ends. */
    static List<Observation> flow(long id, Queue queue, int wayMicros, int jitterMicros, long bytes, int from, int to) {
        List<Observation> seconds = new ArrayList<>();
        for (int second = from; second < to; second++) {
            int[] delays = new int[2 * BINS_OF_SECOND];
            for (int i = 0; i < BINS_OF_SECOND; i++) {
                int bin = second * BINS_OF_SECOND + i;
                delays[BINS_OF_SECOND + i] = wayMicros + queue.micros(bin) + jitter(id, bin, jitterMicros);
            }
            seconds.add(new Observation(
                    id,
                    Direction.CLIENT_TO_SERVER,
                    WINDOW + second * DelaySeries.SECOND_NANOS,
                    BottleneckSide.AFTER_TAP,
                    bytes,
                    0,
                    20_000_000,
                    delays));
        }
        return seconds;
    }

    /** All ten seconds. */
    static List<Observation> flow(long id, Queue queue, int wayMicros, long bytes) {
        return flow(id, queue, wayMicros, 3_000, bytes, 0, 10);
    }
}
