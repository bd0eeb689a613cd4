// SPDX-License-Identifier: Apache-2.0
/** Keeps the analysis of every flow at every tap for as long as the flow lives. */
@NullMarked
package io.chokepoint.job.flow;

import org.jspecify.annotations.NullMarked;
