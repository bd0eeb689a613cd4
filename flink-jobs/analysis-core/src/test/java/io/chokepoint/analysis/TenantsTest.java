// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.row.Tenants;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose an address is: always the answer of looking through the whole list. */
class TenantsTest {
    private static final Tenants TENANTS = Tenants.parse(List.of(
            "# two tenants within a third",
            "10.0.0.0/8, carrier",
            "",
            "10.1.0.0/16,acme",
            "10.1.2.3,a host of its own",
            "2001:db8::/32,carrier",
            "2001:db8:0:1::/64,acme",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128,the last"));

    /** A prefix of few bits that vary, so that prefixes lie within each other and end where others begin. */
    private record Prefix(int address, int bits) {
        boolean holds(int other) {
            return bits == 0 || (address ^ other) >>> 32 - bits == 0;
        }

        String text() {
            int masked = bits == 0 ? 0 : address & -1 << 32 - bits;
            return String.format(
                    Locale.ROOT,
                    "%d.%d.%d.%d/%d",
                    masked >>> 24,
                    masked >>> 16 & 0xff,
                    masked >>> 8 & 0xff,
                    masked & 0xff,
                    bits);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0, carrier",
        "10.0.255.255, carrier",
        "10.1.0.0, acme",
        "10.1.2.3, a host of its own",
        "10.1.2.4, acme",
        "10.255.255.255, carrier",
        "11.0.0.0, ''",
        "9.255.255.255, ''",
        "2001:db8::, carrier",
        "2001:db8:0:1:ffff::, acme",
        "2001:db8:0:2::, carrier",
        "2001:db9::, ''",
        "::, ''",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, the last",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe, ''"
    })
    void theLongestPrefixCounts(String address, String tenant) throws UnknownHostException {
        assertThat(tenantOf(TENANTS, InetAddress.getByName(address).getAddress()))
                .isEqualTo(tenant);
    }

    @Property
    void theAnswerIsThatOfLookingThroughTheList(
            @ForAll("lists") List<Prefix> prefixes, @ForAll("addresses") int address) throws UnknownHostException {
        List<Prefix> unique = prefixes.stream()
                .filter(prefix -> prefixes.stream()
                                .filter(other -> other.text().equals(prefix.text()))
                                .findFirst()
                                .orElseThrow()
                        == prefix)
                .toList();
        Tenants tenants = Tenants.parse(unique.stream()
                .map(prefix -> prefix.text() + "," + prefix.text())
                .toList());

        String expected = "";
        int longest = -1;
        for (Prefix prefix : unique) {
            if (prefix.holds(address) && prefix.bits() > longest) {
                longest = prefix.bits();
                expected = prefix.text();
            }
        }
        assertThat(tenantOf(tenants, ByteBuffer.allocate(4).putInt(address).array()))
                .isEqualTo(expected);
    }

    @Example
    void withoutAListNobodyHasAName() throws UnknownHostException {
        assertThat(tenantOf(Tenants.NONE, new byte[4])).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.0/33,a     | line 2: '10.0.0.0/33' is no prefix: expected one such as 192.0.2.0/24 or"
                        + " 2001:db8::/32",
                "10.0.0/24,a       | line 2: '10.0.0/24' is no prefix: expected one such as 192.0.2.0/24 or"
                        + " 2001:db8::/32",
                "2001:db8:::/32,a  | line 2: '2001:db8:::/32' is no prefix: expected one such as 192.0.2.0/24 or"
                        + " 2001:db8::/32",
                "1:2:3:4:5:6:7,a   | line 2: '1:2:3:4:5:6:7' is no prefix: expected one such as 192.0.2.0/24 or"
                        + " 2001:db8::/32",
                "localhost,a       | line 2: 'localhost' is no prefix: expected one such as 192.0.2.0/24 or"
                        + " 2001:db8::/32",
                "192.0.2.1/24,a    | line 2: '192.0.2.1/24' has bits behind its length: expected zeros there",
                "192.0.2.0/24      | line 2: '192.0.2.0/24' has no comma: expected PREFIX,TENANT",
                "192.0.2.0/24,     | line 2: tenant '': expected 1 to 64 characters, no comma and no quotation mark",
                "192.0.2.0/24,a,b  | line 2: tenant 'a,b': expected 1 to 64 characters, no comma and no quotation mark",
                "198.51.100.0/24,b | line 2: '198.51.100.0/24,b' has a prefix that is a's already: expected each"
                        + " prefix once",
            })
    void aBadLineIsOneSentence(String line, String sentence) {
        assertThatThrownBy(() -> Tenants.parse(List.of("198.51.100.0/24,a", line)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(sentence);
    }

    private static String tenantOf(Tenants tenants, byte[] address) throws UnknownHostException {
        ByteBuffer bytes = address.length == 4
                ? ByteBuffer.allocate(16).putLong(0).putInt(0xffff).put(address).flip()
                : ByteBuffer.wrap(address);
        return tenants.of(bytes.getLong(), bytes.getLong());
    }

    @Provide
    Arbitrary<List<Prefix>> lists() {
        return Combinators.combine(addresses(), Arbitraries.of(0, 1, 6, 7, 8, 30, 31, 32))
                .as((address, bits) -> new Prefix(address, bits))
                .list()
                .ofMaxSize(8);
    }

    @Provide
    Arbitrary<Integer> addresses() {
        return Arbitraries.of(
                0, 1, 2, 3, 0x00ff_ffff, 0x0100_0000, 0x01ff_ffff, 0x0200_0000, 0x7fff_ffff, 1 << 31, -2, -1);
    }
}
