// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.List;

/**
 * What became of a scenario.
 *
 * @param flows those that the taps are there for
 * @param hiddenFlows others, over the same bottleneck
 * @param bottleneck what the narrowest link did
 */
record Simulation(List<SimulatedFlow> flows, List<SimulatedFlow> hiddenFlows, LinkBooks bottleneck) {}
