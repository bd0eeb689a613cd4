// SPDX-License-Identifier: Apache-2.0
/** Captures to verdicts without a cluster: one probe a tap, its runs folded into the same analysis as in the Flink job. */
@NullMarked
package io.chokepoint.cli.analyze;

import org.jspecify.annotations.NullMarked;
