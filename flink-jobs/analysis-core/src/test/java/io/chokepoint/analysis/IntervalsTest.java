// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;

import org.junit.jupiter.api.Test;

/** Which stretches of a flow's time have a row, and that time goes neither lost nor back. */
class IntervalsTest {
    /** 180 segments from 0.010 s on, the last ones acknowledged at 0.610 s. */
    private static final String ELEPHANT = OPENING + """
            repeat 60 {
            +0.000 A > B .  +4344  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            """;

    @Test
    void theFirstRowStartsWithTheFlowAndTheLastEndsWithIt() {
        Timeline.check("start 2026-01-01T00:00:00.4Z\n" + ELEPHANT + """
                +0.000 A > B .  +14480 ack @                # at 1.01 s
                end FIN
                expect A > B seconds 0 1
                expect A > B second 0 interval_start 1767225600400000000, interval_end 1767225601000000000
                expect A > B second 1 interval_start 1767225601000000000, interval_end 1767225601010000001
                expect A > B second 1 data_packets 13
                expect A > B interval_start 1767225600400000000, interval_end 1767225601010000001
                """);
    }

    @Test
    void aPacketAtTheEndOfAnIntervalBelongsToTheNext() {
        Timeline.check(ELEPHANT + """
                +0.390 A > B .  +1448  ack @                # at 1.000000000 s
                end FIN
                expect A > B seconds 0 1
                expect A > B second 0 data_packets 180
                expect A > B second 1 data_packets 1, interval_end 1767225601000000001
                """);
    }

    @Test
    void aMouseHasNoIntervals() {
        Timeline.check(OPENING + """
                repeat 49 {
                +0.089 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                expect A > B seconds
                expect A > B data_packets 49, root_cause short_transfer
                """);
    }

    @Test
    void fromTheFiftiethPacketOnADirectionHasIntervals() {
        Timeline.check(OPENING + """
                repeat 50 {
                +0.089 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end FIN
                expect A > B seconds 4
                expect A > B second 4 data_packets 10
                expect A > B data_packets 50
                """);
    }

    @Test
    void silenceHasNoRowsAndIsTheApplications() {
        Timeline.check(ELEPHANT + """
                +9.000 A > B .  +1448  ack @                # at 9.61 s
                +0.010 B > A .  0:0(0) ack @
                end FIN
                expect A > B seconds 0 9
                expect A > B second 0 share_application 0.3..0.4
                expect A > B second 9 data_packets 1, share_application 0.98..1
                expect A > B data_packets 181, share_application 0.93..1, root_cause application, sub_cause idle
                """);
    }

    @Test
    void anEndMarkBooksNoSilence() {
        Timeline.check(ELEPHANT + """
                end IDLE +180
                expect A > B seconds 0
                expect A > B second 0 interval_end 1767225601000000000, share_application 0.3..0.4
                expect A > B interval_end 1767225601000000000
                """);
    }

    @Test
    void anEndMarkWithinTheIntervalEndsTheRowAtTheLastPacket() {
        Timeline.check(ELEPHANT + """
                end FIN +0.3
                expect A > B second 0 interval_end 1767225600610000001
                expect A > B interval_end 1767225600610000001
                """);
    }

    @Test
    void bothDirectionsAreBookedAlike() {
        Timeline.check(OPENING + """
                repeat 60 {
                +0.000 A > B P. +1448  ack @
                +0.010 B > A P. +1448  ack @ win 509
                }
                end FIN
                expect A > B seconds 0
                expect B > A seconds 0
                expect A > B data_packets 60, share_application 0.9..1, sub_cause waiting_for_peer
                expect B > A data_packets 60, share_application 0.9..1, sub_cause waiting_for_peer
                """);
    }

    @Test
    void aStepBackOfTheClockIsMarkedAndTimeGoesOn() {
        Timeline.check(ELEPHANT + """
                -3600.000 A > B .  +1448  ack @             # goes on at 0.61 s
                +0.010    B > A .  0:0(0) ack @
                +0.500    A > B .  +1448  ack @             # 1.12 s
                +0.010    B > A .  0:0(0) ack @
                end FIN
                expect A > B seconds 0 1
                expect A > B second 0 data_packets 181, quality clock_step
                expect A > B second 1 data_packets 1, quality !clock_step
                expect A > B data_packets 182, quality clock_step, interval_end 1767225601130000001
                """);
    }

    @Test
    void aStampBackByLessIsTakenAsNow() {
        Timeline.check(ELEPHANT + """
                -0.600 A > B .  +1448  ack @                # at 0.010 s
                +0.610 B > A .  0:0(0) ack @                # at 0.620 s
                end FIN
                expect A > B second 0 data_packets 181, quality !clock_step, rtt_min_seconds 0.01
                expect A > B interval_end 1767225600620000001
                """);
    }

    @Test
    void oneWrongStampInTheFutureDoesNotSwallowTheRest() {
        Timeline.check(ELEPHANT + """
                +3600.000 A > B .  +1448  ack @             # at 3600.61 s
                -3599.990 B > A .  0:0(0) ack @             # goes on there
                +0.500    A > B .  +1448  ack @             # 3601.11 s
                end FIN
                expect A > B seconds 0 3600 3601
                expect A > B second 3600 data_packets 1, quality clock_step
                expect A > B second 3601 data_packets 1
                """);
    }
}
