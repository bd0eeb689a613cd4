// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.path;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.RootCause;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.Tenants;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PathJudgeTest {
    @Test
    void oneTapMakesNoPath() {
        assertThat(judge(List.of(Taps.at("a", 10).seen()))).isNull();
        assertThat(judge(List.of(Taps.at("a", 10).seen(), Taps.at("a", 10).seen())))
                .isNull();
    }

    @Test
    void theTapsStandInTheOrderOfTheData() {
        PathRow row = judge(Taps.at("a", 30), Taps.at("b", 5), Taps.at("c", 12));

        assertThat(row.taps()).containsExactly("b", "c", "a");
        assertThat(row.list(PathField.TAP_POSITIONS)).containsExactly(125, 300, 750);
        assertThat(row.get(PathField.RTT_MIN_SECONDS)).isEqualTo(40_000_000);
    }

    @Test
    void aQueueLiesWhereTheDelayOfBothSidesChanges() {
        PathRow row = judge(
                Taps.at("a", 10).queues(0, 20).all(RowField.SHARE_UNSHARED_BOTTLENECK),
                Taps.at("b", 20).queues(0, 20).all(RowField.SHARE_UNSHARED_BOTTLENECK),
                Taps.at("c", 30).queues(20, 0).all(RowField.SHARE_UNSHARED_BOTTLENECK));

        assertPlace(row, RootCause.UNSHARED_BOTTLENECK, LimitSegment.BETWEEN_TAPS, "b", "c");
        assertThat(row.get(PathField.LIMIT_EVIDENCE)).isEqualTo(LimitEvidence.QUEUE.ordinal());
        assertThat(row.list(PathField.SEGMENT_QUEUE_SECONDS)).containsExactly(0, 0, 20_000_000, 0);
        assertThat(row.get(PathField.CONFIDENCE)).isEqualTo(1_000);
    }

    @Test
    void aQueueBeforeOrBehindAllTapsIsToldToo() {
        PathRow before = judge(
                Taps.at("a", 10).queues(20, 0).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 20).queues(20, 1).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(before, RootCause.SHARED_BOTTLENECK, LimitSegment.BEFORE_FIRST_TAP, "", "a");

        PathRow behind = judge(
                Taps.at("a", 10).queues(1, 20).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 20).queues(1, 20).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(behind, RootCause.SHARED_BOTTLENECK, LimitSegment.AFTER_LAST_TAP, "b", "");
    }

    @Test
    void aLossLiesWhereRepeatsTurnIntoRepairs() {
        PathRow row = judge(
                Taps.at("a", 10).lost(0, 14_480).all(RowField.SHARE_TRANSPORT),
                Taps.at("b", 30).lost(13_032, 1_448).all(RowField.SHARE_TRANSPORT));

        assertPlace(row, RootCause.TRANSPORT, LimitSegment.BETWEEN_TAPS, "a", "b");
        assertThat(row.get(PathField.LIMIT_EVIDENCE)).isEqualTo(LimitEvidence.LOSS.ordinal());
        assertThat(row.list(PathField.SEGMENT_LOST_BYTES)).containsExactly(0, 13_032, 1_448);
        assertThat(row.get(PathField.CONFIDENCE)).isEqualTo(900);
    }

    @Test
    void aPathThatIsFullWithoutQueueIsWhereItLoses() {
        PathRow row = judge(
                Taps.at("a", 10).lost(14_480, 0).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 30).lost(14_480, 0).all(RowField.SHARE_SHARED_BOTTLENECK));

        assertPlace(row, RootCause.SHARED_BOTTLENECK, LimitSegment.BEFORE_FIRST_TAP, "", "a");
    }

    @Test
    void aLossThatOneSideTellsIsEnough() {
        PathRow byRepairs = judge(Taps.at("a", 10), Taps.at("b", 30).lost(9_000, 0));
        assertThat(byRepairs.list(PathField.SEGMENT_LOST_BYTES)).containsExactly(0, 9_000, 0);
        PathRow byRepeats = judge(Taps.at("a", 10).lost(0, 9_000), Taps.at("b", 30));
        assertThat(byRepeats.list(PathField.SEGMENT_LOST_BYTES)).containsExactly(0, 9_000, 0);
    }

    /** While a loss is pending, and without timestamps, nobody times the sender's side. */
    @Test
    void aQueueThatNobodyTimesIsFoundByElimination() {
        PathRow row = judge(
                Taps.at("a", 10).senderUntimed().queues(0, 1).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 30).senderUntimed().queues(0, 1).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(row, RootCause.SHARED_BOTTLENECK, LimitSegment.BEFORE_FIRST_TAP, "", "a");
        assertThat(row.get(PathField.LIMIT_EVIDENCE)).isEqualTo(LimitEvidence.ELIMINATION.ordinal());
        assertThat(row.get(PathField.CONFIDENCE)).isEqualTo(790);

        PathRow seen = judge(
                Taps.at("a", 10).senderUntimed().queues(0, 2).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 30).senderUntimed().queues(0, 2).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(seen, RootCause.SHARED_BOTTLENECK, LimitSegment.AFTER_LAST_TAP, "b", "");
    }

    /** Before a policer a sender that paces waits by itself, which looks like a queue before the first tap. */
    @Test
    void whatIsLostElsewhereOutweighsWaitsBeforeTheFirstTap() {
        PathRow policed = judge(
                Taps.at("a", 10).queues(4, 0).lost(0, 30_000).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 30).queues(4, 0).lost(30_000, 0).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(policed, RootCause.SHARED_BOTTLENECK, LimitSegment.BETWEEN_TAPS, "a", "b");

        PathRow queued = judge(
                Taps.at("a", 10).queues(4, 0).lost(30_000, 1_448).all(RowField.SHARE_SHARED_BOTTLENECK),
                Taps.at("b", 30).queues(4, 0).lost(31_448, 0).all(RowField.SHARE_SHARED_BOTTLENECK));
        assertPlace(queued, RootCause.SHARED_BOTTLENECK, LimitSegment.BEFORE_FIRST_TAP, "", "a");
    }

    @Test
    void congestionControlThatLosesNothingIsLimitedNowhere() {
        PathRow row = judge(
                Taps.at("a", 10).all(RowField.SHARE_TRANSPORT), Taps.at("b", 30).all(RowField.SHARE_TRANSPORT));

        assertPlace(row, RootCause.TRANSPORT, LimitSegment.NONE, "", "");
        assertThat(row.isNull(PathField.LIMIT_EVIDENCE)).isTrue();
    }

    @Test
    void hostsAreNoPartOfThePath() {
        PathRow sender = judge(
                Taps.at("a", 10).queues(90, 0).all(RowField.SHARE_APPLICATION),
                Taps.at("b", 30).queues(90, 0).all(RowField.SHARE_SEND_BUFFER).share(RowField.SHARE_APPLICATION, 1));
        assertPlace(sender, RootCause.APPLICATION, LimitSegment.SENDER, "", "");

        PathRow receiver = judge(
                Taps.at("a", 10).all(RowField.SHARE_RECEIVER_WINDOW),
                Taps.at("b", 30).all(RowField.SHARE_RECEIVER_WINDOW));
        assertPlace(receiver, RootCause.RECEIVER_WINDOW, LimitSegment.RECEIVER, "", "");
    }

    @Test
    void aTapThatKnowsSpeaksForOneThatDoesNot() {
        PathRow row = judge(
                Taps.at("a", 10).all(RowField.SHARE_UNKNOWN), Taps.at("b", 30).all(RowField.SHARE_RECEIVER_WINDOW));
        assertPlace(row, RootCause.RECEIVER_WINDOW, LimitSegment.RECEIVER, "", "");

        PathRow little = judge(
                Taps.at("a", 10)
                        .share(RowField.SHARE_UNKNOWN, 6)
                        .share(RowField.SHARE_RECEIVER_WINDOW, 4)
                        .length(10),
                Taps.at("b", 30)
                        .share(RowField.SHARE_UNKNOWN, 6)
                        .share(RowField.SHARE_RECEIVER_WINDOW, 4)
                        .length(10));
        assertPlace(little, RootCause.UNKNOWN, LimitSegment.UNKNOWN, "", "");
        assertPlace(judge(Taps.at("a", 10), Taps.at("b", 30)), RootCause.UNKNOWN, LimitSegment.UNKNOWN, "", "");

        PathRow nobody = judge(
                Taps.at("a", 10).all(RowField.SHARE_UNKNOWN), Taps.at("b", 30).all(RowField.SHARE_UNKNOWN));
        assertPlace(nobody, RootCause.UNKNOWN, LimitSegment.UNKNOWN, "", "");
        assertThat(nobody.get(PathField.CONFIDENCE)).isZero();
    }

    @Test
    void whatPassedIsCountedOnce() {
        PathRow row = judge(
                Taps.at("a", 10).put(RowField.DATA_BYTES, 1_500).put(RowField.DATA_PACKETS, 3),
                Taps.at("b", 30).put(RowField.DATA_BYTES, 1_000).put(RowField.DATA_PACKETS, 2));
        assertThat(row.get(PathField.DATA_BYTES)).isEqualTo(1_500);
        assertThat(row.get(PathField.DATA_PACKETS)).isEqualTo(3);
        assertThat(row.get(PathField.OBSERVATIONS)).isEqualTo(2);

        PathRow behindALossyMirror = judge(
                Taps.at("a", 10).put(RowField.DATA_BYTES, 900).put(RowField.CAPTURE_LOSS_BYTES, 600),
                Taps.at("b", 30).put(RowField.DATA_BYTES, 1_000));
        assertThat(behindALossyMirror.get(PathField.DATA_BYTES)).isEqualTo(1_000);
    }

    /** Data pass one tap, their acknowledgments none: nothing is timed, only losses tell an order. */
    @Test
    void tapsWithoutTimeAreOrderedByLossOrNotAtAll() {
        PathRow told = judge(
                Taps.withoutTime("a").lost(14_480, 0).all(RowField.SHARE_TRANSPORT),
                Taps.withoutTime("b").lost(0, 14_480).all(RowField.SHARE_TRANSPORT));
        assertPlace(told, RootCause.TRANSPORT, LimitSegment.BETWEEN_TAPS, "b", "a");
        assertThat(told.list(PathField.TAP_POSITIONS)).containsExactly(Row.NULL, Row.NULL);
        assertThat(told.list(PathField.SEGMENT_QUEUE_SECONDS)).containsExactly(Row.NULL, Row.NULL, Row.NULL);

        PathRow untold = judge(
                Taps.withoutTime("a").lost(14_480, 0).all(RowField.SHARE_TRANSPORT),
                Taps.withoutTime("b").lost(14_480, 0).all(RowField.SHARE_TRANSPORT));
        assertPlace(untold, RootCause.TRANSPORT, LimitSegment.UNKNOWN, "", "");
        assertThat(untold.list(PathField.SEGMENT_LOST_BYTES)).isEmpty();
    }

    @Test
    void piecesWithoutHandshakeJoinTheFlow() {
        PathRow row = judge(Taps.at("a", 10).synMissed(3), Taps.at("b", 30).named(9));
        assertThat(row.identity().flowId()).isEqualTo(9);
        assertThat(row.get(PathField.QUALITY)).isEqualTo(1L << Quality.SYN_MISSED.ordinal());

        PathRow nameless = judge(
                Taps.at("a", 10).synMissed(-3).put(RowField.DATA_BYTES, 9_999_999),
                Taps.at("b", 30).synMissed(4));
        assertThat(nameless.identity().flowId()).isEqualTo(4); // unsigned
        assertThat(nameless.get(PathField.PATH_ID)).isEqualTo(row.get(PathField.PATH_ID));
    }

    @Test
    void piecesOfOneTapCountTogether() {
        PathRow row = judge(
                Taps.at("a", 10).lost(0, 5),
                Taps.withoutTime("a").lost(0, 4).synMissed(3).put(RowField.DATA_BYTES, 52_000),
                Taps.at("b", 30).lost(9, 0));

        assertThat(row.taps()).containsExactly("a", "b");
        assertThat(row.list(PathField.TAP_POSITIONS)).containsExactly(250, 750);
        assertThat(row.list(PathField.SEGMENT_LOST_BYTES)).containsExactly(0, 9, 0);
        assertThat(row.get(PathField.DATA_BYTES)).isEqualTo(1_500_000);
        assertThat(row.get(PathField.OBSERVATIONS)).isEqualTo(3);
        assertThat(row.get(PathField.QUALITY)).isEqualTo(1L << Quality.SYN_MISSED.ordinal());
    }

    @Test
    void theClientMayBeTheHigherEnd() {
        PathRow row = judge(Taps.at("a", 10).clientIsHigher(), Taps.at("b", 30).clientIsHigher());
        assertThat(row.identity().clientLow()).isEqualTo(Taps.SERVER);
        assertThat(row.get(PathField.DIRECTION)).isZero();

        assertThat(Taps.at("a", 10).clientIsHigher().seen().lowSends()).isFalse();
        assertThat(Taps.at("a", 10).seen().lowSends()).isTrue();
        assertThat(Taps.at("a", 10).toClient().seen().lowSends()).isFalse();
    }

    @Test
    void ofTwoFlowsOnOneKeyTheLargerHasTheRow() {
        PathRow row = judge(
                Taps.at("a", 10).named(1).put(RowField.DATA_BYTES, 100),
                Taps.at("a", 10).named(2).put(RowField.DATA_BYTES, 900),
                Taps.at("b", 30).named(2).put(RowField.DATA_BYTES, 900));

        assertThat(row.identity().flowId()).isEqualTo(2);
        assertThat(row.get(PathField.DATA_BYTES)).isEqualTo(900);
        assertThat(row.get(PathField.OBSERVATIONS)).isEqualTo(3);
    }

    @Test
    void theDirectionsOfAFlowHavePathsOfTheirOwn() {
        PathRow there = judge(Taps.at("a", 10), Taps.at("b", 30));
        PathRow back = judge(Taps.at("a", 30).toClient(), Taps.at("b", 10).toClient());

        assertThat(there.taps()).containsExactly("a", "b");
        assertThat(back.taps()).containsExactly("b", "a");
        assertThat(back.get(PathField.PATH_ID)).isNotEqualTo(there.get(PathField.PATH_ID));
        assertThat(back.identity()).isEqualTo(there.identity());
    }

    @Test
    void theOrderOfTheObservationsDoesNotMatter() {
        List<PathObservation> seen = new ArrayList<>(Stream.of(
                        Taps.at("d", 10).lost(3, 99).queues(1, 7).share(RowField.SHARE_TRANSPORT, 3),
                        Taps.at("c", 10).lost(5, 97).queues(2, 7).share(RowField.SHARE_UNSHARED_BOTTLENECK, 5),
                        Taps.at("b", 30)
                                .lost(55, 47)
                                .queues(6, 3)
                                .synMissed(-5)
                                .share(RowField.SHARE_SHARED_BOTTLENECK, 7),
                        Taps.at("a", 35).lost(70, 33).queues(6, 1).share(RowField.SHARE_RECEIVER_WINDOW, 9),
                        Taps.at("a", 36).lost(7, 3).queues(6, 1).synMissed(8).share(RowField.SHARE_UNKNOWN, 9))
                .map(Taps::seen)
                .toList());
        PathRow expected = requireNonNull(judge(seen));

        Random random = new Random(1);
        for (int i = 0; i < 200; i++) {
            Collections.shuffle(seen, random);
            assertThat(judge(seen)).isEqualTo(expected);
        }
    }

    /** Who shall have the row is known only when a second tap has seen it: until then the smaller flow keeps it. */
    @Test
    void aFlowThatOneTapSawDoesNotTakeTheRowOfAnother() {
        PathRow row = judge(
                Taps.at("a", 10).named(2).put(RowField.DATA_BYTES, 100),
                Taps.at("b", 30).named(2).put(RowField.DATA_BYTES, 100),
                Taps.at("a", 10).named(1).put(RowField.DATA_BYTES, 900));

        assertThat(row.identity().flowId()).isEqualTo(2);
        assertThat(row.get(PathField.DATA_BYTES)).isEqualTo(100);
    }

    @Test
    void theEndsAreTheirTenants() {
        Tenants tenants = Tenants.parse(List.of("10.0.0.1/32,acme", "10.0.0.0/24,other"));
        List<PathObservation> low =
                List.of(Taps.at("a", 10).seen(), Taps.at("b", 30).seen());
        List<PathObservation> high = List.of(
                Taps.at("a", 10).clientIsHigher().seen(),
                Taps.at("b", 30).clientIsHigher().seen());

        PathRow row = requireNonNull(PathJudge.judge(low, tenants));
        assertThat(row.text(PathField.CLIENT_TENANT)).isEqualTo("acme");
        assertThat(row.text(PathField.SERVER_TENANT)).isEqualTo("other");
        assertThat(requireNonNull(PathJudge.judge(high, tenants)).text(PathField.SERVER_TENANT))
                .isEqualTo("acme");
    }

    private static @Nullable PathRow judge(List<PathObservation> seen) {
        return PathJudge.judge(seen, Tenants.NONE);
    }

    private static PathRow judge(Taps... taps) {
        return requireNonNull(judge(Stream.of(taps).map(Taps::seen).toList()));
    }

    private static void assertPlace(PathRow row, RootCause cause, LimitSegment segment, String from, String to) {
        assertThat(RootCause.values()[(int) row.get(PathField.ROOT_CAUSE)]).isEqualTo(cause);
        assertThat(LimitSegment.values()[(int) row.get(PathField.LIMIT_SEGMENT)])
                .isEqualTo(segment);
        assertThat(row.text(PathField.LIMIT_FROM)).isEqualTo(from);
        assertThat(row.text(PathField.LIMIT_TO)).isEqualTo(to);
    }
}
