// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.cli.WrongOption;
import io.chokepoint.cli.analyze.AnalyzeOptions.Format;
import io.chokepoint.cli.analyze.AnalyzeOptions.Tunnels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnalyzeOptionsTest {
    @Test
    void eachFileIsATapNamedAfterIt() throws WrongOption {
        AnalyzeOptions options =
                AnalyzeOptions.parse("a/before.pcap", "after.pcapng.gz", "10.0.0.1.cap.zst", "trace", "-");

        assertThat(options.taps())
                .extracting(Tap::name)
                .containsExactly("before", "after", "10.0.0.1", "trace", "stdin");
    }

    @Test
    void filesAfterATapAreThatTapUntilTheNext() throws WrongOption {
        AnalyzeOptions options = AnalyzeOptions.parse("x.pcap", "--tap", "a", "1.pcap", "2.pcap", "--tap=b", "3.pcap");

        assertThat(options.taps())
                .containsExactly(
                        new Tap("x", List.of("x.pcap")),
                        new Tap("a", List.of("1.pcap", "2.pcap")),
                        new Tap("b", List.of("3.pcap")));
    }

    @Test
    void whatIsNotSaidHasADefault() throws WrongOption {
        AnalyzeOptions options = AnalyzeOptions.parse("x.pcap");

        assertThat(options.filter()).isNull();
        assertThat(options.tunnels()).isEqualTo(Tunnels.INNER);
        assertThat(options.format()).isEqualTo(Format.TABLE);
        assertThat(options.settings().intervalNanos()).isEqualTo(1_000_000_000L);
        assertThat(options.settings().layer()).isEqualTo(Layer.L2);
    }

    @Test
    void whatIsSaidCounts() throws WrongOption {
        AnalyzeOptions options = AnalyzeOptions.parse(
                "--filter", "port 80", "--tunnels=outer", "--layer=ip", "--format", "csv", "--", "--odd.pcap");

        assertThat(options.filter()).isEqualTo("port 80");
        assertThat(options.tunnels()).isEqualTo(Tunnels.OUTER);
        assertThat(options.format()).isEqualTo(Format.CSV);
        assertThat(options.settings().layer()).isEqualTo(Layer.IP);
        assertThat(options.taps()).extracting(Tap::name).containsExactly("--odd");
    }

    @ParameterizedTest
    @CsvSource({"1s, 1000000000", "500ms, 500000000", "1m, 60000000000", "1.5s, 1500000000", "24h, 86400000000000"})
    void intervalsAreDurations(String text, long nanos) throws WrongOption {
        assertThat(AnalyzeOptions.parse("--interval", text, "x.pcap").settings().intervalNanos())
                .isEqualTo(nanos);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            --interval 0s x.pcap    | option --interval is '0s': expected a duration from 1ms to 24h, such as 500ms, 1s or 1m
            --interval 1 x.pcap     | option --interval is '1': expected a duration from 1ms to 24h, such as 500ms, 1s or 1m
            --interval 25h x.pcap   | option --interval is '25h': expected a duration from 1ms to 24h, such as 500ms, 1s or 1m
            --layer l3 x.pcap       | option --layer is 'l3': expected ip, l2 or wire
            --tunnels both x.pcap   | option --tunnels is 'both': expected inner or outer
            --format xml x.pcap     | option --format is 'xml': expected table, json or csv
            --frobnicate x.pcap     | option --frobnicate is not known: expected --tap, --filter, --tunnels, --interval, --layer, --tenants or --format
            --tenants /nowhere x    | option --tenants is '/nowhere': expected a file that can be read, of UTF-8
            x.pcap --filter         | option --filter has no value: expected a libpcap filter
            --tap a                 | option --tap a has no file: expected one or more after it
            --tap a --tap b x.pcap  | option --tap a has no file: expected one or more after it
            --format json           | no capture is given: expected one or more files, or - for standard input
            a/x.pcap b/x.pcap       | two taps are called x (a/x.pcap and b/x.pcap): expected different names, give them by --tap NAME FILE...
            - --tap a -             | standard input is given 2 times: expected - at most once
            """)
    void aWrongOptionIsToldInOneSentence(String arguments, String sentence) {
        assertThatThrownBy(() -> AnalyzeOptions.parse(arguments.split(" ", -1)))
                .isInstanceOf(WrongOption.class)
                .hasMessage(sentence);
    }

    @Test
    void aListOfTenantsNamesAddresses(@TempDir Path directory) throws IOException, WrongOption {
        Path list = Files.writeString(directory.resolve("tenants.csv"), "# ours\n192.0.2.0/24,acme\n");

        assertThat(AnalyzeOptions.parse("--tenants", list.toString(), "x.pcap")
                        .settings()
                        .tenants()
                        .of(0, 0xffff_c000_0201L))
                .isEqualTo("acme");
        Files.writeString(list, "192.0.2.0/24 acme\n");
        assertThatThrownBy(() -> AnalyzeOptions.parse("--tenants", list.toString(), "x.pcap"))
                .isInstanceOf(WrongOption.class)
                .hasMessage("option --tenants is '" + list
                        + "': expected a list of tenants: line 1: '192.0.2.0/24 acme' has no"
                        + " comma: expected PREFIX,TENANT");
    }

    @Test
    void theUsageNamesEveryOption() {
        List<String> inUsage = Pattern.compile("--[a-z]+")
                .matcher(AnalyzeOptions.USAGE)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();

        String[] inComplaint = complaintAbout("--unknown").split("(, | or )", -1);
        assertThat(Arrays.stream(inComplaint).map(String::strip)).containsExactlyElementsOf(inUsage);
    }

    private static String complaintAbout(String option) {
        try {
            AnalyzeOptions.parse(option);
            return "";
        } catch (WrongOption e) {
            return String.valueOf(e.getMessage()).replaceFirst(".*expected ", "");
        }
    }
}
