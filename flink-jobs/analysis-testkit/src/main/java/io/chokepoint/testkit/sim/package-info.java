// SPDX-License-Identifier: Apache-2.0
/**
 * A network in one process: TCP senders and receivers on a path with one bottleneck, seen by a tap before and a tap
 * after it. Deterministic for a seed; the cause of every wait is known because the sender itself books it.
 *
 * <p>{@link io.chokepoint.testkit.sim.PathSimulator} runs a {@link io.chokepoint.testkit.sim.PathScenario} for tests.
 * {@link io.chokepoint.testkit.sim.SimulatedDataset} writes captures with their truth for the command line to judge: up
 * to 40 Gbit/s and down to round trips of 100 us, where the testbed's real hosts can't go. What it simulates is a model
 * and not a kernel: where both can go, the testbed is right.
 */
@NullMarked
package io.chokepoint.testkit.sim;

import org.jspecify.annotations.NullMarked;
