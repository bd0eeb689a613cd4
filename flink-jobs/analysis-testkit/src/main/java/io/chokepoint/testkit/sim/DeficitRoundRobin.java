// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue per flow, each served a quantum a round (Shreedhar and Varghese). A full buffer drops the head of the longest
 * queue, so that nobody's packets make another's room scarce.
 */
final class DeficitRoundRobin implements QueueDiscipline {
    private static final int QUANTUM_BYTES = 1514;

    private static final class FlowQueue {
        final Deque<Frame> frames = new ArrayDeque<>();
        final int flow;
        long bytes;
        long deficitBytes;

        FlowQueue(int flow) {
            this.flow = flow;
        }

        Frame removeFirst() {
            Frame first = frames.removeFirst();
            bytes -= first.bytes;
            return first;
        }
    }

    private final Map<Integer, FlowQueue> queues = new HashMap<>();
    private final Deque<FlowQueue> active = new ArrayDeque<>();
    private final long limitBytes;
    private long waitingBytes;

    DeficitRoundRobin(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public void offer(Frame frame, long nowNs, Consumer<Frame> dropped) {
        FlowQueue queue = queues.computeIfAbsent(frame.flow, FlowQueue::new);
        if (queue.frames.isEmpty()) {
            queue.deficitBytes = QUANTUM_BYTES;
            active.addLast(queue);
        }
        queue.frames.addLast(frame);
        queue.bytes += frame.bytes;
        waitingBytes += frame.bytes;
        while (waitingBytes > limitBytes && !active.isEmpty()) {
            FlowQueue longest = active.stream()
                    .max(Comparator.<FlowQueue>comparingLong(each -> each.bytes).thenComparingInt(each -> each.flow))
                    .orElseThrow();
            Frame head = longest.removeFirst();
            waitingBytes -= head.bytes;
            if (longest.frames.isEmpty()) {
                active.remove(longest);
            }
            dropped.accept(head);
        }
    }

    @Override
    public @Nullable Frame poll(long nowNs, Consumer<Frame> dropped) {
        for (FlowQueue queue = active.peekFirst(); queue != null; queue = active.peekFirst()) {
            if (queue.deficitBytes >= queue.frames.getFirst().bytes) {
                Frame frame = queue.removeFirst();
                queue.deficitBytes -= frame.bytes;
                if (queue.frames.isEmpty()) {
                    active.removeFirst();
                }
                return frame;
            }
            queue.deficitBytes += QUANTUM_BYTES;
            active.addLast(active.removeFirst());
        }
        return null;
    }

    @Override
    public void left(Frame frame) {
        waitingBytes -= frame.bytes;
    }

    @Override
    public long waitingBytes() {
        return waitingBytes;
    }
}
