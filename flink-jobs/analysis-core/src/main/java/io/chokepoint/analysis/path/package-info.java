// SPDX-License-Identifier: Apache-2.0
/** One flow at many taps: what they see together, and between which of them its limit lies. */
@NullMarked
package io.chokepoint.analysis.path;

import org.jspecify.annotations.NullMarked;
