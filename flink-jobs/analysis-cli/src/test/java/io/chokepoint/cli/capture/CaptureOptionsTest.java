// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.cli.WrongOption;
import io.chokepoint.cli.capture.CaptureOptions.Alert;
import io.chokepoint.cli.capture.CaptureOptions.OneFlow;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CaptureOptionsTest {
    private static final String KEY = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private String key;
    private String probes;

    @BeforeEach
    void writeKeyAndProbes() throws IOException {
        key = Files.writeString(directory.resolve("key"), KEY + "\r\n").toString();
        Files.writeString(directory.resolve("short"), KEY.substring(1));
        probes = Files.writeString(
                        directory.resolve("probes"),
                        "# taps\n\nhttp://127.0.0.1:9465 key core-1\nhttps://probe-2 key  tap with spaces \n")
                .toString();
    }

    @Test
    void oneFlowOfOneProbe() throws WrongOption {
        CaptureOptions options = CaptureOptions.parse(
                "--probe", "http://127.0.0.1:9465/", "--key", key, "--flow=10.0.0.1:40000>10.0.0.2:443");

        OneFlow asked = (OneFlow) options.asked();
        assertThat(asked.probe().url()).isEqualTo(URI.create("http://127.0.0.1:9465"));
        assertThat(asked.probe().key().getEncoded()).asString().isEqualTo(KEY);
        assertThat(asked.flow()).isEqualTo(new Flow("10.0.0.1", 40000, "10.0.0.2", 443));
        assertThat(options.seconds()).isEqualTo(30);
        assertThat(options.output()).isNull();
    }

    @Test
    void theProbesOfAnAlertAreKnownByTheirTaps() throws WrongOption {
        CaptureOptions options = CaptureOptions.parse("--alert", "-", "--probes", probes, "--seconds", "3600");

        Alert asked = (Alert) options.asked();
        assertThat(asked.file()).isEqualTo("-");
        assertThat(asked.probes()).containsOnlyKeys("core-1", "tap with spaces");
        assertThat(options.seconds()).isEqualTo(3600);
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', textBlock = """
                    "10.0.0.1:1>10.0.0.2:65535",       "10.0.0.1:1>10.0.0.2:65535"
                    "10.0.0.1:1 > 10.0.0.2:2",         "10.0.0.1:1>10.0.0.2:2"
                    "[2001:db8::1]:1>[2001:db8::2]:2", "[2001:db8::1]:1>[2001:db8::2]:2"
                    "[::]:1>[1:2:3:4:5:6:7::]:2",      "[::]:1>[1:2:3:4:5:6:7::]:2"
                    "[1:2:3:4:5:6:7:8]:1>[::ffff:10.0.0.2]:2", "[1:2:3:4:5:6:7:8]:1>[::ffff:10.0.0.2]:2"
                    "999.9.0.9:1>10.9.0.1:5001",
                    "10.0.0.256:1>10.0.0.2:2",
                    "10.0.0.01:1>10.0.0.2:2",
                    "[1:2:3:4:5:6:7:8:9]:1>[::2]:2",
                    "[1:2:3:4:5:6:7]:1>[::2]:2",
                    "[1:2:3:4::5:6:7:8]:1>[::2]:2",
                    "[1::2::3]:1>[::2]:2",
                    "[:::]:1>[::2]:2",
                    "[:1::]:1>[::2]:2",
                    "[12345::]:1>[::2]:2",
                    "[::10.0.0.256]:1>[::2]:2",
                    "[10.0.0.1]:1>[::2]:2",
                    "10.0.0.1:1>10.0.0.2:65536",
                    "10.0.0.1:1>10.0.0.2",
                    "10.0.0.1:1",
                    "10.0.0.1:1>10.0.0.2:2>10.0.0.3:3",
                    "host:1>10.0.0.2:2",
                    "[2001:db8::1]:1>10.0.0.2:2",
                    "2001:db8::1:1>2001:db8::2:2",
                    """)
    void aFlowIsTwoEndsOfOneKind(String text, String flow) {
        Flow parsed = Flow.parse(text);

        assertThat(parsed == null ? null : parsed.toString()).isEqualTo(flow);
    }

    @Test
    void theNameOfAFileHoldsNothingThatAFolderWould() {
        Flow flow = Flow.ofLabels(
                Map.of("client_ip", "2001:db8::1", "client_port", "1", "server_ip", "fe80::2", "server_port", "2"));

        assertThat(flow).isNotNull();
        assertThat(flow.fileText()).isEqualTo("2001.db8..1-1_fe80..2-2");
        assertThat(Flow.ofLabels(Map.of(
                        "client_ip", "../../etc/:", "client_port", "1", "server_ip", "fe80::2", "server_port", "2")))
                .isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --nix 1                        | option --nix is not known: expected --probe, --key,
                    x                              | argument x is not known: expected --probe, --key,
                    --probe                        | option --probe has no value
                    --probe http://h:1             | option --flow is missing: expected a flow such as
                    --flow x                       | option --probe is missing: expected a URL such as
                    --flow x --probe http://h:1    | option --key is missing: expected a file
                    --flow x --probe h:1 --key KEY | option --probe is 'h:1': expected a URL such as
                    --flow x --probe ftp://h --key KEY           | option --probe is 'ftp://h': expected a URL such as
                    --flow x --probe http://h/?a=b --key KEY     | option --probe is 'http://h/?a=b': expected a URL such as
                    --flow x --probe http://h --key /nix         | option --key is '/nix': expected a file that can be read
                    --flow x --probe http://h --key DIR/short    | option --key is 'DIR/short': expected the key of the probe, 32
                    --flow x --probe http://h --key KEY          | option --flow is 'x': expected a flow such as
                    --flow x --alert y                           | option --flow is too much with --alert: expected either
                    --flow x --probes y                          | option --probes is too much with --flow: expected either
                    --alert y                                    | option --probes is missing: expected a file
                    --alert y --probes /nix                      | option --probes is '/nix': expected a file that can be read
                    --alert y --probes KEY                       | line 1 of KEY is not URL KEYFILE TAP
                    --alert y --probes PROBES --seconds 0        | option --seconds is '0': expected a whole number, 1 to 3600
                    --alert y --probes PROBES --seconds 3601     | option --seconds is '3601': expected a whole number
                    """)
    void aWrongOptionIsOneSentence(String args, String sentence) {
        assertThatThrownBy(() -> CaptureOptions.parse(filled(args).split(" ")))
                .isInstanceOf(WrongOption.class)
                .hasMessageStartingWith(filled(sentence));
    }

    private String filled(String text) {
        return text.replace("KEYFILE", "keyfile")
                .replace("KEY", key)
                .replace("keyfile", "KEYFILE")
                .replace("PROBES", probes)
                .replace("DIR", directory.toString());
    }

    @Test
    void theUsageNamesEachOption() {
        for (String name : List.of("--probe", "--key", "--flow", "--probes", "--alert", "--seconds", "--output")) {
            assertThat(Capture.USAGE).contains("\n  " + name + " ");
        }
    }
}
