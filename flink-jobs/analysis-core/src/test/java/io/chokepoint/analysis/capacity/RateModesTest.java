// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each row of a table: how many samples have which multiple of the rate C = 100 Mbit/s. */
class RateModesTest {
    private static final double C = 100e6;
    private static final double GRAIN_PERCENT = 0.1;

    @ParameterizedTest(name = "{0}: {2} C")
    @CsvSource({
        "a flow alone,                                  '100 x 1',                             1",
        "one sample,                                    '1 x 1',                               1",
        "half the gaps hold a foreign packet,           '50 x 1, 50 x 1/2',                    1",
        "most gaps hold one or two,                     '20 x 1, 50 x 1/2, 30 x 1/3',          1",
        "six foreign packets are the most,              '20 x 1, 80 x 1/7',                    1",
        "a foreign packet of half the size,             '30 x 1, 70 x 2/3',                    1",
        "a shorter one in two of three gaps,            '35 x 1, 65 x 0.7',                    1",
        "unless hardly a gap is without,                '30 x 1, 70 x 0.7',                    0.7",
        "C in too few gaps goes unseen,                 '7 x 1, 60 x 1/2, 33 x 1/3',           1/2",
        "a lone higher mode is a token burst,           '80 x 1, 20 x 10',                     1",
        "even a strong one,                             '60 x 1, 40 x 10',                     1",
        "a burst beside shared gaps,                    '20 x 1, 60 x 1/2, 20 x 4.7',          1",
        "a slower mode besides is no link,              '70 x 1, 30 x 0.77',                   1",
        "outliers on both sides do not matter,          '1 x 1/1000, 98 x 1, 1 x 1000',        1",
        "rates of zero and of infinity do not either,   '1 x 0, 98 x 1, 1 x Infinity',         1",
    })
    void theCapacityIsTheHighestModeWhoseSubMultiplesHoldTheTallest(String name, String samples, String expected) {
        RateModes modes = new RateModes(ring(samples));

        assertThat(modes.capacity()).as(name).isCloseTo(C * number(expected), withinPercentage(GRAIN_PERCENT));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @CsvSource({
        "all samples,         '100 x 1',                 1",
        "half of them,        '50 x 1, 50 x 1/2',        0.5",
        "those of a burst not, '80 x 1, 20 x 10',        0.8",
    })
    void theBellHoldsTheSamplesOfTheCapacity(String name, String samples, double expected) {
        RateModes modes = new RateModes(ring(samples));

        modes.capacity();

        assertThat(modes.bellShare()).as(name).isCloseTo(expected, within(1e-9));
    }

    /** Clock steps spread a rate over a few bins: the sum of the times averages them out. */
    @Test
    void theBellAveragesAClocksStepsOut() {
        RateRing ring = new RateRing(384);
        for (int i = 0; i < 100; i++) {
            // 12,112 bits at 100 Mbit/s take 121.12 µs: seen as 122 µs twelve times in a hundred, else as 121 µs.
            ring.add(i % 25 < 3 ? 12_112 / 122e-6 : 12_112 / 121e-6);
        }

        assertThat(new RateModes(ring).capacity()).isCloseTo(C, withinPercentage(0.05));
    }

    /** Bins are 0.7 % wide; each entry is bin x samples, C is at 0. */
    @ParameterizedTest(name = "{0}: {2} of the samples")
    @CsvSource({
        "what lies two bins above,             '0 x 40, 2 x 20',                     1",
        "what lies two bins below,             '-2 x 20, 0 x 40',                    1",
        "what is too little three bins above,  '0 x 90, 3 x 10',                     0.9",
        "what is too little three bins below,  '-3 x 10, 0 x 90',                    0.9",
        "what is a quarter above,              '0 x 60, 2 x 20, 4 x 20',             1",
        "what is a quarter below,              '-4 x 20, -2 x 20, 0 x 60',           1",
        "five bins above at most,  '0 x 40, 1 x 10, 2 x 10, 3 x 10, 4 x 10, 5 x 10, 6 x 10, 7 x 10, 8 x 10',        0.75",
        "five bins below at most,  '-8 x 10, -7 x 10, -6 x 10, -5 x 10, -4 x 10, -3 x 10, -2 x 10, -1 x 10, 0 x 40', 0.75",
    })
    void theBellReachesAsFarAsItHasAQuarterOfItsHeight(String name, String samples, double expected) {
        RateModes modes = new RateModes(bins(samples));

        double seconds = 0;
        int count = 0;
        for (String part : samples.split(", ")) {
            String[] binAndCount = part.split(" x ");
            boolean isInside = expected == 1
                    || (expected == 0.9 ? binAndCount[0].equals("0") : Math.abs(Integer.parseInt(binAndCount[0])) <= 5);
            count += isInside ? Integer.parseInt(binAndCount[1]) : 0;
            seconds += isInside ? Integer.parseInt(binAndCount[1]) / rateOfBin(Integer.parseInt(binAndCount[0])) : 0;
        }
        assertThat(modes.capacity()).as(name).isCloseTo(count / seconds, withinPercentage(GRAIN_PERCENT));
        assertThat(modes.bellShare()).as(name).isCloseTo(expected, within(1e-9));
    }

    /** Ten or nine of a hundred samples near one rate, the others by themselves. */
    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "'0 x 10', 90, false",
        "'0 x 9', 91, true",
        "'-2 x 2, 0 x 6, 2 x 2', 90, false",
        "'-3 x 2, 0 x 6, 3 x 2', 90, true",
    })
    void aModeOfATenthIsNotSpread(String mode, int others, boolean expected) {
        RateRing ring = bins(mode);
        for (int i = 1; i <= others; i++) {
            ring.add(rateOfBin(15 * i));
        }

        assertThat(new RateModes(ring).isSpread()).isEqualTo(expected);
    }

    @Test
    void theHighestOfSeveralModesThatHoldTheTallestIsTaken() {
        RateModes modes = new RateModes(ring("20 x 1, 40 x 1/2, 20 x 2/3, 20 x 1/3"));

        assertThat(modes.capacity()).isCloseTo(C, withinPercentage(GRAIN_PERCENT));
    }

    /** 15 % of the tallest mode's height. */
    @ParameterizedTest(name = "{0} beside 100: {1} C")
    @CsvSource({"15, 1", "14, 0.5"})
    void aModeBelowTheSignificantIsNone(int samples, double expected) {
        RateModes modes = new RateModes(ring(samples + " x 1, 100 x 1/2"));

        assertThat(modes.capacity()).isCloseTo(C * expected, withinPercentage(GRAIN_PERCENT));
    }

    @Test
    void theFootOfATallerModeIsNoModeOfItsOwn() {
        RateModes modes = new RateModes(bins("0 x 100, 4 x 30, 229 x 2"));

        assertThat(modes.capacity())
                .isCloseTo(new RateModes(bins("0 x 100, 4 x 30")).capacity(), withinPercentage(1e-6));
    }

    private static RateRing bins(String samples) {
        RateRing ring = new RateRing(384);
        for (String part : samples.split(", ")) {
            String[] binAndCount = part.split(" x ");
            for (int i = 0; i < Integer.parseInt(binAndCount[1]); i++) {
                ring.add(rateOfBin(Integer.parseInt(binAndCount[0])));
            }
        }
        return ring;
    }

    private static double rateOfBin(int bin) {
        return RateRing.rate(40_000 + 16 * bin);
    }

    @Test
    void samplesOfOneRateAreNotSpread() {
        assertThat(new RateModes(ring("100 x 1")).isSpread()).isFalse();
        assertThat(new RateModes(ring("10 x 1, 90 x 1/2")).isSpread()).isFalse();
    }

    @Test
    void samplesOverAnOctaveAreSpread() {
        RateRing ring = new RateRing(384);
        for (int i = 0; i < 100; i++) {
            ring.add(C * Math.pow(2, i / 100.0));
        }

        assertThat(new RateModes(ring).isSpread()).isTrue();
    }

    private static RateRing ring(String samples) {
        RateRing ring = new RateRing(384);
        for (String part : samples.split(",")) {
            String[] countAndRate = part.strip().split(" x ");
            for (int i = 0; i < Integer.parseInt(countAndRate[0]); i++) {
                ring.add(C * number(countAndRate[1]));
            }
        }
        return ring;
    }

    private static double number(String text) {
        String[] parts = text.split("/");
        return parts.length == 2
                ? Double.parseDouble(parts[0]) / Double.parseDouble(parts[1])
                : Double.parseDouble(text);
    }
}
