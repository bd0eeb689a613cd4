// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import org.junit.jupiter.api.Test;

/** A tap that sees only one direction says what it can, and that the rest is unknown. */
class OneDirectionTest {
    @Test
    void dataAloneHaveARateButNoCause() {
        Timeline.check("""
                timestamps
                mss 1448
                +0.000 A > B S  0:0(0)       win 64240 <mss 1460,sackOK,wscale 7>
                +0.020 A > B .  0:0(0) ack 1 win 502
                repeat 100 {
                +0.010 A > B .  +2896  ack 1
                }
                end CAPTURE_END
                expect client A
                expect A > B data_packets 200, root_cause unknown, share_unknown 0.8..1, quality one_direction
                expect A > B evidence_a 80..99, confidence 0.7..0.8
                expect A > B receiver_window_max_bytes null, outstanding_max_bytes null, receiver_window_score null
                expect A > B retransmission_score 0, capture_loss_bytes 0
                expect B > A none
                """);
    }

    @Test
    void acknowledgmentsAloneShowWhatArrived() {
        Timeline.check("""
                timestamps
                +0.000 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
                repeat 10 {
                +0.010 B > A .  0:0(0) ack 1461  win 509
                +0.010 B > A .  0:0(0) ack 14601 win 509
                }
                end CAPTURE_END
                expect client A
                expect A > B data_packets 0, quality one_direction !capture_loss, capture_loss_bytes 0
                expect A > B goodput_bits_per_second 5e5..6e5
                expect A > B seconds
                """);
    }

    @Test
    void ofADownloadTheAcknowledgmentsShowTheDirectionOfTheData() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)           win 65160 <mss 1460,sackOK,wscale 7>
                +0.010 A > B .  0:0(0) ack 1     win 509
                +0.010 A > B .  0:0(0) ack 14601 win 509
                end CAPTURE_END
                expect client A
                expect B > A data_packets 0, quality one_direction, goodput_bits_per_second 1..1e9
                """);
    }
}
