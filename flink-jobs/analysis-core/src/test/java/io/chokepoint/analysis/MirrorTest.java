// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static io.chokepoint.analysis.Timeline.OPENING;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frames that a mirror port shows twice, and what only looks like them. */
class MirrorTest {
    private static final String OPENING_V6 = """
            flow A [2001:db8::1]:40000 B [2001:db8::2]:443
            mss 1440
            +0.000 A > B S  0:0(0)        win 64240 <mss 1440,wscale 7>
            +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1440,wscale 7>
            +0.000 A > B .  0:0(0) ack 1  win 502
            repeat 3 {
            +0.000 A > B .  +1440  ack @
            +0.010 B > A .  0:0(0) ack @  win 509
            }
            """; // up to 4321

    @Test
    void copiesBehindEachOther() {
        Timeline.check(OPENING + """
                +0.000000 A > B .  1:1449(1448)    ack 1 win 502 id 7
                +0.000002 A > B .  1:1449(1448)    ack 1 win 502 id 7 ttl 63
                +0.000002 A > B .  1449:2897(1448) ack 1 win 502 id 8 ttl 64
                +0.000002 A > B .  1449:2897(1448) ack 1 win 502 id 8 ttl 63
                +0.010    B > A .  0:0(0) ack 2897 win 509 id 5
                +0.000002 B > A .  0:0(0) ack 2897 win 509 id 5
                end CAPTURE_END
                expect A > B data_packets 2, duplicate_packets 2, retransmission_score 0, quality duplicated
                """);
    }

    /** The tap is to blame, whichever direction it shows in. */
    @Test
    void copiesOfOneDirectionMarkBoth() {
        Timeline.check(OPENING + """
                +0.000000 A > B .  1:1449(1448)    ack 1 win 502 id 7
                +0.000002 A > B .  1:1449(1448)    ack 1 win 502 id 7
                +0.010    B > A P. +100 ack 1449 win 509 id 5
                end CAPTURE_END
                expect A > B duplicate_packets 1, quality duplicated
                expect B > A duplicate_packets 0, quality duplicated
                """);
    }

    @Test
    void copiesSomeFramesLate() {
        Timeline.check(OPENING + """
                +0.000000 A > B .  1:1449(1448)    ack 1 win 502 id 7
                +0.000000 A > B .  1449:2897(1448) ack 1 win 502 id 8
                +0.000100 A > B .  1:1449(1448)    ack 1 win 502 id 7
                +0.000000 A > B .  1449:2897(1448) ack 1 win 502 id 8
                +0.010    B > A .  0:0(0) ack 2897 win 509 id 5
                end CAPTURE_END
                expect A > B data_packets 2, duplicate_packets 2, retransmission_score 0
                """);
    }

    @Test
    void aCopiedHandshakeIsOneHandshake() {
        Timeline.check("""
                +0.000    A > B S  0:0(0)        win 64240 <mss 1460,wscale 7> id 0
                +0.000001 A > B S  0:0(0)        win 64240 <mss 1460,wscale 7> id 0
                +0.010    B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 7> id 0
                +0.000001 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 7> id 0
                +0.001    A > B .  0:0(0) ack 1  win 502 id 1
                +0.000001 A > B .  0:0(0) ack 1  win 502 id 1
                +0.000    A > B P. +100   ack 1
                end CAPTURE_END
                expect A > B duplicate_packets 2, rtt_min_seconds 0.011002, data_packets 1
                """);
    }

    @Test
    void withoutIpIdDataComeAgainSoonerThanTheSenderCould() {
        Timeline.check(OPENING_V6 + """
                +0.000    A > B .  4321:5761(1440) ack 1
                +0.000004 A > B .  4321:5761(1440) ack 1
                +0.010    B > A .  0:0(0) ack 5761 win 509
                end CAPTURE_END
                expect A > B data_packets 4, duplicate_packets 1, retransmission_score 0
                """);
    }

    @Test
    void equalAcknowledgmentsWithoutIpIdAreDuplicateAcknowledgments() {
        Timeline.check(OPENING_V6 + """
                +0.000    A > B .  +7200 ack 1              # 4321:5761 gets lost
                +0.010    B > A .  0:0(0) ack 4321 win 509
                +0.000002 B > A .  0:0(0) ack 4321 win 509
                +0.000002 B > A .  0:0(0) ack 4321 win 509
                +0.000002 B > A .  0:0(0) ack 4321 win 509
                +0.000    A > B .  4321:5761(1440) ack 1
                +0.010    B > A .  0:0(0) ack @ win 509
                end CAPTURE_END
                expect A > B retransmitted_fast_bytes 1440, duplicate_packets 0
                expect A > B quality !duplicated
                """);
    }

    @Test
    void onceDataWereCopiedEqualAcknowledgmentsAreCopies() {
        Timeline.check(OPENING_V6 + """
                +0.000    A > B .  4321:5761(1440) ack 1
                +0.000002 A > B .  4321:5761(1440) ack 1
                +0.010    B > A .  0:0(0) ack 5761 win 509
                +0.000002 B > A .  0:0(0) ack 5761 win 509
                +0.000    B > A .  +100   ack 5761 win 509
                end CAPTURE_END
                expect A > B duplicate_packets 1
                expect B > A duplicate_packets 1, data_packets 1
                """);
    }

