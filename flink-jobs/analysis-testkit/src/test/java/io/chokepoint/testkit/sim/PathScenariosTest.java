// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PathScenariosTest {
    private static final int MSS = 1448;

    static List<PathScenarios.Labelled> catalogue() {
        return PathScenarios.catalogue();
    }

    @ParameterizedTest
    @MethodSource("catalogue")
    void theSendersOwnBooksAgreeWithTheLabel(PathScenarios.Labelled labelled) {
        for (SimulatedFlow flow : PathSimulator.run(labelled.scenario())) {
            assertThat(flow.truth().share(labelled.senderWait()))
                    .as("%s: %s", labelled, flow.truth().slots())
                    .isGreaterThan(0.7);
        }
    }

    /** None of the scenarios reorders: what is sent again was lost, but for the last loss that is still being noticed. */
    @ParameterizedTest
    @MethodSource("catalogue")
    void nothingIsSentAgainThatWasNotLost(PathScenarios.Labelled labelled) {
        for (SimulatedFlow flow : PathSimulator.run(labelled.scenario())) {
            long sentAgain = (flow.truth().retransmittedBytes() + MSS - 1) / MSS;
            assertThat(flow.truth().droppedPackets() - sentAgain).isBetween(0L, 3L);
        }
    }
}
