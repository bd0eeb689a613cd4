// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.chokepoint.testkit.BatchEncoder;
import io.chokepoint.testkit.BatchHeader;
import io.chokepoint.testkit.RunSpec;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class SegmentBatchReaderProperties {
    private static final BatchHeader HEADER =
            new BatchHeader("probe", "leaf1", -1, 3, 1, 7, "KERNEL", Map.of("frames_received", 1L << 40));

    private final SegmentBatchReader reader = new SegmentBatchReader();
    private final RunReader runReader = new RunReader();
    private final Run run = new Run();

    @Provide
    Arbitrary<List<RunSpec>> runs() {
        return RunArbitraries.shortRuns().list().ofMaxSize(8).withoutEdgeCases();
    }

    @Property
    void everyRunComesBackAsItWasWritten(@ForAll("runs") List<RunSpec> specs, @ForAll boolean sizedBlocks) {
        for (byte[] value : new BatchEncoder(HEADER, sizedBlocks).encode(specs, 8)) {
            assertThat(reader.read(value)).isEqualTo(DecodeStatus.OK);
            assertThat(reader.runs()).isEqualTo(specs.size());
            for (int i = 0; i < reader.runs(); i++) {
                assertThat(runReader.read(value, reader.runOffset(i), reader.runLength(i), run))
                        .isEqualTo(DecodeStatus.OK);
                assertThat(RunPackets.packetsOf(run, specs.get(i).flow().isALow()))
                        .isEqualTo(specs.get(i).packets());
            }
        }
    }

    /** Whatever is believed must also keep the books: packets of the batch = packets of its runs. */
    @Property(tries = 10_000)
    void mutatedBytesAreValuesToo(@ForAll("runs") List<RunSpec> specs, @ForAll("mutations") Mutation mutation) {
        for (byte[] value : new BatchEncoder(HEADER).encode(specs, 8)) {
            byte[] mutant = mutation.applyTo(value);

            assertThatCode(() -> readAll(mutant)).doesNotThrowAnyException();
        }
    }

    private void readAll(byte[] value) {
        if (reader.read(value) != DecodeStatus.OK) {
            return;
        }
        int packets = 0;
        for (int i = 0; i < reader.runs(); i++) {
            runReader.read(value, reader.runOffset(i), reader.runLength(i), run);
            packets += reader.runPackets(i);
        }
        assertThat(packets).isEqualTo(reader.packets());
    }

    @Provide
    Arbitrary<Mutation> mutations() {
        return Mutation.any();
    }
}
