// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;

import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows that close: for how long, what probes them, and which rows tell of it. */
class FlowControlTest {
    /** 145 segments, of which the last 45 fill the window; from 0.610 s on it is closed. */
    private static final String CLOSED = OPENING + """
            repeat 50 {
            +0.000 A > B .  +2896  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            +0.090 A > B .  +65152 ack @
            +0.010 B > A .  0:0(0) ack @ win 0
            """; // up to 209953

    @Test
    void aClosedWindowOwnsItsTimeUpToTheNextData() {
        Timeline.check(CLOSED + """
                +0.300 B > A .  0:0(0) ack @ win 509
                +0.000 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B zero_window_seconds 0.3, share_receiver_window 0.34..0.35, data_packets 146
                """);
    }

    @ParameterizedTest(name = "marks of silence: {0}")
    @ValueSource(booleans = {true, false})
    void everyIntervalOfAClosedWindowHasARow(boolean quietMarks) {
        PacketScript script = PacketScript.parse(CLOSED + """
                +3.000 B > A .  0:0(0) ack @ win 509        # at 3.61 s
                +0.000 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B seconds 0 1 2 3
                expect A > B second 0 data_packets 145, zero_window_seconds 0.39
                expect A > B second 1 data_packets 0, zero_window_seconds 1, share_receiver_window 1
                expect A > B second 1 root_cause receiver_window, sub_cause zero_window
                expect A > B second 2 data_packets 0, zero_window_seconds 1, share_receiver_window 1
                expect A > B second 3 data_packets 1, zero_window_seconds 0.61
                expect A > B data_packets 146, zero_window_seconds 3
                """);

        Timeline.check(script, Tap.rowsOf(script.runs(new RunCutter(256, true, quietMarks))));
    }

    @Test
    void probesAndTheirAnswersKeepItClosedAndSendNothing() {
        Timeline.check(CLOSED + """
                repeat 5 {
                +0.500 A > B .  209953:209954(1) ack @
                +0.010 B > A .  0:0(0) ack 209953 win 0
                }
                +0.500 B > A .  0:0(0) ack 209953 win 509    # at 3.66 s
                +0.000 A > B .  209953:211401(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B seconds 0 1 2 3
                expect A > B data_packets 146, data_bytes 211400, retransmission_score 0, loss_events 0
                expect A > B zero_window_seconds 3.05, capture_loss_bytes 0
                """);
    }

    @Test
    void theByteOfAProbeMayBeTaken() {
        Timeline.check(CLOSED + """
                +0.200 A > B .  209953:209954(1) ack @
                +0.010 B > A .  0:0(0) ack 209954 win 0
                +0.200 A > B .  209954:209955(1) ack @
                +0.010 B > A .  0:0(0) ack 209955 win 509
                +0.000 A > B .  209955:211403(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B data_packets 146, capture_loss_bytes 0, retransmission_score 0, share_unknown 0..0.02
                expect A > B zero_window_seconds 0.42, quality !capture_loss
                """);
    }

    @Test
    void probesBelowTheWindowCarryNothingEither() {
        Timeline.check(CLOSED + """
                repeat 5 {
                +0.100 A > B .  209952:209952(0) ack @
                +0.010 B > A .  0:0(0) ack 209953 win 0
                }
                +0.010 B > A .  0:0(0) ack @ win 509
                +0.000 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B data_packets 146, retransmission_score 0, zero_window_seconds 0.56
                """);
    }

    @Test
    void aWindowThatNeverOpensIsBookedAsFarAsTheTapSaw() {
        Timeline.check(CLOSED + """
                end IDLE +10
                expect A > B seconds 0 1 2 3 4 5 6 7
                expect A > B second 7 zero_window_seconds 1
                """);
    }

    @Test
    void aFullWindowIsTheReceivers() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460,sackOK,wscale 0>
                +0.010 B > A S. 0:0(0) ack 1  win 64240 <mss 1460,sackOK,wscale 0>
                +0.000 A > B .  0:0(0) ack 1
                repeat 200 {
                +0.000 A > B .  +64240 ack @
                +0.010 B > A .  0:0(0) ack @  win 64240
                }
                end CAPTURE_END
                expect A > B root_cause receiver_window, sub_cause window_unscaled, receiver_window_score 0.98..1
                expect A > B second 1 root_cause receiver_window, receiver_window_mean_bytes 64000..64240
                """);
    }

    /** Two seconds, and three in which the application wrote nothing: these are not the window's. */
    @Test
    void theScoreOfAWindowLeavesTheApplicationsTimeOut() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460,sackOK,wscale 0>
                +0.010 B > A S. 0:0(0) ack 1  win 64240 <mss 1460,sackOK,wscale 0>
                +0.000 A > B .  0:0(0) ack 1
                repeat 200 {
                +0.000 A > B .  +64240 ack @
                +0.010 B > A .  0:0(0) ack @  win 64240
                }
                +0.000 A > B P. +1460  ack @
                +0.010 B > A .  0:0(0) ack @  win 64240
                +3.000 A > B P. +1460  ack @
                end CAPTURE_END
                expect A > B share_application 0.59..0.61, receiver_window_score 0.98..1
                """);
    }

    @Test
    void aWindowThatAlwaysHasRoomIsNot() {
        Timeline.check(OPENING + """
                +0.000 B > A .  0:0(0) ack @ win 8000
                repeat 5 {
                +0.000 A > B P. +1018000 ack @              # of 1024000
                +0.010 B > A .  0:0(0) ack @ win 8000
                }
                end CAPTURE_END
                expect A > B share_receiver_window 0, receiver_window_score 0
                """);
    }

    /** Thirty segments in flight; of eight a tenth of the window would be less than one, so one counts. */
    @ParameterizedTest(name = "{0} segments, {1} bytes of window left: share {2}, score {3}")
    @CsvSource({
        "30, 2895, 0.95..1, 0.95..1",
        "30, 2896, 0,       0.95..1",
        "30, 4343, 0,       0.95..1",
        "30, 4344, 0,       0",
        "8,  1447, 0.95..1, 0.95..1",
        "8,  1448, 0,       0",
    })
    void aWindowIsFullWhenTwoSegmentsDoNotFitAndNearlySoWhenThreeDoNot(
            int segments, int room, String share, String score) {
        Timeline.check("""
                timestamps
                mss 1448
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460,sackOK>
                +0.010 B > A S. 0:0(0) ack 1  win %2$d <mss 1460,sackOK>
                +0.000 A > B .  0:0(0) ack 1
                repeat 100 {
                +0.000 A > B .  +%1$d ack @
                +0.010 B > A .  0:0(0) ack @
                }
                expect A > B share_receiver_window %3$s, receiver_window_score %4$s
                """.formatted(segments * 1448, segments * 1448 + room, share, score));
    }
}
