// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** First in, first out, and never more than {@code limitBytes} waiting. */
final class DropTail implements QueueDiscipline {
    private final Deque<Frame> queue = new ArrayDeque<>();
    private final long limitBytes;
    private long waitingBytes;

    DropTail(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public void offer(Frame frame, long nowNs, Consumer<Frame> dropped) {
        if (waitingBytes + frame.bytes > limitBytes) {
            dropped.accept(frame);
            return;
        }
        waitingBytes += frame.bytes;
        queue.addLast(frame);
    }

    @Override
    public @Nullable Frame poll(long nowNs, Consumer<Frame> dropped) {
        return queue.pollFirst();
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
