// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A link of 10 Mbit/s behind the tap, 40 ms long: a full segment of 1514 bytes takes it 1.2112 ms, so ACKs of two come 2.4224 ms
 * apart.
 */
class KnownLinkTest {
    private static final String OPENING = """
            timestamps
            mss 1448
            +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
            +0.040 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 9>
            +0.000 A > B .  0:0(0) ack 1  win 502
            """;

    /** Four segments a round trip of 42.4224 ms, which is 1.142 Mbit/s: D = 0.886. */
    private static final String FOUR_A_ROUND = """
            repeat 100 {
            +0.000000  A > B .  +5792  ack @
            +0.040000  B > A .  0:0(0) ack @-2896 win 509
            +0.0024224 B > A .  0:0(0) ack @
            }
            """;

    /** Forty segments are in flight, of which 33 fill the path: the other seven queue. */
    private static final String FORTY_IN_FLIGHT = OPENING + """
            +0.000     A > B .  +57920 ack @
            +0.0375776 B > A .  0:0(0) ack 1 win 2000
            """;

    private static final String TWO_PASS = """
            +0.0024224 B > A .  0:0(0) ack @-55024
            +0.000     A > B .  +2896  ack @
            """;

    private static final String FOUR_OF_OTHERS_AND_TWO_PASS = """
            +0.0072672 B > A .  0:0(0) ack @-55024
            +0.000     A > B .  +2896  ack @
            """;

    /** Rounds of four segments in which a number of them comes to grief. */
    private static String rounds(String... rounds) {
        StringBuilder script = new StringBuilder(OPENING + FOUR_A_ROUND);
        long first = 100 * 5792 + 1;
        for (String round : rounds) {
            script.append(round.replace("FIRST", "" + first)
                    .replace("SECOND", "" + (first + 1448))
                    .replace("THIRD", "" + (first + 2896))
                    .replace("END", "" + (first + 5792)));
            first += 5792;
        }
        return script.append("end CAPTURE_END\n").toString();
    }

    /** The first of four gets lost; the second comes behind a queue of so many ms. */
    private static String loss(String queueMillis) {
        return """
                +0.000000 A > B .  +5792  ack @
                +0.0%s B > A .  0:0(0) ack FIRST <sack SECOND:THIRD>
                +0.000000 B > A .  0:0(0) ack FIRST <sack SECOND:END>
                +0.000000 A > B .  FIRST:SECOND(1448) ack @
                +0.040000 B > A .  0:0(0) ack @
                """.formatted(queueMillis);
    }

    private static final String NO_LOSS = """
            +0.000000  A > B .  +5792  ack @
            +0.040000  B > A .  0:0(0) ack @-2896
            +0.0024224 B > A .  0:0(0) ack @
            """;

    @Test
    void whatATransportLeavesOfTheLinkIsCounted() {
        Timeline.check(OPENING + FOUR_A_ROUND + """
                end CAPTURE_END
                expect A > B capacity_kind proven, capacity_bits_per_second 9990000..10010000, capacity_confidence 1
                expect A > B root_cause transport, sub_cause congestion_avoidance, share_transport 0.99..1, confidence 0.98..1
                expect A > B dispersion_score 0.88..0.89, retransmission_score 0, receiver_window_score 0, rca_cause transport
                expect A > B attainable_bits_per_second 9990000..10010000, lost_bytes 4530000..4550000
                expect A > B rtt_min_seconds 0.04, rtt_p50_seconds 0.0412..0.0413, rtt_p99_seconds 0.0412..0.0413
                expect A > B buffer_delay_percent 3, rto_seconds 0.046..0.047, path_position 0
                expect A > B bottleneck_side null, queue_bytes_at_loss null
                expect A > B b_score 1..1.07                # of a window of 44 the longest gap: 42.4 ms
                expect A > B quality !capacity_unknown !coarse_clock !no_timestamps !offload !capture_loss !duplicated
                expect A > B quality !syn_missed !one_direction !window_scale_unknown !hole !bad_options
                """);
    }

    /** Four segments fill it; what the path holds is 10 Mbit/s for 41 ms, so 51 KB. */
    @Test
    void aWindowIsAdvisedThatHoldsTwiceThePath() {
        Timeline.check(OPENING + FOUR_A_ROUND.replace("win 509", "win 12") + """
                end CAPTURE_END
                expect A > B root_cause receiver_window, sub_cause window_clamped, receiver_window_score 0.85..1
                expect A > B advice_a 102..104, attainable_bits_per_second 9990000..10010000, rca_cause receiver_window
                expect A > B burstiness_score 0.8..1, evidence_a 85..90, evidence_b 6..10, evidence_c 40000
                """);
    }

    private static final String TEN_SHORT_ONES = """
            repeat 10 {
            +1.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            +0.000 A > B . +2896 ack @
            +0.040 B > A . 0:0(0) ack @
            }
            """;

