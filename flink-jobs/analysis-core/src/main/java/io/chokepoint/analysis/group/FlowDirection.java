// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import io.chokepoint.analysis.row.Direction;

/** Names one direction of a flow; in the order of the names. */
record FlowDirection(long flowId, Direction direction) implements Comparable<FlowDirection> {
    @Override
    public int compareTo(FlowDirection other) {
        int order = Long.compareUnsigned(flowId, other.flowId);
        return order != 0 ? order : direction.compareTo(other.direction);
    }
}
