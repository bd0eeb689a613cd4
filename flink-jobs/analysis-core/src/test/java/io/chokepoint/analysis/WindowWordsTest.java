// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What kind of a small window it was, and from how many packets on anything is said of a transfer. */
class WindowWordsTest {
    private static String opening(String options) {
        return """
                mss 1000
                +0.000 A > B S  0:0(0)        win 65535 <mss 1460,sackOK%1$s>
                +0.010 B > A S. 0:0(0) ack 1  win 65535 <mss 1460,sackOK%1$s>
                +0.000 A > B .  0:0(0) ack 1
                """.formatted(options);
    }

    /** Windows in turn, each filled in a round trip of 10 ms. */
    private static String filled(int window, int thenWindow) {
        return """
                +0.000 B > A .  0:0(0) ack @  win %1$d
                repeat 100 {
                +0.000 A > B .  +%1$d ack @
                +0.010 B > A .  0:0(0) ack @  win %2$d
                +0.000 A > B .  +%2$d ack @
                +0.010 B > A .  0:0(0) ack @  win %1$d
                }
                """.formatted(window, thenWindow);
    }

    @ParameterizedTest(name = "{0} bytes, scaling {1}: {2}")
    @CsvSource({
        "60000, '',          window_unscaled",
        "59000, '',          window_clamped",
        "65000, ',wscale 0', window_unscaled",
    })
    void aWindowThatScalingWouldHaveRaisedIsUnscaled(int window, String options, String subCause) {
        Timeline.check(opening(options) + filled(window, window) + """
                expect A > B root_cause receiver_window, sub_cause %s
                """.formatted(subCause));
    }

    /** The mean against the largest. */
    @ParameterizedTest(name = "{0} and {1} bytes in turn: {2}")
    @CsvSource({
        "50000, 50000, window_clamped",
        "50000, 31000, window_clamped",
        "50000, 29000, slow_reader",
    })
    void aWindowThatChangesIsOfASlowReader(int window, int thenWindow, String subCause) {
        Timeline.check(opening(",wscale 0") + filled(window, thenWindow) + """
                expect A > B root_cause receiver_window, sub_cause %s
                """.formatted(subCause));
    }

    /** Two seconds of full windows, and a time in which it was closed. */
    @ParameterizedTest(name = "closed for {0} s: {1}")
    @CsvSource({"0.840, window_clamped", "0.880, zero_window"})
    void aWindowThatIsClosedForThreeTenthsIsZero(String seconds, String subCause) {
        Timeline.check(opening(",wscale 0") + filled(40_000, 40_000) + """
                +0.000 A > B .  +40000 ack @
                +0.010 B > A .  0:0(0) ack @  win 0
                +%s B > A .  0:0(0) ack @  win 40000
                +0.000 A > B .  +1000  ack @
                expect A > B root_cause receiver_window, sub_cause %s, zero_window_seconds %s
                """.formatted(seconds, subCause, seconds));
    }

    @ParameterizedTest(name = "{0} segments: {1}")
    @CsvSource({"129, short_transfer, 0, 129", "130, application, 0.98..1, 99"})
    void from130PacketsOnACauseIsNamed(int segments, String cause, String confidence, int evidence) {
        Timeline.check(opening("") + """
                repeat %d {
                +0.000 A > B P. +1000  ack @
                +0.010 B > A P. +1     ack @
                }
                expect A > B root_cause %s, sub_cause waiting_for_peer, confidence %s, evidence_a %d
                """.formatted(segments, cause, confidence, evidence));
    }

    /** Ten segments in flight, two more every 20 ms: a round trip takes 100 ms, of which 90 in a queue; it shows from 0.4 s on. */
    @ParameterizedTest(name = "{0} ACKs: {1}")
    @CsvSource({"30, short_transfer", "45, bottleneck"})
    void threeRoundTripsInAQueueAreEnoughToNameIt(int acks, String cause) {
        Timeline.check(opening("") + """
                +0.030 B > A .  0:0(0) ack 1
                +0.000 A > B .  +10000 ack @
                repeat %d {
                +0.020 B > A .  0:0(0) ack @-8000
                +0.000 A > B .  +2000  ack @
                }
                expect A > B root_cause %s
                """.formatted(acks, cause));
    }
}
