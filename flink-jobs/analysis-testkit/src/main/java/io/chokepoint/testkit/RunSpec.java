// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.util.List;

/**
 * One run to be encoded.
 *
 * @param flowStartNs time of the flow's first packet
 * @param packetsBefore packets of the flow in its earlier runs
 * @param observedUntilNs what the tap has seen of the flow
 * @param endReason symbol of the schema's EndReason
 * @param packets 0..256, none in a mark
 */
public record RunSpec(
        Flow flow,
        long flowStartNs,
        long packetsBefore,
        long observedUntilNs,
        String endReason,
        List<Packet> packets) {}
