// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.path.FlowPath.Fate;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.analysis.wire.Varint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FlowPathTest {
    private final List<PathRow> rows = new ArrayList<>();
    private long now;
    private FlowPath path = new FlowPath(Taps.at("a", 10).seen().key());

    @Test
    void everyFurtherTapGivesTheRowAnew() throws IOException {
        assertThat(add(Taps.at("a", 10))).isEqualTo(Fate.ALONE);
        assertThat(add(Taps.at("b", 20))).isEqualTo(Fate.COMBINED);
        assertThat(add(Taps.at("c", 30))).isEqualTo(Fate.COMBINED);

        assertThat(rows).extracting(PathRow::taps).containsExactly(List.of("a", "b"), List.of("a", "b", "c"));
        assertThat(rows.get(1).revision()).isGreaterThan(rows.get(0).revision());
    }

    /** A capture that is played again tells anew of flows that had ended. */
    @Test
    void whatATapTellsTwiceCountsOnce() throws IOException {
        assertThat(add(Taps.at("a", 10))).isEqualTo(Fate.ALONE);
        assertThat(add(Taps.at("a", 10))).isEqualTo(Fate.REPEATED);
        assertThat(add(Taps.at("b", 20))).isEqualTo(Fate.COMBINED);
        assertThat(add(Taps.at("b", 20))).isEqualTo(Fate.REPEATED);

        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).get(PathField.OBSERVATIONS)).isEqualTo(2);
    }

    @Test
    void aTapThatFallsSilentHoldsNothingBack() throws IOException {
        for (int second = 0; second < 100; second++) {
            add(Taps.at("a", 10).second(second));
            add(Taps.at("b", 20).second(second));
            if (second < 3) {
                add(Taps.at("dead", 30).second(second));
            }
        }
        assertThat(rows.stream().map(row -> row.get(PathField.INTERVAL_START)).distinct())
                .hasSize(100);
    }

    /** By how much a tap is behind only says what it is measured by: nothing but {@code forget} lets go of anything. */
    @Test
    void aTapMayBeAnHourBehind() throws IOException {
        for (int second = 0; second < 3_600; second++) {
            add(Taps.at("a", 10).second(second));
        }
        for (int second = 0; second < 3_600; second++) {
            assertThat(add(Taps.at("b", 20).second(second))).isEqualTo(Fate.COMBINED);
        }
        assertThat(path.forget(0)).isZero();
    }

    @Test
    void whatWasLetGoOfIsKnownToHaveBeenThere() throws IOException {
        for (now = 0; now < 20; now++) {
            add(Taps.at("a", 10).second(now));
            add(Taps.at("b", 20).second(now));
        }
        assertThat(path.forget(10)).isEqualTo(20);
        path = restored();
        rows.clear();

        assertThat(add(Taps.at("a", 10).second(9))).as("again").isEqualTo(Fate.FORGOTTEN);
        assertThat(add(Taps.at("a", 10).second(10))).as("again").isEqualTo(Fate.REPEATED);
        assertThat(rows).isEmpty();
        assertThat(add(Taps.at("c", 30).second(9))).isEqualTo(Fate.LATE);
        assertThat(rows).isEmpty();
        assertThat(add(Taps.at("c", 30).second(10))).isEqualTo(Fate.COMBINED);
    }

    @Test
    void beyondTheBoundTheFirstToArriveGo() throws IOException {
        for (now = 0; now < FlowPath.MAX_KEPT + FlowPath.SLACK; now++) {
            add(Taps.at("a", 10).second(now));
        }
        assertThat(path.forget(0)).isZero();
        add(Taps.at("a", 10).second(now));

        assertThat(path.forget(0)).isEqualTo(FlowPath.SLACK + 1);
        assertThat(path.size()).isEqualTo(FlowPath.MAX_KEPT);
        assertThat(add(Taps.at("b", 10).second(FlowPath.SLACK))).isEqualTo(Fate.LATE);
        assertThat(add(Taps.at("b", 10).second(FlowPath.SLACK + 1))).isEqualTo(Fate.COMBINED);
    }

    @Test
    void aTapWithAWrongClockHurtsNoOther() throws IOException {
        add(Taps.at("a", 10).second(5));
        add(Taps.at("wrong", 10).second(4));
        add(Taps.at("wrong", 10).second(4_000_000_000L));
        path.forget(1); // of what came at 0
        now = 9;
        add(Taps.at("wrong", 10).second(9)); // its clock is set right
        add(Taps.at("a", 10).second(9));
        assertThat(add(Taps.at("b", 20).second(9))).isEqualTo(Fate.COMBINED);
    }

    /** Rows of six taps for three seconds, in each order in which the taps may take turns. */
    @Test
    void theLastRowOfAnIntervalIsTheSameInEveryOrder() throws IOException {
        List<Taps> seen = List.of(
                Taps.at("a", 4).lost(1, 9),
                Taps.at("b", 9).queues(1, 8).synMissed(-5),
                Taps.at("c", 16).share(RowField.SHARE_TRANSPORT, 9),
                Taps.at("d", 25).lost(9, 1),
                Taps.at("d", 26).synMissed(11));
        Map<Long, PathRow> expected = null;
        for (List<Integer> order : permutations(seen.size())) {
            rows.clear();
            path = new FlowPath(seen.get(0).seen().key());
            for (int tap : order) {
                for (int second = 5; second < 8; second++) {
                    add(seen.get(tap).second(second));
                }
            }
            Map<Long, PathRow> last = new TreeMap<>();
            rows.forEach(row -> last.merge(
                    row.get(PathField.INTERVAL_START),
                    row,
                    (one, other) -> one.revision() > other.revision() ? one : other));
            expected = expected == null ? last : expected;
            assertThat(last).hasSize(3).isEqualTo(expected);
        }
    }

    /** Of two flows on one port within a second, three taps saw the smaller, and two the larger. */
    @Test
    void whichFlowHasTheRowIsTheSameInEveryOrder() throws IOException {
        List<Taps> seen = List.of(
                Taps.at("a", 4).named(7),
                Taps.at("b", 9).named(7),
                Taps.at("c", 16).named(7),
                Taps.at("a", 4).named(8).data(9_000_000),
                Taps.at("b", 9).named(8).data(9_000_000));
        for (List<Integer> order : permutations(seen.size())) {
            rows.clear();
            path = new FlowPath(seen.get(0).seen().key());
            for (int tap : order) {
                add(seen.get(tap));
            }
            PathRow last = rows.get(0);
            for (PathRow row : rows) {
                last = row.revision() >= last.revision() ? row : last;
            }
            assertThat(last.identity().flowId()).as("after %s", order).isEqualTo(8);
            assertThat(last.taps()).containsExactly("a", "b");
        }
    }

    @Test
    void directionsDoNotMix() throws IOException {
        add(Taps.at("a", 10));
        assertThat(add(Taps.at("b", 20).toClient())).isEqualTo(Fate.ALONE);
    }

    @Test
    void ofNineTapsTheFirstEightByNameCountInWhateverOrderTheyCome() throws IOException {
        List<Taps> taps = new ArrayList<>();
        for (int tap = 0; tap < 9; tap++) {
            taps.add(Taps.at("tap" + tap, 1 + tap));
        }
        List<PathRow> last = new ArrayList<>();
        for (int first = 0; first < 9; first++) {
            path = new FlowPath(path().key());
            rows.clear();
            for (Taps tap : taps) {
                add(tap.second(5));
                add(tap.second(6));
            }
            last.add(rows.get(rows.size() - 1));
            Collections.rotate(taps, 1);
        }
        assertThat(last.get(0).taps()).hasSize(8).doesNotContain("tap8");
        assertThat(last).containsOnly(last.get(0));
        assertThat(add(Taps.at("tap8", 9))).isEqualTo(Fate.REFUSED);
    }

    @Test
    void anEndlessNumberOfPiecesIsRefused() throws IOException {
        int kept = 0;
        while (add(Taps.at("a", 10).named(kept)) != Fate.REFUSED && kept < 5_000) {
            kept++;
        }
        assertThat(kept).isEqualTo(FlowPath.MAX_OF_INTERVAL);
    }

    /** As it was written when how long a tap's observations were kept was for its own clock to say. */
    @Test
    void itGoesOnFromBytesOfVersion1() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        Taps.at("a", 10).second(5).seen().writeTo(new DataOutputStream(seen));
        Varint.write(out, 1);
        Varint.write(out, 1);
        out.writeUTF("a");
        Varint.write(out, 8 * Taps.SECOND);
        Varint.write(out, 1);
        Varint.write(out, 0);
        Varint.write(out, 3 * Taps.SECOND);
        Varint.write(out, seen.size());
        out.write(seen.toByteArray());

        path = FlowPath.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), path().key(), 70);

        assertThat(path.forget(70)).isZero();
        assertThat(add(Taps.at("b", 20).second(5))).isEqualTo(Fate.COMBINED);
        assertThat(path.forget(71)).isEqualTo(2);
    }

    @Test
    void itGoesOnFromItsBytes() throws IOException {
        add(Taps.at("a", 10).second(4));
        add(Taps.at("a", 10).second(7));
        add(Taps.at("b", 20).second(5).lost(1, 2).synMissed(-8));
        path = restored();
        add(Taps.at("a", 10).second(5).toClient());
        assertThat(add(Taps.at("b", 20).second(4))).isEqualTo(Fate.COMBINED);
        rows.clear();
        assertThat(add(Taps.at("a", 10).second(5))).isEqualTo(Fate.COMBINED);
        PathRow continued = rows.get(0);

        rows.clear();
        path = new FlowPath(path().key());
        add(Taps.at("a", 10).second(5));
        add(Taps.at("b", 20).second(5).lost(1, 2).synMissed(-8));
        assertThat(continued).isEqualTo(rows.get(0));
    }

    /** What a flow at one tap costs, as most flows are: a minute of it. */
    @Test
    void aMinuteAtOneTapTakesFewerThanSevenKilobytes() throws IOException {
        for (int second = 0; second < 60; second++) {
            add(Taps.at("a", 10)
                    .second(1_700_000_000L + second)
                    .named(-second)
                    .lost(1_448_000, 1_448_000)
                    .share(RowField.SHARE_SHARED_BOTTLENECK, 900_000_000)
                    .share(RowField.SHARE_TRANSPORT, 99_999_999));
        }
        assertThat(bytes()).hasSizeLessThan(7_000);
    }

    private PathObservation path() {
        return Taps.at("a", 10).seen();
    }

    private Fate add(Taps tap) throws IOException {
        return path.add(tap.seen(), now, Tenants.NONE, rows::add);
    }

    private byte[] bytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        path.writeTo(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private FlowPath restored() throws IOException {
        return FlowPath.readFrom(new DataInputStream(new ByteArrayInputStream(bytes())), path().key(), 0);
    }

    private static List<List<Integer>> permutations(int size) {
        if (size == 0) {
            return List.of(List.of());
        }
        List<List<Integer>> all = new ArrayList<>();
        for (List<Integer> shorter : permutations(size - 1)) {
            for (int at = 0; at <= shorter.size(); at++) {
                List<Integer> order = new ArrayList<>(shorter);
                order.add(at, size - 1);
                all.add(order);
            }
        }
        return all;
    }
}
