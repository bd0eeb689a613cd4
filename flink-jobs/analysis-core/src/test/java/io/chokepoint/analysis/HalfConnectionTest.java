// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What counts as payload, what its sender knew, and what the tap has not seen. */
class HalfConnectionTest {
    /** Both take a sequence number: 1460 bytes in a second are 11680 bit/s, one more would be 11688. */
    @Test
    void aSynAndAFinAreNoPayload() {
        Timeline.check("""
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.100 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.000 A > B .  0:0(0) ack 1
                +0.100 A > B P. +1000  ack @
                +0.100 B > A .  0:0(0) ack @
                +0.000 A > B P. +460   ack @
                +0.100 B > A .  0:0(0) ack @
                +0.100 A > B F. 0:0(0) ack @
                +0.500 B > A F. 0:0(0) ack @
                end FIN
                expect A > B goodput_bits_per_second 11679..11681, data_packets 2, capture_loss_bytes 0, quality !capture_loss
                """);
    }

    @Test
    void eachIntervalHasItsOwnDelaysAndGaps() {
        Timeline.check(OPENING + """
                repeat 100 {
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                repeat 34 {
                +0.000 A > B .  +2896  ack @
                +0.030 B > A .  0:0(0) ack @
                }
                end CAPTURE_END
                expect A > B second 0 rtt_p50_seconds 0.0095..0.011, b_score 0.9..1.1
                expect A > B second 1 rtt_p50_seconds 0.028..0.031, b_score 2.8..3.2
                expect A > B rtt_p50_seconds 0.0095..0.011, rtt_p99_seconds 0.028..0.031
                """);
    }

    @Test
    void ofAMouseNoDistributionIsKept() {
        Timeline.check(OPENING + """
                repeat 49 {
                +0.000 A > B .  +1448  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                end CAPTURE_END
                expect A > B data_packets 49, rtt_min_seconds 0.01, rtt_p50_seconds null, rtt_p99_seconds null, b_score null
                expect A > B buffer_delay_percent 0, outstanding_max_bytes 1448
                """);
    }

    /** The sender is 20 ms before the tap: an ACK that passed 15 ms ago it cannot have seen, one 25 ms ago it has. */
    @ParameterizedTest(name = "{0} ms after the ACK: {1} bytes in flight")
    @CsvSource({"15, 5792", "25, 2896"})
    void theFlightIsWhatItsSenderKnew(int millis, int bytes) {
        Timeline.check("""
                mss 1448
                +0.000 A > B S  0:0(0)        win 64240 <mss 1460>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460>
                +0.020 A > B .  0:0(0) ack 1
                +0.050 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @
                +0.0%d A > B .  +2896  ack @
                end CAPTURE_END
                expect A > B outstanding_max_bytes %d
                """.formatted(millis, bytes));
    }

    // ---- what the tap has not seen ----

    /** Whether the ACK passes what was seen, or a gap in it: until then nothing is known of the last 100 of 210 ms. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"+1448 ack @, 7241", "4345:5793(1448) ack @, 5793"})
    void theTimeInWhichTheTapMissedDataIsUnknown(String data, int ack) {
        Timeline.check(OPENING + """
                +0.000 A > B .  +2896  ack @
                +0.050 B > A .  0:0(0) ack @ win 509
                +0.050 A > B .  %s
                +0.050 B > A .  0:0(0) ack %d
                +0.050 A > B .  %d:%d(1448) ack @
                end CAPTURE_END
                expect A > B share_unknown 0.45..0.5, quality capture_loss
                """.formatted(data, ack, ack, ack + 1448));
    }

    /** Twice the window of 65152 bytes and 4 MB beyond it are of this connection, at most. */
    @ParameterizedTest(name = "acknowledges {0}: {1}")
    @CsvSource({
        "4391000, capture_loss",
        "4393000, !capture_loss",
        "4393000 4393000, capture_loss", // a second one confirms it
        "4393000 9000000, !capture_loss",
    })
    void aNumberFarBeyondTheWindowIsNotBelievedAtOnce(String acks, String quality) {
        StringBuilder script = new StringBuilder(OPENING + """
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                """);
        for (String ack : acks.split(" ")) {
            script.append("+0.001 B > A .  0:0(0) ack ").append(ack).append('\n');
        }

        Timeline.check(script + """
                end CAPTURE_END
                expect A > B quality %s
                """.formatted(quality));
    }

    /** A segment was overtaken behind the tap. A wait in which SACK told of it is never the application's. */
    @ParameterizedTest(name = "<{0}>: {1}")
    @CsvSource({"'sack 7241:8689', 0", "'nop', 0.89..0.95"})
    void aWaitInWhichASackToldOfALossIsNotTheApplications(String option, String share) {
        Timeline.check(OPENING + """
                repeat 2 {
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack 5793 <%s>
                +0.001 B > A .  0:0(0) ack @
                +0.500 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B share_application %s
                """.formatted(option, share));
    }

    @Test
    void whatWasOnlyOvertakenKeepsNobodyWaiting() {
        Timeline.check(OPENING + """
                repeat 2 {
                +0.000 A > B .  +2896  ack @
                +0.010 B > A .  0:0(0) ack @ win 509
                }
                +0.000 A > B .  7241:8689(1448) ack @ <TS val 500 ecr @>
                +0.001 A > B .  5793:7241(1448) ack @ <TS val 499 ecr @>
                +0.010 B > A .  0:0(0) ack @
                +0.500 A > B .  +1448  ack @
                end CAPTURE_END
                expect A > B reordered_packets 1, share_application 0.89..0.95
                """);
    }

    /** The path takes 10 ms; an ACK of one segment comes after 50, be it the last one outstanding or not. */
    @ParameterizedTest(name = "others outstanding: {0}: {1}")
    @CsvSource({"true, bottleneck", "false, transport"})
    void anAckThatMayHaveBeenDelayedShowsNoQueue(boolean isOutstanding, String cause) {
        Timeline.check(OPENING
                + (isOutstanding ? "+0.000 A > B .  +1448 ack @\n" : "")
                + """
                repeat 150 {
                +0.000 A > B .  +1448  ack @
                +0.050 B > A .  0:0(0) ack @%s win 509
                }
                end CAPTURE_END
                expect A > B root_cause %s
                """.formatted(isOutstanding ? "-1448" : "", cause));
    }
}
