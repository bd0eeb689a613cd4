// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;

import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What was sent again and why, what came late, and what only the tap has missed. */
class LossTest {
    /** Ten round trips of one segment each: 10 ms, and a retransmission timeout not far above. */
    private static final String ROUND_TRIPS = OPENING + """
            repeat 10 {
            +0.000 A > B P. +1448  ack @
            +0.010 B > A .  0:0(0) ack @ win 509
            }
            """;

    @Test
    void aPureAckAndTheFirstDataShareASequenceNumber() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  0:0(0) ack @
                +0.000 A > B P. +1448  ack @
                end CAPTURE_END
                expect A > B data_packets 11, retransmission_score 0, loss_events 0
                """);
    }

    @Test
    void threeDuplicateAcknowledgmentsMakeItFast() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # five segments; 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481
                +0.000 B > A .  0:0(0) ack 14481
                +0.000 B > A .  0:0(0) ack 14481
                +0.000 A > B .  14481:15929(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 1448, loss_events 1, data_packets 16, data_bytes 23168
                expect A > B retransmission_score 0.0625, goodput_bits_per_second 1..1e9, capture_loss_bytes 0
                """);
    }

    /** The first block tells of bytes that came twice long ago (RFC 2883 §4), the second of what is new. */
    @Test
    void aDuplicateThatASackTellsOfTimesNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.100 A > B .  +2896  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 13033:14481 15929:17377>
                end CAPTURE_END
                expect A > B buffer_delay_percent 0
                """);
    }

    @Test
    void twoDuplicateAcknowledgmentsProveNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481
                +0.000 B > A .  0:0(0) ack 14481
                +0.000 A > B .  14481:15929(1448) ack @     # sooner than a timeout
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_other_bytes 1448, retransmitted_fast_bytes 0, loss_events 1
                """);
    }

    @Test
    void windowUpdatesAreNoDuplicateAcknowledgments() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # all of it gets lost
                +0.001 B > A .  0:0(0) ack 14481 win 480
                +0.001 B > A .  0:0(0) ack 14481 win 490
                +0.001 B > A .  0:0(0) ack 14481 win 500
                +0.300 A > B .  14481:15929(1448) ack @
                end CAPTURE_END
                expect A > B retransmitted_timeout_bytes 1448, retransmitted_fast_bytes 0
                """);
    }

    @Test
    void aSelectiveAcknowledgmentMakesItFast() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 and 17377:18825 get lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.000 B > A .  0:0(0) ack 14481 <sack 18825:20273,nop>
                +0.000 B > A .  0:0(0) ack 14481 <sack 18825:21721 15929:17377>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.001 A > B .  17377:18825(1448) ack @
                +0.009 B > A .  0:0(0) ack 17377 <sack 18825:21721>
                +0.001 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 1448, retransmitted_other_bytes 1448, loss_events 1
                """);
    }

    /** The mean of the ten round trips of 10 ms and what is timed later, in percent above the lowest. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "one segment sent once, 15929:17377, 18.1..18.3", // 30 ms
        "two segments, 15929:18825, 18.1..18.3",
        "three segments, 15929:20273, 0",
        "the last of two, 17377:18825, 18.1..18.3",
        "no end of a segment, 15929:17000, 0",
    })
    void aSelectiveAcknowledgmentTimesWhatItBringsIfItIsLittle(String name, String block, String percent) {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.030 B > A .  0:0(0) ack 14481 <sack %s>
                end CAPTURE_END
                expect A > B buffer_delay_percent %s
                """.formatted(block, percent));
    }

    @Test
    void aSelectiveAcknowledgmentOfNothingNewTimesNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +2896  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.020 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                end CAPTURE_END
                expect A > B buffer_delay_percent 0
                """);
    }

    @Test
    void duringARepairASelectiveAcknowledgmentTimesWhatWasSentOnce() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +2896  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.000 A > B .  14481:15929(1448) ack @     # so does this
                +0.000 A > B .  +1448  ack @
                +0.034 B > A .  0:0(0) ack 14481 <sack 15929:18825>
                end CAPTURE_END
                expect A > B buffer_delay_percent 19.9..20.1 # 34 ms, in the mean of twelve
                """);
    }

    @Test
    void aSelectiveAcknowledgmentOfWhatWasSentAgainTimesNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +4344  ack @                # 14481:15929 and 17377:18825 get lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.000 A > B .  14481:15929(1448) ack @     # lost again
                +0.000 A > B .  17377:18825(1448) ack @
                +0.030 B > A .  0:0(0) ack 14481 <sack 15929:18825>
                end CAPTURE_END
                expect A > B buffer_delay_percent 0
                """);
    }

    /** Slow start makes a queue that drains in each round; in its last it loses a segment. Of 10 ms an eighth is 1.25. */
    @ParameterizedTest(name = "{0} ms when it was lost")
    @CsvSource({"11, 0, 0.9..1", "12, 0.37..0.38, 0.62..0.63", "30, 0.39..0.4, 0.6..0.61"})
    void theRepairOfWhatALongQueueLostIsThePaths(int millis, String shareOfPath, String shareOfTransport) {
        Timeline.check(OPENING + """
                repeat 30 {
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                +0.000 A > B .  +5792  ack @
                +0.010 B > A .  0:0(0) ack @-2896
                +0.000 B > A .  0:0(0) ack @
                +0.000 A > B .  +11584 ack @
                +0.010 B > A .  0:0(0) ack @-8688
                +0.000 B > A .  0:0(0) ack @-5792
                +0.000 B > A .  0:0(0) ack @-2896
                +0.000 B > A .  0:0(0) ack @
                +0.000 A > B .  +23168 ack @                # of 104257:127425 the third gets lost
                +0.0%d B > A .  0:0(0) ack 107153
                +0.000 B > A .  0:0(0) ack 107153 <sack 108601:111497>
                +0.000 A > B .  107153:108601(1448) ack @
                +0.190 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @
                +0.000 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B loss_events 1, share_shared_bottleneck %s, share_transport %s
                """.formatted(millis, shareOfPath, shareOfTransport));
    }

    @Test
    void silenceMakesItATimeout() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +4344  ack @                # all three get lost
                +0.250 A > B .  14481:15929(1448) ack @
                +0.010 B > A .  0:0(0) ack 15929
                +0.000 A > B .  15929:17377(1448) ack @     # so were these
                +0.000 A > B .  17377:18825(1448) ack @     # in its repair the last one is no probe
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_timeout_bytes 2896, retransmitted_other_bytes 1448
                expect A > B retransmitted_tail_probe_bytes 0, loss_events 1
                """);
    }

    @Test
    void theLastSegmentSentAgainIsATailProbe() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +4344  ack @                # the last one gets lost
                +0.010 B > A .  0:0(0) ack 17377
                +0.020 A > B .  17377:18825(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_tail_probe_bytes 1448, loss_events 1
                """);
    }

    @Test
    void whatIsAcknowledgedNeedsNoSecondCopy() {
        Timeline.check(ROUND_TRIPS + """
                +0.050 A > B .  13033:14481(1448) ack @
                end CAPTURE_END
                expect A > B retransmitted_spurious_bytes 1448, loss_events 0
                """);
    }

    @Test
    void aDuplicateReportShowsThatTheSecondCopyWasNotNeeded() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 comes late
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:18825>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.001 B > A .  0:0(0) ack @
                +0.009 B > A .  0:0(0) ack @ <sack 14481:15929>
                end CAPTURE_END
                expect A > B retransmitted_spurious_bytes 1448, retransmitted_fast_bytes 0
                """);
    }

    @Test
    void aDuplicateReportMayComeAboveTheAcknowledgment() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:18825>
                +0.000 A > B .  17377:18825(1448) ack @
                +0.010 B > A .  0:0(0) ack 14481 <sack 17377:18825 15929:21721>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_spurious_bytes 1448, retransmitted_fast_bytes 1448
                """);
    }

    @Test
    void whatWasLostBeforeTheTapIsSentAgainWithANewerTimestamp() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  15929:20273(4344) ack @     # 14481:15929 got lost before the tap
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:20273>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 1448, reordered_packets 0, capture_loss_bytes 0, loss_events 1
                """);
    }

    @Test
    void whatComesLateWithAnOlderTimestampWasOvertaken() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  15929:20273(4344) ack @     <TS val 500 ecr @>
                +0.020 A > B .  14481:15929(1448) ack @     <TS val 499 ecr @>
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B reordered_packets 1, retransmission_score 0, loss_events 0, capture_loss_bytes 0
                """);
    }

    @Test
    void withinOneTickTheIpIdTells() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  15929:17377(1448) ack @     <TS val 500 ecr @> id 301
                +0.000 A > B .  14481:15929(1448) ack @     <TS val 500 ecr @> id 300
                +0.000 A > B .  18825:20273(1448) ack @     <TS val 500 ecr @> id 302
                +0.000 A > B .  17377:18825(1448) ack @     <TS val 500 ecr @> id 303
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B reordered_packets 1, retransmitted_other_bytes 1448, loss_events 1
                """);
    }

    @Test
    void withoutTimestampAndIpIdTheAgeTells() {
        Timeline.check("""
                flow A [2001:db8::1]:40000 B [2001:db8::2]:443
                mss 1440
                +0.000 A > B S  0:0(0)        win 64240 <mss 1440,sackOK,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1440,sackOK,wscale 7>
                +0.000 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B .  1441:2881(1440) ack @
                +0.004 A > B .  1:1441(1440)    ack @         # younger than half a round trip
                +0.010 B > A .  0:0(0) ack @
                +0.000 A > B .  4321:5761(1440) ack @
                +0.006 A > B .  2881:4321(1440) ack @         # older
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B reordered_packets 1, retransmission_score 0.25, quality no_timestamps
                """);
    }

    @Test
    void whatIsAcknowledgedUnseenWasMissedByTheTap() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +1448  ack @
                +0.000 A > B .  17377:20273(2896) ack @     # 15929:17377 passed unseen
                +0.010 B > A .  0:0(0) ack 20273
                +0.010 B > A .  0:0(0) ack 23169            # and 20273:23169
                end CAPTURE_END
                expect A > B capture_loss_bytes 4344, retransmission_score 0, loss_events 0, quality capture_loss !hole
                """);
    }

    @Test
    void anAcknowledgmentOfAnotherConnectionIsNotBelieved() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +1448  ack @
                +0.000 B > A .  0:0(0) ack 1000000000
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B capture_loss_bytes 0, quality !capture_loss, data_packets 11
                """);
    }

    @Test
    void aKeepAliveCarriesNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.100 A > B .  14480:14480(0) ack @
                +0.000 B > A .  0:0(0) ack @
                +0.100 A > B .  14480:14481(1) ack @
                +0.000 B > A .  0:0(0) ack @ <sack 14480:14481>
                end CAPTURE_END
                expect A > B data_packets 10, data_bytes 14480, retransmission_score 0, loss_events 0
                """);
    }

    @Test
    void congestionThatARouterMarksIsCounted() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +1448  ack @ tc 3
                +0.000 A > B .  +1448  ack @ tc 1
                +0.000 A > B .  0:0(0) ack @ tc 3
                end CAPTURE_END
                expect A > B ecn_ce_packets 1, data_packets 12
                """);
    }

    @Test
    void whatWasSentDuringARepairAndGotLostIsANewLoss() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:21721>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.000 A > B .  +2896  ack @                # 21721:23169 does
                +0.010 B > A .  0:0(0) ack 14481 <sack 23169:24617 15929:21721>
                +0.000 A > B .  21721:23169(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 2896, retransmitted_other_bytes 0, loss_events 2
                """);
    }

    @Test
    void theSecondSegmentOfALossIsOfTheSameRepair() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 and 17377:18825 get lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377 18825:21721>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.010 B > A .  0:0(0) ack 17377 <sack 18825:21721>
                +0.000 A > B .  17377:18825(1448) ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 2896, retransmitted_other_bytes 0, loss_events 1
                """);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"15929:17377", "17377:18825", "20273:21721"})
    void aDuplicateReportLiesWithinTheBlockBehindIt(String duplicate) {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:21721>
                +0.000 A > B .  %1$s(1448) ack @
                +0.010 B > A .  0:0(0) ack 14481 <sack %1$s 15929:21721>
                end CAPTURE_END
                expect A > B retransmitted_spurious_bytes 1448, retransmitted_fast_bytes 0, retransmitted_other_bytes 0
                """.formatted(duplicate));
    }

    @Test
    void aFirstBlockBesideTheSecondReportsNoDuplicate() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 and 17377:18825 get lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.000 A > B .  14481:15929(1448) ack @
                +0.001 B > A .  0:0(0) ack 14481 <sack 18825:20273 15929:17377>
                end CAPTURE_END
                expect A > B retransmitted_spurious_bytes 0, retransmitted_fast_bytes 1448
                """);
    }

    /** The network doubled 17377:18825; its second copy says nothing of how long the first one took. */
    @Test
    void aDuplicateReportAmongTheHeldTimesNothing() {
        Timeline.check(ROUND_TRIPS + """
                +0.000 A > B .  +7240  ack @                # 14481:15929 gets lost
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:18825>
                +0.020 B > A .  0:0(0) ack 14481 <sack 17377:18825 15929:20273>
                end CAPTURE_END
                expect A > B buffer_delay_percent 0
                """);
    }

    @Test
    void whatWasRepairedInAHoleOfTheRunsTheTapDidNotMiss() {
        PacketScript script = PacketScript.parse(ROUND_TRIPS + """
                +0.000 A > B .  15929:17377(1448) ack @     # 14481:15929 got lost before the tap
                +0.010 B > A .  0:0(0) ack 14481 <sack 15929:17377>
                +0.000 A > B .  14481:15929(1448) ack @     # in the run that is missing
                +0.010 B > A .  0:0(0) ack 17377
                +0.000 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B data_packets 12, capture_loss_bytes 0, quality hole !capture_loss
                """);
        List<RunSpec> runs = new ArrayList<>(script.runs(new RunCutter(1, true, false)));
        runs.remove(3 + 20 + 2);

        Timeline.check(script, Tap.rowsOf(runs));
    }
}
