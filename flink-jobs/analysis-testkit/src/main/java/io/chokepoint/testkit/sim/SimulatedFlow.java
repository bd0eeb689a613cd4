// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import java.util.List;

/**
 * A flow as two taps saw it, and what its sender knows.
 *
 * @param flow A is the client
 * @param before packets at the tap between sender and bottleneck
 * @param after packets at the tap between bottleneck and receiver
 * @param truth what the sender waited for
 */
public record SimulatedFlow(Flow flow, List<Packet> before, List<Packet> after, Truth truth) {}
