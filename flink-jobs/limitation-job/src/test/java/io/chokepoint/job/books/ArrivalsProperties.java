// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.books;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.job.books.Arrivals.Gap;
import io.chokepoint.job.books.LedgerEntry.Amount;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Lost, repeated, late and woven batches against the plainest of books: a bit for each packet. */
class ArrivalsProperties {
    private static final int PACKETS = 120;
    private static final int LARGEST_BATCH = 9;

    private record Batch(long sequence, long from, long to) {}

    /** The packets of a session in batches of any size; a third of them, on average, is empty. */
    private static List<Batch> cut(Random random) {
        List<Batch> batches = new ArrayList<>();
        long at = 0;
        while (at < PACKETS || random.nextInt(3) == 0) {
            long size = random.nextInt(3) == 0 ? 0 : Math.min(PACKETS - at, 1 + random.nextInt(LARGEST_BATCH));
            batches.add(new Batch(batches.size(), at, at + size));
            at += size;
        }
        return batches;
    }

    /** Some are lost, some come twice, some change places; the playing may break off. */
    private static List<Batch> played(List<Batch> batches, Random random) {
        int end = random.nextBoolean() ? batches.size() : 1 + random.nextInt(batches.size());
        int lossPercent = random.nextInt(40);
        List<Batch> played = new ArrayList<>();
        for (Batch batch : batches.subList(0, end)) {
            if (random.nextInt(100) >= lossPercent) {
                played.add(batch);
            }
            if (random.nextInt(10) == 0) {
                played.add(random.nextInt(played.size() + 1), batch);
            }
        }
        return played;
    }

    private static List<Batch> woven(List<Batch> some, List<Batch> others, Random random) {
        List<Batch> woven = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < some.size() || j < others.size()) {
            boolean first = j == others.size() || (i < some.size() && random.nextBoolean());
            woven.add(first ? some.get(i++) : others.get(j++));
        }
        return woven;
    }

    /** Packet by packet. */
    private static final class Model {
        private final BitSet packets = new BitSet();
        private final BitSet batches = new BitSet();
        private int reached; // also by batches without packets

        long repeated(Batch batch) {
            return packets.get((int) batch.from, (int) batch.to).cardinality();
        }

        void add(Batch batch) {
            packets.set((int) batch.from, (int) batch.to);
            batches.set((int) batch.sequence);
            reached = Math.max(reached, (int) batch.to);
        }

        long missingPackets() {
            return reached - packets.cardinality();
        }

        long missingBatches() {
            return batches.length() - batches.cardinality();
        }
    }

    /** The rows of gaps as their table keeps them. */
    private static final class Rows {
        private final Map<Gap.Key, Gap> rows = new HashMap<>();

        void take(Arrivals arrivals) {
            arrivals.tell(gap -> rows.put(gap.key(), gap));
        }

        BitSet packets() {
            BitSet packets = new BitSet();
            for (Gap gap : rows.values()) {
                assertThat(packets.get((int) gap.fromPacket(), (int) gap.toPacket())
                                .isEmpty())
                        .as("gaps overlap: %s", rows.values())
                        .isTrue();
                packets.set((int) gap.fromPacket(), (int) gap.toPacket());
            }
            return packets;
        }
    }

    @Property(tries = 3000)
    void playedAlikeEverythingIsExact(@ForAll long seed, @ForAll @IntRange(min = 1, max = 3) int playings)
            throws IOException {
        Random random = new Random(seed);
        List<Batch> batches = cut(random);
        List<Batch> arriving = played(batches, random);
        for (int i = 1; i < playings; i++) {
            arriving = then(arriving, played(batches, random), random);
        }

        check(arriving, true, random);
    }

    @Property(tries = 3000)
    void playedWithOtherCutsPacketsAreExact(@ForAll long seed) throws IOException {
        Random random = new Random(seed);

        check(then(played(cut(random), random), played(cut(random), random), random), false, random);
    }

    /** The second playing's first gap begins where the first one's, of batches without packets, does. */
    @Example
    void gapsOfTwoCutsThatBeginAlikeAreOneRow() {
        Arrivals arrivals = new Arrivals();
        Rows rows = new Rows();

        arrivals.onBatch(0, 0, new Amount(1, 4, 5), 7);
        arrivals.onBatch(3, 5, new Amount(1, 0, 0), 7);
        arrivals.onBatch(1, 8, new Amount(1, 4, 2), 7);
        rows.take(arrivals);
        arrivals.onBatch(1, 5, new Amount(1, 0, 0), 7);
        rows.take(arrivals);

        assertThat(rows.packets().stream()).containsExactly(5, 6, 7);
        assertThat(arrivals.missing().packets()).isEqualTo(3);
    }

    private static List<Batch> then(List<Batch> some, List<Batch> others, Random random) {
        if (random.nextBoolean()) {
            return woven(some, others, random);
        }
        List<Batch> all = new ArrayList<>(some);
        all.addAll(others);
        return all;
    }

    private static void check(List<Batch> arriving, boolean areCutAlike, Random random) throws IOException {
        Arrivals arrivals = new Arrivals();
        Model model = new Model();
        Rows rows = new Rows();
        for (Batch batch : arriving) {
            long repeated = model.repeated(batch);
            boolean wasThere = areCutAlike && model.batches.get((int) batch.sequence);
            model.add(batch);

            Amount amount = new Amount(1, 4, batch.to - batch.from);
            Amount said = arrivals.onBatch(batch.sequence, batch.from, amount, 7);

            assertThat(said.packets())
                    .as("repeated by %s of %s", batch, arriving)
                    .isEqualTo(repeated);
            assertThat(arrivals.missing().packets())
                    .as("missing after %s of %s", batch, arriving)
                    .isEqualTo(model.missingPackets());
            if (areCutAlike) {
                assertThat(said).as("%s of %s", batch, arriving).isEqualTo(wasThere ? amount : Amount.NOTHING);
                assertThat(arrivals.missing().batches())
                        .as("missing after %s of %s", batch, arriving)
                        .isEqualTo(model.missingBatches());
            }
            if (random.nextInt(4) == 0) {
                rows.take(arrivals);
            }
            if (random.nextInt(8) == 0) {
                arrivals = restored(arrivals);
            }
        }
        rows.take(arrivals);
        BitSet missing = new BitSet();
        missing.set(0, model.reached);
        missing.andNot(model.packets);
        assertThat(rows.packets()).isEqualTo(missing);
    }

    private static Arrivals restored(Arrivals arrivals) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        arrivals.write(out);
        return Arrivals.read(new DataInputDeserializer(out.getCopyOfBuffer()));
    }
}
