// SPDX-License-Identifier: Apache-2.0
/**
 * A network in one process: TCP senders and receivers on a path with one bottleneck, seen by a tap before and a tap
 * after it. Deterministic for a seed; the cause of every wait is known because the sender itself books it.
 */
@NullMarked
package io.chokepoint.testkit.sim;

import org.jspecify.annotations.NullMarked;
