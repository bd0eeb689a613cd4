// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * What became of the batches of one origin that the broker appended in one minute. Fates of batches have a range of their
 * own; those of runs, which may come earlier or later than their batches, have that of what was consumed.
 */
final class MinuteBooks {
    private final Map<String, Amount> amounts = new TreeMap<>();
    private final Map<String, Span> spans = new TreeMap<>();
    private boolean changed;

    /** Takes the total of a fate in a range. */
    interface Told {
        void range(String fate, Span span, Amount amount, long version);
    }

    /** A batch, or the part of it that is no news, had a fate. */
    void onBatch(String fate, Amount amount, Span span) {
        add(fate, amount);
        Span known = spans.get(fate);
        spans.put(fate, known == null ? span : known.until(span.toSequence(), span.toPacket()));
    }

    /** Runs had a fate. */
    void add(String fate, Amount amount) {
        amounts.merge(fate, amount, Amount::plus);
        changed = true;
    }

    /** Whether all that was consumed has its fate: nothing more comes for a minute that is over. */
    boolean isBalanced() {
        Amount consumed = consumed();
        long runs = 0;
        long packets = 0;
        for (Map.Entry<String, Amount> fate : amounts.entrySet()) {
            if (!spans.containsKey(fate.getKey())) {
                runs += fate.getValue().runs();
                packets += fate.getValue().packets();
            }
        }
        return consumed.runs() == runs && consumed.packets() == packets;
    }

    private Amount consumed() {
        return amounts.getOrDefault(LedgerEntry.CONSUMED, Amount.NOTHING);
    }

    /** Tells all fates if one has changed; those of runs wait until the batches are known. */
    void tell(Told told) {
        Span ofRuns = spans.get(LedgerEntry.CONSUMED);
        if (!changed) {
            return;
        }
        changed = false;
        long consumed = consumed().sum();
        amounts.forEach((fate, amount) -> {
            Span own = spans.get(fate);
            if (own != null) {
                told.range(fate, own, amount, amount.sum());
            } else if (ofRuns != null) {
                told.range(fate, ofRuns, amount, amount.sum() + consumed);
            }
        });
    }

    void write(DataOutputView target) throws IOException {
        target.writeBoolean(changed);
        target.writeInt(amounts.size());
        for (Map.Entry<String, Amount> fate : amounts.entrySet()) {
            Span span = spans.get(fate.getKey());
            target.writeUTF(fate.getKey());
            fate.getValue().write(target);
            target.writeBoolean(span != null);
            if (span != null) {
                span.write(target);
            }
        }
    }

    static MinuteBooks read(DataInputView source) throws IOException {
        MinuteBooks books = new MinuteBooks();
        books.changed = source.readBoolean();
        for (int left = source.readInt(); left > 0; left--) {
            String fate = source.readUTF();
            books.amounts.put(fate, Amount.read(source));
            if (source.readBoolean()) {
                books.spans.put(fate, Span.read(source));
            }
        }
        return books;
    }
}
