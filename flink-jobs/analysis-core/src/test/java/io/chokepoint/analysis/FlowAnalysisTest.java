// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.PacketScript;
import io.chokepoint.testkit.RunCutter;
import io.chokepoint.testkit.RunSpec;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a flow is called, what its state is, and how much may come of one packet. */
class FlowAnalysisTest {
    private static final String DATA = """
            +0.000 A > B S  0:0(0)        win 64240 <mss 1460,wscale 7>
            +0.010 B > A S. 0:0(0) ack 1  win 65160 <mss 1460,wscale 7>
            +0.000 A > B .  0:0(0) ack 1  win 502
            repeat %d {
            +0.000 A > B P. +1460  ack @
            +0.010 B > A .  0:0(0) ack @  win 509
            }
            """;

    private final List<Row> rows = new ArrayList<>();
    private FlowAnalysis analysis = new FlowAnalysis(AnalysisSettings.DEFAULT, "leaf1");

    private void take(RunSpec spec) {
        byte[] bytes = new BatchEncoder(BatchHeader.ofTap("leaf1")).run(spec);
        Run run = new Run();
        assertThat(new RunReader().read(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);
        analysis.onRun(run, 1, 1, rows::add);
    }

    private void restart() {
        analysis = Restored.from(analysis::writeTo, in -> FlowAnalysis.readFrom(in, AnalysisSettings.DEFAULT, "leaf1"));
    }

    // ---- its name ----

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "flow A 10.0.0.1:40000 B 10.0.0.2:443, , ",
        "flow A 10.0.0.1:40000 B 10.0.0.2:443 vlan 0, 0, ",
        "flow A 10.0.0.1:40000 B 10.0.0.2:443 vlan 7 tunnel 0, 7, 0",
        "flow A 10.0.0.2:443 B 10.0.0.1:40000 tunnel 4294967295, , 4294967295",
    })
    void aRowBearsTheEndsAndWhatTheyWereWrappedIn(String flow, Long vlan, Long tunnel) {
        PacketScript script = PacketScript.parse(flow + "\n" + DATA.formatted(1));
        List<RunSpec> runs = script.runs(RunCutter.PROBE);
        take(runs.get(0));
        restart();
        take(runs.get(1));

        FlowIdentity identity = rows.get(rows.size() - 1).identity();
        boolean isFirstLow = flow.contains("A 10.0.0.1");
        assertThat(identity.clientHigh()).isZero();
        assertThat(identity.clientLow() & 0xff).isEqualTo(isFirstLow ? 1 : 2);
        assertThat(identity.clientPort()).isEqualTo(isFirstLow ? 40_000 : 443);
        assertThat(identity.serverLow() & 0xff).isEqualTo(isFirstLow ? 2 : 1);
        assertThat(identity.serverPort()).isEqualTo(isFirstLow ? 443 : 40_000);
        assertThat(identity.vlan()).isEqualTo(vlan == null ? Row.NULL : vlan);
        assertThat(identity.tunnelId()).isEqualTo(tunnel == null ? Row.NULL : tunnel);
    }

    @ParameterizedTest(name = "client {0}, server {1}")
    @CsvSource({"2001:db8:1::1, 2001:db8:2::2", "2001:db8:2::2, 2001:db8:1::1"})
    void bothHalvesOfAnAddressAreOfTheSameEnd(String client, String server) {
        PacketScript.parse("flow A [" + client + "]:40000 B [" + server + "]:443\n" + DATA.formatted(1))
                .runs(RunCutter.PROBE)
                .forEach(this::take);

        FlowIdentity identity = rows.get(0).identity();
        boolean isFirstLow = client.endsWith("1");
        assertThat(identity.clientHigh()).isEqualTo(isFirstLow ? 0x20010db8_00010000L : 0x20010db8_00020000L);
        assertThat(identity.clientLow()).isEqualTo(isFirstLow ? 1 : 2);
        assertThat(identity.serverHigh()).isEqualTo(isFirstLow ? 0x20010db8_00020000L : 0x20010db8_00010000L);
        assertThat(identity.serverLow()).isEqualTo(isFirstLow ? 2 : 1);
    }

    // ---- its state ----

    @Test
    void beforeItsFirstRunAnAnalysisIsNothing() {
        restart();
        analysis.finish(rows::add);

        assertThat(rows).isEmpty();
        assertThat(analysis.isFinished()).isFalse();
        assertThat(analysis.isMouse()).isTrue();
    }

    @ParameterizedTest(name = "{0} segments: mouse {1}")
    @CsvSource({"49, true", "50, false"})
    void fromTheFiftiethSegmentOnAFlowIsNoMouse(int segments, boolean isMouse) {
        PacketScript script = PacketScript.parse(DATA.formatted(segments));
        List<RunSpec> runs = script.runs(RunCutter.PROBE);
        runs.subList(0, runs.size() - 1).forEach(this::take);
        restart();

        assertThat(analysis.isMouse()).isEqualTo(isMouse);
        assertThat(analysis.isFinished()).isFalse();
        assertThat(analysis.lastPacketNanos())
                .isEqualTo(script.packets().get(script.packets().size() - 1).timeNs());
        take(runs.get(runs.size() - 1));
        restart();
        assertThat(analysis.isFinished()).isTrue();
    }

    /** Of most flows little is kept: neither rates nor distributions, and of ACKs that no data answer the newest only. */
    @ParameterizedTest(name = "{0} segments: {1}..{2} bytes of state")
    @CsvSource({"10, 0, 750", "49, 0, 750", "50, 1000, 1500"})
    void theStateOfAMouseIsSmall(int segments, int least, int most) {
        PacketScript.parse(DATA.formatted(segments) + """
                repeat 40 {
                +0.001 B > A P. +10    ack @
                }
                """).runs(RunCutter.PROBE).stream()
                .filter(run -> run.endReason().equals("NONE"))
                .forEach(this::take);

        assertThat(Restored.bytes(analysis::writeTo)).hasSizeBetween(least, most);
    }

    @ParameterizedTest(name = "first byte {0}")
    @ValueSource(bytes = {0, 4, 127})
    void aStateOfAnotherVersionIsRefused(byte version) {
        byte[] state = Restored.bytes(analysis::writeTo);
        state[0] = version;

        assertThatThrownBy(() -> FlowAnalysis.readFrom(
                        new DataInputStream(new ByteArrayInputStream(state)), AnalysisSettings.DEFAULT, "leaf1"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version");
    }

    @Test
    void aStateThatIsNoneIsRefused() {
        take(PacketScript.parse(DATA.formatted(60)).runs(RunCutter.PROBE).get(0));
        byte[] state = Restored.bytes(analysis::writeTo);
        Arrays.fill(state, 30, state.length, (byte) 0x7f);

        assertThatThrownBy(() -> FlowAnalysis.readFrom(
                        new DataInputStream(new ByteArrayInputStream(state)), AnalysisSettings.DEFAULT, "leaf1"))
                .isInstanceOf(IOException.class);
    }

    // ---- how much may come of one packet ----

    private static final String CLOSED = DATA.formatted(60) + "+0.000 B > A . 0:0(0) ack @ win 0\n";

    /** One row for each second of a window that stays closed, but for an hour at most. */
    @ParameterizedTest(name = "data after {0} s: {1} rows")
    @CsvSource({"3500, 3501", "9000, 3602"})
    void aClosedWindowHasRowsForAnHour(int seconds, int intervals) {
        PacketScript script = PacketScript.parse(CLOSED + """
                +%d.000 B > A .  0:0(0) ack @ win 509
                +0.000 A > B P. +1460  ack @
                """.formatted(seconds));
        script.runs(new RunCutter(256, true, false)).forEach(this::take);

        assertThat(rows.stream()
                        .filter(row -> row.table() == Row.Table.LIMITATION_INTERVALS)
                        .count())
                .isEqualTo(intervals);
    }

    @ParameterizedTest(name = "back by {0} s: a step {1}")
    @CsvSource({"1.000000, !clock_step", "1.000001, clock_step"})
    void theClockStepsBackByMoreThanASecond(String seconds, String quality) {
        Timeline.check(DATA.formatted(60) + """
                +0.900 A > B P. +1460  ack @                # at 1.51 s
                -%s A > B P. +1460  ack @
                +0.020 B > A .  0:0(0) ack @
                end CAPTURE_END
                expect A > B quality %s, data_packets 62
                """.formatted(seconds, quality));
    }
}
