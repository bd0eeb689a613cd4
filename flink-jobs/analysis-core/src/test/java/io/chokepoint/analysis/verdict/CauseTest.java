// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CauseTest {
    @Test
    void threeCausesSayThatAPathIsFull() {
        assertThat(Arrays.stream(Cause.values()).filter(Cause::isFullPath))
                .containsExactly(Cause.UNSHARED_BOTTLENECK, Cause.SHARED_BOTTLENECK, Cause.QUEUE_UNDECIDED);
    }
}
