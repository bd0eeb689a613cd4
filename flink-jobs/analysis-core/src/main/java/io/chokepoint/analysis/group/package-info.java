// SPDX-License-Identifier: Apache-2.0
/** Which flows of a tap share a bottleneck: told by the delay of its queue, which is the same for all of them. */
@NullMarked
package io.chokepoint.analysis.group;

import org.jspecify.annotations.NullMarked;