    @Test
    void whatTheSenderSendsAgainIsNoCopy() {
        Timeline.check(OPENING + """
                +0.000 A > B .  1:1449(1448) ack 1 win 502 <TS val 100 ecr 100> id 7
                +0.005 A > B .  1:1449(1448) ack 1 win 502 <TS val 100 ecr 100> id 7
                +0.000 A > B .  1:1449(1448) ack 1 win 502 <TS val 100 ecr 100> id 8
                +0.000 A > B .  1:1449(1448) ack 1 win 502 <TS val 101 ecr 100> id 8
                +0.010 B > A .  0:0(0) ack 1449 win 509
                end CAPTURE_END
                expect A > B data_packets 4, duplicate_packets 0, retransmission_score 0.75
                """);
    }

    @Test
    void aSynIsSentAgainAfterASecond() {
        Timeline.check("""
                flow A [2001:db8::1]:40000 B [2001:db8::2]:443
                +0.000 A > B S  0:0(0)        win 64240 <mss 1440,wscale 7>
                +1.000 A > B S  0:0(0)        win 64240 <mss 1440,wscale 7>
                +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1440,wscale 7>
                +0.010 A > B .  0:0(0) ack 1  win 502
                +0.000 A > B P. +100   ack 1
                end CAPTURE_END
                expect A > B duplicate_packets 0, quality !duplicated, rtt_min_seconds null
                """);
    }

    /** Equal ACKs are copies while data come twice: until sixteen packets of data have come once. */
    @ParameterizedTest(name = "{0} segments later: {1} copies")
    @CsvSource({"16, 2", "17, 1"})
    void aMirrorThatHasStoppedCopiesNoAcknowledgments(int segments, int copies) {
        Timeline.check(OPENING_V6 + """
                +0.000    A > B .  4321:5761(1440) ack 1
                +0.000002 A > B .  4321:5761(1440) ack 1
                +0.010    B > A .  0:0(0) ack 5761 win 509
                +0.000002 B > A .  0:0(0) ack 5761 win 509
                repeat %d {
                +0.001    A > B .  +1440 ack 1 win 502
                }
                +0.010    B > A .  0:0(0) ack @ win 509
                +0.000002 B > A .  0:0(0) ack @ win 509
                +0.000    B > A P. +1    ack @
                end CAPTURE_END
                expect B > A duplicate_packets %d
                """.formatted(segments, copies));
    }

    /** Data cannot be sent again within half of a round trip of 10 ms; 1 ms is the most in any case. */
    @ParameterizedTest(name = "again after {0} us: {1} copies")
    @CsvSource({"999, 1", "1000, 0"})
    void aCopyComesWithinAMillisecond(int micros, int copies) {
        Timeline.check(OPENING_V6 + """
                +0.000    A > B .  4321:5761(1440) ack 1
                +0.%06d A > B .  4321:5761(1440) ack 1
                end CAPTURE_END
                expect A > B duplicate_packets %d
                """.formatted(micros, copies));
    }

    @ParameterizedTest(name = "again after {0} us: {1} copies")
    @CsvSource({"99, 1", "100, 0"})
    void acrossAShortPathACopyComesSoonerThanARoundTrip(int micros, int copies) {
        Timeline.check("""
                flow A [2001:db8::1]:40000 B [2001:db8::2]:443
                mss 1440
                +0.000    A > B S  0:0(0)        win 64240 <mss 1440,wscale 7>
                +0.000200 B > A S. 0:0(0) ack 1  win 65160 <mss 1440,wscale 7>
                +0.000    A > B .  0:0(0) ack 1  win 502
                +0.000    A > B .  1:1441(1440) ack 1
                +0.%06d A > B .  1:1441(1440) ack 1
                end CAPTURE_END
                expect A > B duplicate_packets %d
                """.formatted(micros, copies));
    }

    /** All but the TTL tells two packets apart, however soon they follow each other. */
    @ParameterizedTest(name = "{0} and {1}")
    @CsvSource({
        "1:1449(1448) ack 1 win 502 id 7, 1:1449(1448) ack 1 win 503 id 7",
        "1:1449(1448) ack 1 win 502 id 7, 1:1449(1448) ack 1 win 502 id 8",
        "1:1449(1448) ack 1 win 502 id 7, 1:1448(1447) ack 1 win 502 id 7",
        "1:1449(1448) ack 1 win 502 id 7, 2:1450(1448) ack 1 win 502 id 7",
        "1:1449(1448) ack 1 win 502 id 7, 1:1449(1448) ack 0 win 502 id 7",
        "'1:1449(1448) ack 1 win 502 <TS val 100 ecr 1> id 7', '1:1449(1448) ack 1 win 502 <TS val 101 ecr 1> id 7'",
    })
    void packetsThatDifferAreNoCopies(String one, String other) {
        Timeline.check(OPENING + """
                +0.000000 A > B .  %s
                +0.000002 A > B .  %s
                end CAPTURE_END
                expect A > B data_packets 2, duplicate_packets 0
                """.formatted(one, other));
    }

    @ParameterizedTest(name = "{0} and {1}")
    @CsvSource({
        "<sack 1449:2897>, <sack 1449:4345>",
        "<sack 1449:2897>, <sack 2897:4345>",
        "<sack 1449:2897>, <sack 1449:2897 4345:5793>",
    })
    void acknowledgmentsOfOtherBlocksAreNoCopies(String one, String other) {
        Timeline.check(OPENING + """
                +0.000000 A > B .  1:1449(1448) ack 1 win 502 id 7
                +0.000000 A > B .  1:1449(1448) ack 1 win 502 id 7
                +0.000000 A > B .  1449:8689(7240) ack 1 win 502
                +0.010000 B > A .  0:0(0) ack 1 win 509 %s id 5
                +0.000002 B > A .  0:0(0) ack 1 win 509 %s id 5
                +0.000000 B > A P. +1     ack 1 win 509 id 6
                end CAPTURE_END
                expect B > A data_packets 1, duplicate_packets 0
                """.formatted(one, other));
    }
}