    /** The rate of a life is that of its bulk transfers, not of the ten short ones, which are half as fast. */
    @Test
    void shortTransfersAreNotPartOfTheDispersion() {
        Timeline.check(OPENING + FOUR_A_ROUND + TEN_SHORT_ONES + """
                end CAPTURE_END
                expect A > B dispersion_score 0.88..0.89, share_application 0.59..0.61, sub_cause idle
                """);
    }

    @Test
    void ofADownloadNeither() {
        String download = (FOUR_A_ROUND + TEN_SHORT_ONES)
                .replace("A > B", "sender")
                .replace("B > A", "A > B")
                .replace("sender", "B > A");

        Timeline.check("""
                timestamps
                mss 1448
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 9>
                +0.000 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 7>
                +0.040 A > B .  0:0(0) ack 1  win 502
                """ + download + """
                end CAPTURE_END
                expect B > A dispersion_score 0.88..0.89, sub_cause idle
                """);
    }

    /** Unless they are most of it: 5 s at a third of the rate, against 4.2 s. */
    @Test
    void ofManyShortTransfersAllAreTheDispersion() {
        Timeline.check(OPENING + FOUR_A_ROUND + """
                repeat 125 {
                +1.000 A > B . +1448 ack @
                +0.040 B > A . 0:0(0) ack @
                +0.000 A > B . +1448 ack @
                +0.040 B > A . 0:0(0) ack @
                }
                end CAPTURE_END
                expect A > B dispersion_score 0.91..0.92
                """);
    }

    @Test
    void whoDeliversTheCapacityIsAlone() {
        Timeline.check(FORTY_IN_FLIGHT + "repeat 1000 {\n" + TWO_PASS + "}\n" + """
                end CAPTURE_END
                expect A > B root_cause unshared_bottleneck, sub_cause null, share_unshared_bottleneck 0.94..0.96
                expect A > B share_shared_bottleneck 0, dispersion_score -0.01..0.01, rca_cause unshared_bottleneck
                expect A > B bottleneck_side after_tap, attainable_bits_per_second null, lost_bytes null
                expect A > B advice_a 9990..10010, evidence_a 95, evidence_b 100
                """);
    }

    /** Of six packets four are of others, in gaps that show it. The queue is 88 ms long. */
    @Test
    void whoDeliversHalfOfTheCapacityFromAQueueIsNot() {
        Timeline.check(FORTY_IN_FLIGHT + "repeat 500 {\n" + TWO_PASS + FOUR_OF_OTHERS_AND_TWO_PASS + "}\n" + """
                end CAPTURE_END
                expect A > B root_cause shared_bottleneck, sub_cause deep_buffer, share_shared_bottleneck 0.96..0.97
                expect A > B share_unshared_bottleneck 0, dispersion_score 0.49..0.5, capacity_bits_per_second 9990000..10010000
                expect A > B evidence_b 55000..58000, advice_a 55..58, bottleneck_side after_tap
                """);
    }

    /** Every other ACK carries data, so that no two can be compared: the rate is known, the capacity is not. */
    private static String withoutCapacity(int segments, int thenSegments) {
        String round = """
                +0.000 A > B .  +%1$d   ack @
                +0.060 B > A .  0:0(0)  ack @-%1$d
                +0.000 B > A P. +100    ack @-2896
                """;
        return OPENING + "+0.000 A > B . +2896 ack @\nrepeat 20 {\n"
                + round.formatted(segments * 1448).repeat(3)
                + round.formatted(thenSegments * 1448).repeat(3)
                + "}\nend CAPTURE_END\n";
    }

    @Test
    void aRateThatWasExceededInTheQueueProvesOthers() {
        Timeline.check(withoutCapacity(20, 10) + """
                expect A > B capacity_kind lower_bound, root_cause shared_bottleneck, share_shared_bottleneck 0.97..0.98
                expect A > B dispersion_score null, rca_cause null, capacity_confidence null, burstiness_score null
                expect A > B confidence 0.77..0.78, quality capacity_unknown
                """);
    }

    @Test
    void aSteadyRateInAQueueProvesNothing() {
        Timeline.check(withoutCapacity(20, 20) + """
                expect A > B capacity_kind lower_bound, root_cause bottleneck, sub_cause sharing_undecided
                expect A > B share_unshared_bottleneck 0.48..0.49, share_shared_bottleneck 0.48..0.49
                """);
    }

    // ---- losses ----

    /** Eight packet times are 9.69 ms; losses below count as random. */
    @ParameterizedTest(name = "behind {0}: {1}")
    @CsvSource({
        "40000, random_loss,          null", //
        "49600, random_loss,          null",
        "49800, congestion_avoidance, 12200..12300",
        "80000, congestion_avoidance, 49900..50100",
    })
    void aLossIsRandomIfTheQueueWasShort(String delay, String subCause, String queueBytes) {
        Timeline.check(rounds(loss(delay), NO_LOSS, NO_LOSS, loss(delay), NO_LOSS, NO_LOSS)
                + """
                expect A > B loss_events 2, retransmitted_fast_bytes 2896, root_cause transport
                expect A > B sub_cause %s, queue_bytes_at_loss %s
                """.formatted(subCause, queueBytes));
    }

