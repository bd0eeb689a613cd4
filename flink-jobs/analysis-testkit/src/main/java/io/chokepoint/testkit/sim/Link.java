// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import org.jspecify.annotations.Nullable;

/** A link with a rate, a queue in front of it and, if asked for, a policer in front of that. */
final class Link {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int BITS_PER_BYTE = 8;

    private final EventQueue events;
    private final double bitsPerSecond;
    private final QueueDiscipline queue;
    private final @Nullable TokenBucket policer;
    private final LinkBooks books;
    private boolean isSending;

    Link(
            EventQueue events,
            double bitsPerSecond,
            QueueDiscipline queue,
            @Nullable TokenBucket policer,
            LinkBooks books) {
        this.events = events;
        this.bitsPerSecond = bitsPerSecond;
        this.queue = queue;
        this.policer = policer;
        this.books = books;
    }

    void offer(Frame frame) {
        long nowNs = events.nowNs();
        if (policer != null && frame.flow != Frame.CROSS_TRAFFIC && !policer.takes(frame, nowNs)) {
            drop(frame);
            return;
        }
        frame.enqueued(nowNs);
        queue.offer(frame, nowNs, this::drop);
        if (!isSending) {
            sendNext();
        }
        books.waiting(nowNs, queue.waitingBytes());
    }

    private void sendNext() {
        Frame frame = queue.poll(events.nowNs(), this::drop);
        isSending = frame != null;
        if (frame != null) {
            events.after(transmissionNs(frame.bytes), () -> {
                queue.left(frame);
                books.sent(frame, events.nowNs());
                sendNext();
                books.waiting(events.nowNs(), queue.waitingBytes());
                frame.delivered();
            });
        }
    }

    private void drop(Frame frame) {
        books.dropped(frame, events.nowNs());
        frame.dropped();
    }

    LinkBooks books() {
        return books;
    }

    private long transmissionNs(int bytes) {
        return Math.round(bytes * BITS_PER_BYTE / bitsPerSecond * NANOS_PER_SECOND);
    }
}
