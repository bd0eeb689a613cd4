// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import java.util.Locale;

/** Quantities for people: three digits and a unit. */
final class UnitText {
    private static final double THOUSAND = 1e3;
    private static final String[] BYTES = {"B", "KB", "MB", "GB", "TB", "PB"};
    private static final String[] BITS_PER_SECOND = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
    private static final String[] SECONDS = {"ns", "us", "ms", "s"};

    private UnitText() {}

    static String bytes(double bytes) {
        return scaled(bytes, BYTES);
    }

    static String bitsPerSecond(double rate) {
        return scaled(rate, BITS_PER_SECOND);
    }

    static String seconds(double seconds) {
        return scaled(seconds * 1e9, SECONDS);
    }

    static String percent(double share) {
        return share == 0 ? "0 %" : String.format(Locale.ROOT, share < 0.1 ? "%.2f %%" : "%.1f %%", share * 100);
    }

    private static String scaled(double value, String[] units) {
        int unit = 0;
        double scaled = value;
        // 999.5 would be printed as 1000.
        while (scaled >= THOUSAND - 0.5 && unit < units.length - 1) {
            scaled /= THOUSAND;
            unit++;
        }
        int decimals = unit == 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f %s", scaled, units[unit]);
    }
}
