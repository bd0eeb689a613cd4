// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.loss;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.loss.Holes.Filling;
import io.chokepoint.analysis.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times in ns; the shortest round trip is 100. */
class HolesTest {
    private static final long ROUND_TRIP = 100;
    private static final int MOST_HOLES = 32;

    private final Holes holes = new Holes();

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "an older TSval was sent before,                500, 499, 0,     0,     1000, REORDERED",
        "a newer TSval was sent after,                  500, 501, 0,     0,     1,    RESENT",
        "TSvals wrap,                                   -2147483647, 2147483646, 0, 0, 1000, REORDERED",
        "TSvals wrap the other way,                     2147483646, -2147483647, 0, 0, 1, RESENT",
        "of equal TSvals the lower IP-ID came first,    500, 500, 9,     8,     1000, REORDERED",
        "and the higher one last,                       500, 500, 9,     10,    1,    RESENT",
        "IP-IDs wrap,                                   500, 500, 2,     65535, 1000, REORDERED",
        "IP-IDs wrap the other way,                     500, 500, 65535, 2,     1,    RESENT",
        "equal IP-IDs tell nothing: young is reordered, 500, 500, 9,     9,     49,   REORDERED",
        "old is sent again,                             500, 500, 9,     9,     50,   RESENT",
        "an absent IP-ID tells nothing,                 500, 500, 0,     9,     49,   REORDERED",
    })
    void tellsReorderedFromResent(
            String name, int openerTsval, int tsval, int openerIpId, int ipId, long age, Filling expected) {
        holes.open(1_000, 100, 200, packet(openerTsval, openerIpId));

        assertThat(holes.fill(1_000 + age, 100, 200, packet(tsval, ipId), ROUND_TRIP))
                .as(name)
                .isEqualTo(expected);
        assertThat(holes.any()).isFalse();
    }

    @Test
    void withoutTimestampsZeroIsNoTsval() {
        Packet opener = new Packet();
        holes.open(1_000, 100, 200, opener);

        assertThat(holes.fill(1_001, 100, 200, new Packet(), ROUND_TRIP)).isEqualTo(Filling.REORDERED);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "below the hole,         0,   100",
        "above the hole,         200, 300",
    })
    void whatTheTapHasSeenFillsNoHole(String name, long from, long to) {
        holes.open(1_000, 100, 200, packet(1, 0));

        assertThat(holes.fill(1_001, from, to, packet(0, 0), ROUND_TRIP))
                .as(name)
                .isEqualTo(Filling.NONE);
        assertThat(holes.acknowledge(1_000)).isEqualTo(100);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "nothing of it,     0,   100, 100",
        "its beginning,     50,  150, 50",
        "its end,           150, 250, 50",
        "its middle,        120, 150, 70",
        "all of it,         100, 200, 0",
        "more than all,     50,  250, 0",
    })
    void whatIsFilledIsMissingNoMore(String name, long from, long to, long expectedMissing) {
        holes.open(1_000, 100, 200, packet(1, 0));

        holes.fill(1_001, from, to, packet(0, 0), ROUND_TRIP);

        assertThat(holes.acknowledge(1_000)).as(name).isEqualTo(expectedMissing);
    }

    @Test
    void oneSegmentMayFillSeveralHoles() {
        holes.open(1_000, 100, 200, packet(1, 0));
        holes.open(1_001, 300, 400, packet(1, 0));
        holes.open(1_002, 500, 600, packet(1, 0));

        holes.fill(1_500, 100, 550, packet(9, 0), ROUND_TRIP);

        assertThat(holes.acknowledge(1_000)).isEqualTo(50);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "below the hole,        100, 0,   100",
        "one byte into it,      101, 1,   99",
        "into the hole,         130, 30,  70",
        "to its end,            200, 100, 0",
        "beyond,                900, 100, 0",
    })
    void whatIsAcknowledgedUnseenWasMissedByTheTap(String name, long ack, long expected, long expectedLeft) {
        holes.open(1_000, 100, 200, packet(1, 0));

        assertThat(holes.acknowledge(ack)).as(name).isEqualTo(expected);
        assertThat(holes.acknowledge(1_000)).as(name + ": left").isEqualTo(expectedLeft);
    }

    @Test
    void everyHoleRemembersItsOwnOpener() {
        holes.open(1_000, 100, 200, packet(5, 9));
        holes.open(1_001, 300, 400, packet(5, 50));
        holes.open(2_000, 500, 600, packet(7, 0));
        holes.open(3_000, 700, 800, packet(7, 0));
        holes.fill(3_001, 100, 200, packet(4, 0), ROUND_TRIP);

        assertThat(holes.fill(3_002, 300, 400, packet(5, 20), ROUND_TRIP)).isEqualTo(Filling.REORDERED);
        assertThat(holes.fill(3_003, 500, 600, packet(6, 0), ROUND_TRIP)).isEqualTo(Filling.REORDERED);
        assertThat(holes.fill(3_004, 700, 800, packet(7, 0), ROUND_TRIP)).isEqualTo(Filling.REORDERED);
    }

    @Test
    void oneHoleTooManyForgetsTheOldest() {
        for (int i = 0; i <= MOST_HOLES; i++) {
            holes.open(1_000 + i, 100L * i, 100L * i + 10, packet(1, 0));
        }

        assertThat(holes.fill(2_000, 0, 10, packet(0, 0), ROUND_TRIP)).isEqualTo(Filling.NONE);
        assertThat(holes.acknowledge(10_000)).isEqualTo(10 * MOST_HOLES);
    }

    @Test
    void clearingForgetsAll() {
        holes.open(1_000, 100, 200, packet(1, 0));

        holes.clear();

        assertThat(holes.any()).isFalse();
        assertThat(holes.acknowledge(1_000)).isZero();
    }

    private static Packet packet(int tsval, int ipId) {
        Packet packet = new Packet();
        packet.hasTimestamps = true;
        packet.timestampValue = tsval;
        packet.ipId = ipId;
        return packet;
    }
}