    @Test
    void halfOfTheLossesAreNotMost() {
        Timeline.check(rounds(loss("40000"), NO_LOSS, loss("80000"), NO_LOSS) + """
                expect A > B loss_events 2, sub_cause congestion_avoidance
                """);
    }

    /** Of 4.38 s the last 45 ms: the queue that lost a segment had stood for no round. */
    @ParameterizedTest(name = "behind {0}: {1}")
    @CsvSource({"49600, 0", "49800, 0.010..0.0103"})
    void theRepairOfWhatAQueueLostIsThePaths(String delay, String share) {
        Timeline.check(rounds(loss(delay), NO_LOSS) + """
                expect A > B share_shared_bottleneck %s
                """.formatted(share));
    }

    /** What SACK tells of is delivered then, and not once more when the cumulative number passes it. */
    @Test
    void whatWasHeldIsDeliveredOnce() {
        String[] rounds = new String[100];
        Arrays.setAll(rounds, i -> i % 2 == 0 ? loss("40000") : NO_LOSS);

        Timeline.check(rounds(rounds) + """
                expect A > B loss_events 50, data_packets 850
                expect A > B second 7 dispersion_score 0.915..0.925 # eight segments in 122 ms
                """);
    }

    /** Two of a round change places: the later one bears the older IP-ID. */
    private static final String OVERTAKEN = """
            +0.000000  A > B .  SECOND:END(4344)   ack @ id 2000
            +0.000000  A > B .  FIRST:SECOND(1448) ack @ id 1000
            +0.040000  B > A .  0:0(0) ack @-2896
            +0.0024224 B > A .  0:0(0) ack @
            """;

    /** One in a hundred of some 440 packets. */
    @ParameterizedTest(name = "{0} overtaken, {1} lost: {2}")
    @CsvSource({
        "4, 1, random_loss", //
        "5, 1, reordering",
        "5, 0, congestion_avoidance",
    })
    void moreThanOneInAHundredOvertakenIsReordering(int overtaken, int lost, String subCause) {
        String[] rounds = new String[overtaken + lost + 1];
        Arrays.setAll(rounds, i -> i < overtaken ? OVERTAKEN : i < overtaken + lost ? loss("40000") : NO_LOSS);

        Timeline.check(rounds(rounds) + """
                expect A > B reordered_packets %d, loss_events %d, root_cause transport, sub_cause %s
                """.formatted(overtaken, lost, subCause));
    }

    /** So many segments in flight leave the queue so many less 33, of 1.2 ms each. */
    @ParameterizedTest(name = "{0} in flight: {1}")
    @CsvSource({"64, null", "70, deep_buffer"})
    void aQueueLongerThanThePathIsDeep(int inFlight, String subCause) {
        Timeline.check(OPENING + """
                +0.000     A > B .  +%1$d ack @
                +0.0375776 B > A .  0:0(0) ack 1 win 2000
                repeat 1000 {
                +0.0024224 B > A .  0:0(0) ack @-%2$d
                +0.000     A > B .  +2896  ack @
                }
                end CAPTURE_END
                expect A > B root_cause unshared_bottleneck, sub_cause %3$s
                """.formatted(inFlight * 1448, (inFlight - 2) * 1448, subCause));
    }

    /** A tap that saw no SYN: shares of windows stand on a bound. */
    @Test
    void withoutHandshakeAVerdictIsLessSure() {
        Timeline.check("""
                timestamps
                mss 1448
                +0.000     B > A .  0:0(0) ack 1 win 2000
                """ + FOUR_A_ROUND + """
                end CAPTURE_END
                expect A > B root_cause receiver_window, confidence 0.7..0.8, quality window_scale_unknown syn_missed
                """);
    }

    @Test
    void halfAndHalfIsMixed() {
        Timeline.check(OPENING + FOUR_A_ROUND + """
                +4.200 A > B .  +5792  ack @
                end CAPTURE_END
                expect A > B root_cause mixed, sub_cause null, confidence 0.5, share_transport 0.45..0.55
                expect A > B evidence_a 50, evidence_b 50, evidence_c 0, attainable_bits_per_second null, advice_a 0
                """);
    }

    /** Data one packet time apart, before the tap and without timestamps: a timer might send as evenly. */
    @Test
    void whatOnlyEvennessProvesIsLessSure() {
        Timeline.check("""
                mss 1460
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460,sackOK,wscale 7>
                +0.001 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,sackOK,wscale 9>
                +0.039 A > B .  0:0(0) ack 1  win 502
                repeat 30 {
                +0.0012112 A > B .  +1460  ack @
                }
                repeat 1500 {
                +0.0002112 B > A .  0:0(0) ack @-56940
                +0.0010000 A > B .  +1460  ack @
                }
                end CAPTURE_END
                expect A > B root_cause unshared_bottleneck, confidence 0.7..0.79
                expect A > B quality no_timestamps !capacity_unknown
                """);
    }
}
