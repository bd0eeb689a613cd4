// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the queues and the policer do with frames, instant by instant. */
class QueuesTest {
    private static final long MILLI = 1_000_000;
    private static final int FULL = 1500;

    private final List<Frame> dropped = new ArrayList<>();

    private static Frame frame(int flow, int ipBytes, boolean ecnCapable) {
        return new Frame(flow, ipBytes, ecnCapable, ignored -> {}, () -> {});
    }

    /** Of a link that sends a frame a millisecond, from a queue in which each has waited for 10 ms. */
    private List<Long> pollStanding(CoDel coDel, boolean ecnCapable, int milliseconds) {
        List<Long> touched = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            offer(coDel, ecnCapable, i * MILLI);
        }
        for (int now = 10; now < milliseconds; now++) {
            offer(coDel, ecnCapable, now * MILLI);
            int before = dropped.size();
            Frame sent = coDel.poll(now * MILLI, dropped::add);
            assertThat(sent).isNotNull();
            coDel.left(sent);
            if (sent.isMarked() || dropped.size() > before) {
                touched.add((long) now);
            }
        }
        return touched;
    }

    private void offer(CoDel coDel, boolean ecnCapable, long nowNs) {
        Frame frame = frame(0, FULL, ecnCapable);
        frame.enqueued(nowNs);
        coDel.offer(frame, nowNs, dropped::add);
    }

    @Test
    void coDelMarksFasterAndFasterOnceADelayHasStoodForAnInterval() {
        List<Long> marks = pollStanding(new CoDel(1 << 20, 5 * MILLI, 100 * MILLI), true, 420);

        // Above the target from 10 ms on, for an interval: 110. Then 100 ms / sqrt(n) after each other:
        // 210 + 71 + 58 + 50, of which a frame leaves at each full millisecond.
        assertThat(marks).containsExactly(110L, 210L, 281L, 339L, 389L);
        assertThat(dropped).isEmpty();
    }

    @Test
    void coDelDropsWhatCannotBeMarked() {
        CoDel coDel = new CoDel(1 << 20, 5 * MILLI, 100 * MILLI);

        assertThat(pollStanding(coDel, false, 300)).containsExactly(110L, 210L, 281L);
        assertThat(dropped).hasSize(3);
        assertThat(coDel.waitingBytes()).isEqualTo(7 * 1514);
    }

    @Test
    void coDelLeavesAShortQueueAlone() {
        CoDel coDel = new CoDel(1 << 20, 20 * MILLI, 100 * MILLI);

        assertThat(pollStanding(coDel, true, 1_000)).isEmpty();
    }

    @Test
    void fairQueueingSendsAsManyBytesOfEachFlow() {
        DeficitRoundRobin queue = new DeficitRoundRobin(1 << 20);
        for (int i = 0; i < 100; i++) {
            queue.offer(frame(1, FULL, false), 0, dropped::add);
        }
        for (int i = 0; i < 300; i++) {
            queue.offer(frame(2, 486, false), 0, dropped::add);
        }
        int[] bytes = new int[3];
        for (int i = 0; i < 200; i++) {
            Frame sent = queue.poll(0, dropped::add);
            assertThat(sent).isNotNull();
            bytes[sent.flow] += sent.bytes;
        }

        assertThat(bytes[1]).isCloseTo(bytes[2], within(2 * 1514));
    }

    @Test
    void fairQueueingTakesTheRoomFromTheLongestQueue() {
        DeficitRoundRobin queue = new DeficitRoundRobin(10 * 1514);
        for (int i = 0; i < 12; i++) {
            queue.offer(frame(1, FULL, false), i, dropped::add);
        }
        queue.offer(frame(2, FULL, false), 12, dropped::add);

        assertThat(dropped).extracting(frame -> frame.flow).containsExactly(1, 1, 1);
        assertThat(queue.waitingBytes()).isEqualTo(10 * 1514);
    }

    @Test
    void aPolicerPassesItsBurstAndThenItsRate() {
        TokenBucket bucket = new TokenBucket(1514 * 8 * 1_000.0, 3 * 1514, 0); // a frame a millisecond
        List<Long> passed = new ArrayList<>();
        for (long now = 0; now < 5 * MILLI; now += MILLI / 4) {
            if (bucket.takes(frame(0, FULL, false), now)) {
                passed.add(now / (MILLI / 4));
            }
        }

        // Three at once; the first's quarter of a token and so on make the next ones a millisecond apart.
        assertThat(passed).startsWith(0L, 1L, 2L).hasSize(3 + 4);
        assertThat(passed.subList(3, 7)).containsExactly(4L, 8L, 12L, 16L);
    }
}
