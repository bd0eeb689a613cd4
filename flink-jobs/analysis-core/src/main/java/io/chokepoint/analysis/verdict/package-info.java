// SPDX-License-Identifier: Apache-2.0
/** From evidence to causes: waits, shares, scores, root cause. */
@NullMarked
package io.chokepoint.analysis.verdict;

import org.jspecify.annotations.NullMarked;
