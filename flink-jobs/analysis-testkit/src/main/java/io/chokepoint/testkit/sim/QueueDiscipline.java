// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What waits in front of a link, and which of it leaves next. */
interface QueueDiscipline {
    /** Takes a frame; whatever is dropped for it, or the frame itself, is told. */
    void offer(Frame frame, long nowNs, Consumer<Frame> dropped);

    /** The frame that is sent next; null if none waits. */
    @Nullable
    Frame poll(long nowNs, Consumer<Frame> dropped);

    /** The frame polled last has left: until then it takes room. */
    void left(Frame frame);

    /** Bytes that wait or are being sent. */
    long waitingBytes();
}
