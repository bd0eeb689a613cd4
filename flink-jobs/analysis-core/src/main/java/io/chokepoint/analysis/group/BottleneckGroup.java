// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.row.BottleneckSide;
import io.chokepoint.analysis.row.CapacityKind;
import io.chokepoint.analysis.row.Direction;
import java.util.List;

/**
 * Flows of a tap that stood in one queue during one window; without members it takes back an earlier one of its name.
 *
 * @param tap name of the tap
 * @param windowStartNanos begin of the window, ns since the epoch
 * @param groupId names the group within tap and window: that of its first member by name, so most groups keep it
 * @param version of rows with the same key the highest counts: analysis generation × 2⁴⁸ + bytes behind it
 * @param side where the queue stood, along the data
 * @param capacityBitsPerSecond rate of the link they share, 0 without members
 * @param capacityKind whether a member has proven it; else it is what they were seen to take together
 * @param observedNanos time in which any member sent and a queue stood
 * @param queueNanos mean delay of the queue, weighted by bytes
 * @param agreementPermille mean concordance of the members' delays
 * @param members at least two, or none; the largest taker first
 */
public record BottleneckGroup(
        String tap,
        long windowStartNanos,
        long groupId,
        long version,
        BottleneckSide side,
        long capacityBitsPerSecond,
        CapacityKind capacityKind,
        long observedNanos,
        long queueNanos,
        int agreementPermille,
        List<Member> members) {

    /**
     * A direction of a flow.
     *
     * @param layerBytes sent while a queue stood, on the layer of the rates
     * @param tenants whose its ends are: none, one or two
     */
    public record Member(long flowId, Direction direction, long layerBytes, List<String> tenants) {}

    /**
     * Tenants who may know of the group, by name: those who have an end of every member. The row tells of all members,
     * so who has some of them only must not see it.
     */
    public List<String> tenants() {
        if (members.isEmpty()) {
            return List.of();
        }
        return members.get(0).tenants().stream()
                .filter(tenant ->
                        members.stream().allMatch(member -> member.tenants().contains(tenant)))
                .toList();
    }

    /** End of the window, ns since the epoch, not part of it. */
    public long windowEndNanos() {
        return windowStartNanos + Grouping.WINDOW_NANOS;
    }

    /** Bytes of all members. */
    public long layerBytes() {
        return members.stream().mapToLong(Member::layerBytes).sum();
    }

    /** Takes back the group of that name, which later observations have made another. */
    static BottleneckGroup takenBack(String tap, long windowStartNanos, long groupId, long version) {
        return new BottleneckGroup(
                tap,
                windowStartNanos,
                groupId,
                version,
                BottleneckSide.BEFORE_TAP,
                0,
                CapacityKind.LOWER_BOUND,
                0,
                0,
                0,
                List.of());
    }

    /** The name of a group whose first member this is. */
    static long groupId(long flowId, Direction direction) {
        return FlowHash.next(flowId, direction.ordinal());
    }
}
