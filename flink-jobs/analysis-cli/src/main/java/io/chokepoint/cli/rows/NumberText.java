// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Doubles as the shortest decimal text that reads back as the same double, without an exponent. */
public final class NumberText {
    private NumberText() {}

    /**
     * The shortest text of a finite number.
     *
     * <p>{@link Double#toString(double)} gives a digit too many for some numbers before Java 19 (2.0E-3 as 0.0020, for
     * one), so fewer digits are tried.
     */
    public static String of(double number) {
        if (number == Math.rint(number) && Math.abs(number) < 1L << 53) {
            return Long.toString((long) number);
        }
        BigDecimal exact = new BigDecimal(number);
        BigDecimal shortest = new BigDecimal(Double.toString(number));
        for (int digits = shortest.precision() - 1; digits > 0; digits--) {
            BigDecimal shorter = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (shorter.doubleValue() != number) {
                break;
            }
            shortest = shorter;
        }
        return shortest.stripTrailingZeros().toPlainString();
    }
}
