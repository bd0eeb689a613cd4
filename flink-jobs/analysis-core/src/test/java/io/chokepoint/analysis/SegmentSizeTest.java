// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SegmentSizeTest {
    private static final boolean PUSHED = true;

    private final SegmentSize size = new SegmentSize();

    private void pass(int segments, int payloadBytes, boolean isPushed) {
        for (int i = 0; i < segments; i++) {
            size.add(payloadBytes, isPushed);
        }
    }

    @Test
    void theOptionHoldsUntilFullSegmentsTellMore() {
        size.announce(1460);
        assertThat(size.bytes()).isEqualTo(1448);

        pass(3, 1436, !PUSHED);
        assertThat(size.bytes()).isEqualTo(1436);
    }

    @Test
    void anApplicationsWritesAreNoFullSegments() {
        size.announce(1460);
        pass(1000, 500, PUSHED);

        assertThat(size.bytes()).isEqualTo(1448);
        assertThat(size.isFull(500, 0)).isFalse();
    }

    @Test
    void withoutTheOptionTheLargestCounts() {
        pass(1, 900, PUSHED);

        assertThat(size.bytes()).isEqualTo(900);
    }

    @Test
    void aPathWhoseMtuFallsMakesNoShortSegments() {
        size.announce(1460);
        pass(640, 1448, !PUSHED);
        pass(128, 1348, !PUSHED);

        assertThat(size.bytes()).isEqualTo(1348);
        assertThat(size.isFull(1348, 0)).isTrue();
    }

    @Test
    void smallWritesAfterFullSegmentsAreNoFallOfTheMtu() {
        size.announce(1460);
        pass(64, 1448, !PUSHED);
        pass(1000, 300, PUSHED);

        assertThat(size.bytes()).isEqualTo(1448);
    }

    @ParameterizedTest(name = "{0} bytes beside {1} SACK blocks: full {2}")
    @CsvSource({
        "1448, 0, true",
        "1436, 0, true", // options of 12 bytes may come and go
        "1435, 0, false",
        "1428, 1, true",
        "1412, 3, true",
        "1407, 3, false",
        "2896, 0, true", // a super-segment of two full ones
        "5792, 0, true",
        "5000, 0, false", // its last part has 656
        "1, 0, false"
    })
    void aSegmentIsFullUpToItsOptions(int payloadBytes, int sackBlocks, boolean isFull) {
        size.announce(1460);
        pass(3, 1448, !PUSHED);

        assertThat(size.isFull(payloadBytes, sackBlocks)).isEqualTo(isFull);
    }

    /** Any remote host may send such a SYN: without this the room for payload was 0 or less. */
    @ParameterizedTest
    @CsvSource({"0", "1", "12", "13", "63"})
    void anAnnouncedSizeThatNoLinkNeedsIsIgnored(int announced) {
        int unannounced = size.bytes();

        size.announce(announced);

        assertThat(size.bytes()).isEqualTo(unannounced).isPositive();
        assertThat(size.isFull(5000, 0)).isTrue();
    }

    @Test
    void aSuperSegmentOfUnknownPartsIsFull() {
        assertThat(size.isFull(5000, 0)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"2896, true", "2920, true", "4344, true", "5000, false", "1500, true"})
    void beforeAnyFullSegmentTheAnnouncedSizeTellsThePartsWithTimestampsAndWithout(int payloadBytes, boolean isFull) {
        size.announce(1460);

        assertThat(size.isFull(payloadBytes, 0)).isEqualTo(isFull);
    }

    /** The option ends the guess: with it anything larger than announced is one. */
    @ParameterizedTest(name = "announced {0}, {1} full segments of 1000, then {2}: super {3}")
    @CsvSource({
        "0,    3, 1500, false",
        "0,    3, 1501, true",
        "0,    2, 1501, false",
        "1400, 3, 1400, false",
        "1400, 3, 1401, true",
        "64,   0, 65,   true",
        "63,   0, 1401, false", // too small to be one
    })
    void aSegmentThatNoLinkWouldCarryIsAHosts(int announced, int segments, int payloadBytes, boolean isSuper) {
        size.announce(announced);
        pass(segments, 1000, !PUSHED);

        assertThat(size.add(payloadBytes, PUSHED)).isEqualTo(isSuper);
    }
}
