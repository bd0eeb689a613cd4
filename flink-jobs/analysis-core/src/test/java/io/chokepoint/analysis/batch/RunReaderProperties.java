// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.RunSpec;
import java.util.Arrays;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class RunReaderProperties {
    private static final BatchHeader HEADER = BatchHeader.ofTap("leaf1");

    private final Run run = new Run();
    private final RunReader reader = new RunReader();

    @Provide
    Arbitrary<RunSpec> runs() {
        return RunArbitraries.runs();
    }

    @Provide
    Arbitrary<RunSpec> shortRuns() {
        return RunArbitraries.shortRuns();
    }

    @Property
    void readsWhatTheAvroLibraryWrote(@ForAll("runs") RunSpec spec, @ForAll boolean sizedBlocks) {
        byte[] bytes = new BatchEncoder(HEADER, sizedBlocks).run(spec);

        assertThat(reader.read(bytes, 0, bytes.length, run)).isEqualTo(DecodeStatus.OK);

        assertThat(RunPackets.packetsOf(run, spec.flow().isALow())).isEqualTo(spec.packets());
        assertThat(RunPackets.flowOf(run).low()).isEqualTo(spec.flow().low());
        assertThat(RunPackets.flowOf(run).high()).isEqualTo(spec.flow().high());
        assertThat(RunPackets.flowOf(run).vlanId()).isEqualTo(spec.flow().vlanId());
        assertThat(RunPackets.flowOf(run).tunnelId()).isEqualTo(spec.flow().tunnelId());
        assertThat(run.domain()).isEqualTo(spec.flow().domain());
        assertThat(run.flowStartNs()).isEqualTo(spec.flowStartNs());
        assertThat(run.packetsBefore()).isEqualTo(spec.packetsBefore());
        assertThat(run.observedUntilNs()).isEqualTo(spec.observedUntilNs());
        assertThat(run.endReason().name()).isEqualTo(spec.endReason());
        assertThat(run.hasIpId())
                .isEqualTo(spec.flow().isIpv4() && !spec.packets().isEmpty());
        assertThat(run.unknownColumns()).isZero();
    }

    @Property
    void readsASliceOfALargerArrayAndNothingAroundIt(
            @ForAll("runs") RunSpec spec, @ForAll @IntRange(max = 20) int before, @ForAll byte filler) {
        byte[] bytes = new BatchEncoder(HEADER).run(spec);
        byte[] larger = new byte[before + bytes.length + 20];
        Arrays.fill(larger, filler);
        System.arraycopy(bytes, 0, larger, before, bytes.length);

        assertThat(reader.read(larger, before, bytes.length, run)).isEqualTo(DecodeStatus.OK);

        assertThat(RunPackets.packetsOf(run, spec.flow().isALow())).isEqualTo(spec.packets());
    }

    @Property
    void aRunReadBeforeLeavesNoTrace(@ForAll("runs") RunSpec first, @ForAll("runs") RunSpec second) {
        byte[] firstBytes = new BatchEncoder(HEADER).run(first);
        byte[] bytes = new BatchEncoder(HEADER).run(second);

        reader.read(firstBytes, 0, firstBytes.length, run);
        reader.read(bytes, 0, bytes.length, run);

        assertThat(RunPackets.packetsOf(run, second.flow().isALow())).isEqualTo(second.packets());
        assertThat(RunPackets.flowOf(run).vlanId()).isEqualTo(second.flow().vlanId());
        assertThat(run.hasIpId())
                .isEqualTo(second.flow().isIpv4() && !second.packets().isEmpty());
    }

    @Property
    void everyPrefixIsRefused(@ForAll("runs") RunSpec spec, @ForAll @IntRange(max = 1 << 20) int cut) {
        byte[] bytes = new BatchEncoder(HEADER).run(spec);
        int length = cut % bytes.length;

        assertThat(reader.read(bytes, 0, length, run)).isNotEqualTo(DecodeStatus.OK);
    }

    /** A mutant may well be a run; it must only not throw, hang, or read beyond its bytes. */
    @Property(tries = 10_000)
    void mutatedBytesAreValuesToo(@ForAll("shortRuns") RunSpec spec, @ForAll("mutations") Mutation mutation) {
        byte[] bytes = mutation.applyTo(new BatchEncoder(HEADER).run(spec));

        assertThatCode(() -> reader.read(bytes, 0, bytes.length, run)).doesNotThrowAnyException();
    }

    @Provide
    Arbitrary<Mutation> mutations() {
        return Mutation.any();
    }
}
