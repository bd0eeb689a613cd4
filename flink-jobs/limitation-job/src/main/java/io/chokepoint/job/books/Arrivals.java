// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Which packets of an origin have arrived, by their cumulative count: all of {@code [0, reached)} but those in gaps.
 *
 * <p>The producer of a probe is idempotent, so a partition holds its batches once and in order, but for those that never
 * got there. A capture that is played again brings the same packets under the same counts from 0 on: they are repeats, or
 * fill a gap, or go on where the first playing broke off; two playings at once interleave. With other options batches are
 * cut elsewhere: then the same sequence number names other packets, and the cumulative counts alone decide. Sequence
 * numbers tell how many batches a gap has, and show gaps of batches without packets.
 *
 * <p>All is a function of the batches in the order of the log, so after a restart it comes to the same.
 */
final class Arrivals {
    /** Of more than so many the oldest is settled: it stays missing, and what arrives for it later is a repeat. */
    static final int MAX_GAPS = 256;

    private long nextSequence;
    private long reached;
    private long handled;
    private Amount settled = Amount.NOTHING;
    private boolean hadGaps;
    private final List<Gap> gaps = new ArrayList<>();
    private final Map<Gap.Key, Gap> untold = new LinkedHashMap<>();

    /**
     * What did not arrive before something behind it did.
     *
     * @param minute in which that was appended
     * @param fromSequence first batch; equal to {@code toSequence} if batches cut otherwise hide how many there are
     * @param toSequence end of the batches, not part of it
     * @param fromPacket first packet, by the cumulative count
     * @param toPacket end of the packets, not part of it
     */
    record Gap(long minute, long fromSequence, long toSequence, long fromPacket, long toPacket) {
        /** What names a gap for as long as it is there. */
        record Key(long minute, long fromSequence, long fromPacket) {}

        Key key() {
            return new Key(minute, fromSequence, fromPacket);
        }

        Span span() {
            return new Span(fromSequence, toSequence, fromPacket, toPacket);
        }

        Amount amount() {
            return new Amount(toSequence - fromSequence, 0, toPacket - fromPacket);
        }

        private boolean isEmpty() {
            return fromSequence == toSequence && fromPacket == toPacket;
        }

        private long overlap(long from, long to) {
            return Math.max(0, Math.min(to, toPacket) - Math.max(from, fromPacket));
        }

        private boolean hasBatch(long sequence, long from, long to) {
            return fromSequence <= sequence && sequence < toSequence && fromPacket <= from && to <= toPacket;
        }

        /** What is left of it on both sides of a batch that has arrived; may be empty. */
        private List<Gap> without(long sequence, long from, long to) {
            if (hasBatch(sequence, from, to)) {
                return List.of(
                        new Gap(minute, fromSequence, sequence, fromPacket, from),
                        new Gap(minute, sequence + 1, toSequence, to, toPacket));
            }
            return List.of(
                    new Gap(minute, fromSequence, fromSequence, fromPacket, Math.max(from, fromPacket)),
                    new Gap(minute, toSequence, toSequence, Math.min(to, toPacket), toPacket));
        }

        private Gap with(Gap other) {
            return new Gap(
                    minute,
                    fromSequence,
                    Math.max(toSequence, other.toSequence),
                    fromPacket,
                    Math.max(toPacket, other.toPacket));
        }

        private Gap closed() {
            return new Gap(minute, fromSequence, fromSequence, fromPacket, fromPacket);
        }
    }

    /**
     * A batch arrived.
     *
     * @return how much of it had arrived before: the batch counts if any packet of it had, its runs if all had
     */
    Amount onBatch(long sequence, long packetsBefore, Amount amount, long minute) {
        long end = saturated(packetsBefore, amount.packets());
        handled++;
        if (packetsBefore > reached || (packetsBefore == reached && sequence >= nextSequence)) {
            leap(sequence, packetsBefore, minute);
            advance(sequence, end);
            return Amount.NOTHING;
        }
        long fresh = Math.max(0, end - reached);
        boolean isNew = fresh > 0;
        for (Gap gap : List.copyOf(gaps)) {
            if (gap.overlap(packetsBefore, end) > 0 || gap.hasBatch(sequence, packetsBefore, end)) {
                fresh += gap.overlap(packetsBefore, end);
                replace(gap, gap.without(sequence, packetsBefore, end));
                isNew = true;
            }
        }
        if (end > reached) {
            advance(sequence, end);
        }
        if (!isNew) {
            return amount;
        }
        long repeated = end - packetsBefore - fresh;
        return repeated == 0 ? Amount.NOTHING : new Amount(1, 0, repeated);
    }

