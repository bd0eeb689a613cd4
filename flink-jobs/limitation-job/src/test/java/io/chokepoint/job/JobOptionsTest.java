// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.job.JobOptions.WrongOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Also holds {@code docs/job-options.md}: {@code -Dtest=JobOptionsTest -Dchokepoint.write=true} writes it anew. */
class JobOptionsTest {
    private static JobOptions parse(String... arguments) throws WrongOption {
        return JobOptions.parse(arguments, Map.of());
    }

    @Test
    void withoutArgumentsEverythingIsAsDocumented() throws WrongOption {
        JobOptions options = parse();

        assertThat(options.settings()).isEqualTo(AnalysisSettings.DEFAULT);
        assertThat(options.idle()).isEqualTo(Duration.ofMinutes(40));
        assertThat(options.isBounded()).isFalse();
        assertThat(options.topic()).isEqualTo("tcp-segments");
        assertThat(options.kafka()).containsExactly(Map.entry("bootstrap.servers", "127.0.0.1:19092"));
    }

    @Test
    void readsBothForms() throws WrongOption {
        JobOptions options =
                parse("--interval=500 ms", "--layer", "WIRE", "--bounded", "--row-version", "3", "--hash-seed=-7");

        assertThat(options.settings()).isEqualTo(new AnalysisSettings(500_000_000L, Layer.WIRE, 3));
        assertThat(options.isBounded()).isTrue();
        assertThat(options.hashSeed()).isEqualTo(-7);
    }

    @Test
    void anOptionWinsOverItsVariable() throws WrongOption {
        Map<String, String> environment = Map.of("CHOKEPOINT_KAFKA", "from-variable:1");

        assertThat(JobOptions.parse(new String[0], environment).kafka()).containsValue("from-variable:1");
        assertThat(JobOptions.parse(new String[] {"--kafka", "given:2"}, environment)
                        .kafka())
                .containsValue("given:2");
    }

    @Test
    void kafkaOptionsKeepTheirEqualsSigns() throws WrongOption {
        assertThat(parse("--kafka-options", "sasl.jaas.config=a b=\"c\";,security.protocol=SASL_SSL")
                        .kafka())
                .containsEntry("sasl.jaas.config", "a b=\"c\";")
                .containsEntry("security.protocol", "SASL_SSL");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--colour=red         | unknown option --colour: --print-options lists those there are",
                "stray                | unknown option stray: --print-options lists those there are",
                "--topic              | --topic needs a value: name",
                "--interval=fast      | --interval is 'fast', expected a duration such as '500 ms', '1 s' or '40 min'",
                "--interval=0 s       | --interval is '0 s', expected a duration above zero and of at most 365 d",
                "--interval=366 d     | --interval is '366 d', expected a duration above zero and of at most 365 d",
                "--layer=l3           | --layer is 'l3', expected ip, l2 or wire",
                "--row-version=-1     | --row-version is '-1', expected a whole number of at least 0",
                "--row-version=1e9    | --row-version is '1e9', expected a whole number",
                "--row-version=4294967296 | --row-version is '4294967296', expected a whole number of at most"
                        + " 2147483647",
                "--tenants=/nowhere   | --tenants is '/nowhere', expected a file that can be read, of UTF-8",
                "--idle=10 min        | --idle is '10 min', expected at least 30 min",
                "--bounded=maybe      | --bounded is 'maybe', expected true or false",
                "--hash-seed=abc      | --hash-seed is 'abc', expected a whole number",
                "--kafka-options=acks | --kafka-options is 'acks', expected key=value pairs",
                "--insert-rows=0      | --insert-rows is '0', expected a whole number of at least 1",
                "--insert-rows=9999999999 | --insert-rows is '9999999999', expected a whole number of at most"
                        + " 2147483647",
                "--insert-delay=soon  | --insert-delay is 'soon', expected a duration such as '500 ms', '1 s' or '40"
                        + " min'",
                "--insert-memory=lots | --insert-memory is 'lots', expected a size such as '64 mb'",
                "--insert-memory=1 b  | --insert-memory is '1 b', expected at least 1 mb",
            })
    void aWrongValueIsToldInOneSentence(String argument, String sentence) {
        assertThatThrownBy(() -> parse(argument))
                .isInstanceOf(WrongOption.class)
                .hasMessage(sentence);
    }

    @Test
    void aListOfTenantsIsReadWhereTheJobIsSubmitted(@TempDir Path directory) throws IOException, WrongOption {
        Path list = Files.writeString(directory.resolve("tenants.csv"), "2001:db8::/32,acme\n");

        assertThat(parse("--tenants", list.toString()).settings().tenants().of(0x2001_0db8_0000_0000L, 1))
                .isEqualTo("acme");
        Files.writeString(list, "2001:db8::/32,acme\nelsewhere,acme\n");
        assertThatThrownBy(() -> parse("--tenants", list.toString()))
                .hasMessage("--tenants is '" + list + "', expected a list of tenants: line 2: 'elsewhere' is no prefix:"
                        + " expected one such as 192.0.2.0/24 or 2001:db8::/32");
    }

    @Test
    void theLineOfTheLogHoldsNoSecret() throws WrongOption {
        JobOptions options = JobOptions.parse(
                new String[] {"--kafka-options", "sasl.jaas.config=hunter2"},
                Map.of("CHOKEPOINT_CLICKHOUSE_WRITER_PASSWORD", "swordfish"));

        assertThat(options.toString()).doesNotContain("hunter2", "swordfish").contains("topic=tcp-segments");
        assertThat(options.clickHouse().toString()).doesNotContain("swordfish");
    }

    @Test
    void thePageIsWhatPrintOptionsPrints() throws IOException {
        Path page = Path.of(System.getProperty("chokepoint.root"), "docs/job-options.md");
        if (Boolean.getBoolean("chokepoint.write")) {
            Files.writeString(page, JobOptions.markdown());
        }

        assertThat(Files.readString(page))
                .as("docs/job-options.md; -Dtest=JobOptionsTest -Dchokepoint.write=true writes it anew")
                .isEqualTo(JobOptions.markdown());
    }
}
