// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.Restored;
import io.chokepoint.analysis.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReceiverWindowTest {
    private final ReceiverWindow window = new ReceiverWindow();

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "not agreed means unscaled,             0,  500,   500",
        "agreed is shifted,                     7,  500,   64000",
        "the largest shift,                     14, 65535, 1073725440",
        "a larger one is the largest,           15, 1,     16384",
        "the largest on the wire,               255, 1,    16384",
    })
    void windowsAreShiftedAsAgreed(String name, int shift, int field, long expected) {
        window.agreeShift(shift);

        window.onAck(ack(field), 1_000, 0);

        assertThat(window.bytes()).as(name).isEqualTo(expected);
        assertThat(window.rightEdge()).as(name).isEqualTo(1_000 + expected);
        assertThat(window.isScaleUnknown()).isFalse();
        assertThat(window.isUnscaled()).isEqualTo(shift == 0);
    }

    @Test
    void theWindowOfASynIsNotShifted() {
        window.agreeShift(7);
        Packet syn = ack(65_535);
        syn.flags |= Packet.SYN;

        window.onAck(syn, 0, 0);

        assertThat(window.bytes()).isEqualTo(65_535);
    }

    @ParameterizedTest(name = "a window of {0} while {1} bytes fly: {2} bytes")
    @CsvSource({"500, 0, 500", "500, 500, 500", "500, 501, 1000", "500, 60000, 64000", "1, 1000000, 16384"})
    void anUnseenShiftIsTheSmallestThatExplainsTheFlight(int field, long largestFlight, long expected) {
        window.onAck(ack(field), 0, largestFlight);

        assertThat(window.isScaleUnknown()).isTrue();
        assertThat(window.isUnscaled()).isFalse();
        assertThat(window.bytes()).isEqualTo(expected);
    }

    @Test
    void theLargestWindowExplainsTheFlightForAllOthers() {
        window.onAck(ack(1_000), 0, 8_000);

        window.onAck(ack(10), 0, 8_000);

        assertThat(window.bytes()).isEqualTo(80);
    }

    @Test
    void aSynExplainsNoFlight() {
        Packet syn = ack(65_535);
        syn.flags |= Packet.SYN;
        window.onAck(syn, 0, 0);

        window.onAck(ack(500), 0, 60_000);

        assertThat(window.bytes()).isEqualTo(64_000);
    }

    @Test
    void whatWasAllowedOnceStaysAllowed() {
        window.agreeShift(0);
        window.onAck(ack(5_000), 1_000, 0);

        window.onAck(ack(100), 2_000, 0);

        assertThat(window.rightEdge()).isEqualTo(6_000);
        assertThat(window.bytes()).isEqualTo(100);
    }

    @ParameterizedTest(name = "window {0}, flags {1}: {2}")
    @CsvSource({"0, 16, true", "1, 16, false", "0, 18, false", "0, 20, false"})
    void onlyAnAcknowledgmentClosesTheWindow(int field, int flags, boolean expected) {
        Packet packet = ack(field);
        packet.flags = flags;

        window.onAck(packet, 0, 0);

        assertThat(window.isZero()).isEqualTo(expected);
    }

    @ParameterizedTest(name = "near {0}")
    @CsvSource({"0", "8589934592", "-9223372036854775808"})
    void aRestoredCopyGoesOnAsTheOriginal(long near) {
        window.onAck(ack(1_000), 8_589_935_000L, 8_000);
        window.onAck(ack(0), 8_589_936_000L, 8_000);

        ReceiverWindow copy = Restored.from(
                out -> window.writeTo(out, near), new ReceiverWindow(), (into, in) -> into.readFrom(in, near));

        assertThat(copy.rightEdge()).isEqualTo(window.rightEdge());
        assertThat(copy.bytes()).isEqualTo(window.bytes());
        assertThat(copy.isZero()).isTrue();
        assertThat(copy.isScaleUnknown()).isTrue();
        copy.onAck(ack(10), 8_589_937_000L, 8_000);
        assertThat(copy.bytes()).as("explained by the largest of all windows").isEqualTo(80);
    }

    private static Packet ack(int windowField) {
        Packet packet = new Packet();
        packet.flags = Packet.ACK;
        packet.windowField = windowField;
        return packet;
    }
}
