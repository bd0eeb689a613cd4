// SPDX-License-Identifier: Apache-2.0
/** Runs the analysis on Flink: lifetime, state, delivery and books. What TCP means is decided in analysis-core. */
@NullMarked
package io.chokepoint.job;

import org.jspecify.annotations.NullMarked;
