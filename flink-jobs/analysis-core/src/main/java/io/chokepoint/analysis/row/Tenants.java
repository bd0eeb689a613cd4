// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Whose addresses are: a list of prefixes with names, of which the longest that holds an address counts. */
public final class Tenants implements Serializable {
    /** Nobody's. */
    public static final Tenants NONE = new Tenants(List.of());

    private static final long serialVersionUID = 1L;
    private static final int MAX_NAME = 64;

    /**
     * Addresses from here up to the next start are of {@code tenant}. Ranges are disjoint, so that one binary search answers.
     *
     * @param high first 8 bytes of an IPv6 address; IPv4 is mapped
     */
    private record Range(long high, long low, String tenant) {}

    private final long[] highs;
    private final long[] lows;
    private final String[] names;

    private Tenants(List<Range> ranges) {
        highs = ranges.stream().mapToLong(Range::high).toArray();
        lows = ranges.stream().mapToLong(Range::low).toArray();
        names = ranges.stream().map(Range::tenant).toArray(String[]::new);
    }

    /**
     * Reads lines {@code PREFIX,TENANT}, such as {@code 192.0.2.0/24,acme}; empty ones and those that begin with # do not count.
     *
     * @throws IllegalArgumentException with the line and what is wrong with it
     */
    public static Tenants parse(List<String> lines) {
        Map<AddressPrefix, String> tenants = new LinkedHashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            try {
                int comma = line.indexOf(',');
                if (comma < 0) {
                    throw new IllegalArgumentException("'" + line + "' has no comma: expected PREFIX,TENANT");
                }
                AddressPrefix prefix =
                        AddressPrefix.parse(line.substring(0, comma).strip());
                String tenant = tenant(line.substring(comma + 1).strip());
                String known = tenants.put(prefix, tenant);
                if (known != null && !known.equals(tenant)) {
                    throw new IllegalArgumentException(
                            "'" + line + "' has a prefix that is " + known + "'s already: expected each prefix once");
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        return of(tenants);
    }

    private static String tenant(String name) {
        boolean plain = name.chars().noneMatch(c -> c == ',' || c == '"' || Character.isISOControl(c));
        if (name.isEmpty() || name.length() > MAX_NAME || !plain) {
            throw new IllegalArgumentException(
                    "tenant '" + name + "': expected 1 to " + MAX_NAME + " characters, no comma and no quotation mark");
        }
        return name;
    }

    /** At each address where an owner may change the longest prefix that holds it names the owner from there on. */
    private static Tenants of(Map<AddressPrefix, String> tenants) {
        List<Range> ranges = new ArrayList<>();
        tenants.keySet().stream()
                .flatMap(prefix -> prefix.edges().stream())
                .distinct()
                .sorted()
                .forEach(edge -> {
                    String owner = tenants.keySet().stream()
                            .filter(prefix -> prefix.holds(edge))
                            .max(Comparator.comparingInt(AddressPrefix::bits))
                            .map(tenants::get)
                            .orElse("");
                    ranges.add(new Range(edge.high(), edge.low(), owner));
                });
        return new Tenants(ranges);
    }

    /** The tenant of an IPv6 address (IPv4 mapped); empty without one. */
    public String of(long high, long low) {
        int from = 0;
        int to = highs.length; // the first start above the address lies in from..to
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (AddressPrefix.compare(highs[middle], lows[middle], high, low) <= 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from == 0 ? "" : names[from - 1];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Tenants that
                && Arrays.equals(highs, that.highs)
                && Arrays.equals(lows, that.lows)
                && Arrays.equals(names, that.names);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(names);
    }

    @Override
    public String toString() {
        return names.length + " ranges of tenants";
    }
}
