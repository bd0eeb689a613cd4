// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.row.RcaCause;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PublishedTreeTest {
    @ParameterizedTest(name = "{0}: {5}")
    @CsvSource({
        "the path is filled,                       0.19,  0.5,   1,    1,     UNSHARED_BOTTLENECK",
        "more than filled,                         -0.05, 0,     0,    0,     UNSHARED_BOTTLENECK",
        "at the first cut it is not,               0.2,   0.011, 0,    0,     SHARED_BOTTLENECK",
        "not filled and lossy,                     0.9,   0.02,  0,    0,     SHARED_BOTTLENECK",
        "lossy and at the window,                  0.9,   0.02,  1,    1,     SHARED_BOTTLENECK",
        "at the window and silent for long,         0.9,   0,     0.51, 0.11,  RECEIVER_WINDOW",
        "the same with a little loss,              0.9,   0.01,  0.51, 0.11,  RECEIVER_WINDOW",
        "at the window and never silent,            0.9,   0,     0.51, -0.11, SHARED_BOTTLENECK",
        "at the window and a little silent,         0.9,   0,     0.51, 0.1,   MIXED",
        "at the window and a little too large,      0.9,   0,     0.51, -0.1,  MIXED",
        "half of the time at the window,           0.9,   0,     0.5,  1,     MIXED",
        "hardly ever at the window,                0.9,   0,     1e-9, 0,     MIXED",
        "a single loss,                            0.9,   1e-9,  0,    0,     MIXED",
        "no loss and never at the window,           0.9,   0,     0,    1,     TRANSPORT",
        "no loss and never at the window and no gap, 0.9,   0,     0,    -5,    TRANSPORT",
    })
    void everyLeafIsReached(
            String name,
            double dispersion,
            double retransmission,
            double receiverWindow,
            double burstiness,
            RcaCause expected) {
        assertThat(PublishedTree.classify(dispersion, retransmission, receiverWindow, burstiness))
                .as(name)
                .isEqualTo(expected);
    }
}
