// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Controlled delay (RFC 8289): once the least delay of an interval lies above the target, it drops, or marks where ECN
 * is agreed, ever faster until the delay falls below it.
 */
final class CoDel implements QueueDiscipline {
    private static final int MTU_BYTES = 1514;
    private static final int RECENTLY_INTERVALS = 16;

    private final DropTail queue;
    private final long targetNs;
    private final long intervalNs;
    private long firstAboveNs; // 0: below the target
    private long nextDropNs;
    private boolean dropping;
    private int count;
    private int lastCount;
    private boolean isWorthDropping;

    CoDel(long limitBytes, long targetNs, long intervalNs) {
        queue = new DropTail(limitBytes);
        this.targetNs = targetNs;
        this.intervalNs = intervalNs;
    }

    @Override
    public void offer(Frame frame, long nowNs, Consumer<Frame> dropped) {
        queue.offer(frame, nowNs, dropped);
    }

    @Override
    public @Nullable Frame poll(long nowNs, Consumer<Frame> dropped) {
        Frame frame = take(nowNs);
        if (dropping) {
            if (!isWorthDropping) {
                dropping = false;
            }
            while (frame != null && dropping && nowNs >= nextDropNs) {
                count++;
                boolean marked = markOrDrop(frame, dropped);
                nextDropNs = controlLaw(nextDropNs);
                if (marked) {
                    break;
                }
                frame = take(nowNs);
                dropping = isWorthDropping;
            }
        } else if (frame != null && isWorthDropping) {
            if (!markOrDrop(frame, dropped)) {
                frame = take(nowNs);
            }
            dropping = true;
            int sinceLast = count - lastCount;
            boolean wasRecent = nowNs - nextDropNs < RECENTLY_INTERVALS * intervalNs;
            count = sinceLast > 1 && wasRecent ? sinceLast : 1;
            nextDropNs = controlLaw(nowNs);
            lastCount = count;
        }
        return frame;
    }

    private @Nullable Frame take(long nowNs) {
        Frame frame = queue.poll(nowNs, ignored -> {});
        isWorthDropping = false;
        if (frame == null || nowNs - frame.enqueuedNs() < targetNs || queue.waitingBytes() <= MTU_BYTES) {
            firstAboveNs = 0;
        } else if (firstAboveNs == 0) {
            firstAboveNs = nowNs + intervalNs;
        } else {
            isWorthDropping = nowNs >= firstAboveNs;
        }
        return frame;
    }

    private boolean markOrDrop(Frame frame, Consumer<Frame> dropped) {
        if (frame.ecnCapable) {
            frame.markCongestion();
            return true;
        }
        queue.left(frame);
        dropped.accept(frame);
        return false;
    }

    private long controlLaw(long fromNs) {
        return fromNs + (long) (intervalNs / Math.sqrt(count));
    }

    @Override
    public void left(Frame frame) {
        queue.left(frame);
    }

    @Override
    public long waitingBytes() {
        return queue.waitingBytes();
    }
}