    private static long saturated(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    private void leap(long sequence, long from, long minute) {
        if (sequence <= nextSequence && from == reached) {
            return;
        }
        open(gaps.size(), new Gap(minute, Math.min(nextSequence, sequence), sequence, reached, from));
        hadGaps = true;
        if (gaps.size() > MAX_GAPS) {
            settled = settled.plus(gaps.remove(0).amount());
        }
    }

    private void advance(long sequence, long end) {
        nextSequence = saturated(sequence, 1);
        reached = end;
    }

    /** One that another cut of the batches opens under the name of one that is there goes into that. */
    private void open(int index, Gap gap) {
        Gap opened = gap;
        int known = indexOf(gap.key());
        if (known >= 0) {
            opened = gaps.get(known).with(gap);
            gaps.set(known, opened);
        } else {
            gaps.add(Math.min(index, gaps.size()), gap);
        }
        untold.put(opened.key(), opened);
    }

    private int indexOf(Gap.Key key) {
        for (int i = gaps.size() - 1; i >= 0; i--) {
            if (gaps.get(i).key().equals(key)) {
                return i;
            }
        }
        return -1;
    }

    private void replace(Gap gap, List<Gap> pieces) {
        int index = gaps.indexOf(gap);
        gaps.remove(index);
        untold.put(gap.key(), gap.closed());
        for (Gap piece : pieces) {
            if (!piece.isEmpty()) {
                open(index++, piece);
            }
        }
    }

    /** All that is missing. */
    Amount missing() {
        Amount sum = settled;
        for (Gap gap : gaps) {
            sum = sum.plus(gap.amount());
        }
        return sum;
    }

    /** Whether anything was ever missing. */
    boolean hadGaps() {
        return hadGaps;
    }

    /** Batches so far: what is missing is a function of it, and the higher one counts. */
    long handled() {
        return handled;
    }

    /** End of the packets that arrived, by the cumulative count. */
    long reached() {
        return reached;
    }

    /** Whether so many gaps wait to be told that it is time to. */
    boolean owesMany() {
        return untold.size() >= MAX_GAPS;
    }

    /** Gaps that have opened, shrunk or closed since they were told; a closed one is empty. */
    void tell(Consumer<Gap> changed) {
        untold.values().forEach(changed);
        untold.clear();
    }

    void write(DataOutputView target) throws IOException {
        target.writeLong(nextSequence);
        target.writeLong(reached);
        target.writeLong(handled);
        settled.write(target);
        target.writeBoolean(hadGaps);
        writeGaps(gaps, target);
        writeGaps(untold.values(), target);
    }

    private static void writeGaps(Collection<Gap> gaps, DataOutputView target) throws IOException {
        target.writeInt(gaps.size());
        for (Gap gap : gaps) {
            target.writeLong(gap.minute);
            gap.span().write(target);
        }
    }

    static Arrivals read(DataInputView source) throws IOException {
        Arrivals arrivals = new Arrivals();
        arrivals.nextSequence = source.readLong();
        arrivals.reached = source.readLong();
        arrivals.handled = source.readLong();
        arrivals.settled = Amount.read(source);
        arrivals.hadGaps = source.readBoolean();
        readGaps(source, arrivals.gaps::add);
        readGaps(source, gap -> arrivals.untold.put(gap.key(), gap));
        return arrivals;
    }

    private static void readGaps(DataInputView source, Consumer<Gap> into) throws IOException {
        for (int left = source.readInt(); left > 0; left--) {
            long minute = source.readLong();
            Span span = Span.read(source);
            into.accept(new Gap(minute, span.fromSequence(), span.toSequence(), span.fromPacket(), span.toPacket()));
        }
    }
}
