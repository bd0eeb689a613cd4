// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.sink;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.BottleneckGroup.Member;
import java.util.List;

/** Makes the bytes of the rows of groups. */
public final class GroupRows {
    private static final long NANOS_PER_DAY = 86_400_000_000_000L;

    private final RowBinary out = new RowBinary();

    /** Equal groups have equal bytes. */
    public EncodedRow encode(BottleneckGroup group) {
        int members = group.members().size();
        out.reset()
                .putString(group.tap())
                .putLong(group.windowStartNanos())
                .putLong(group.windowEndNanos())
                .putHex(group.groupId())
                .putLong(group.version())
                .putByte(group.side().ordinal())
                .putLong(group.capacityBitsPerSecond())
                .putByte(group.capacityKind().ordinal())
                .putLong(group.observedNanos())
                .putLong(group.queueNanos())
                .putShort(group.agreementPermille())
                .putLength(members);
        for (Member member : group.members()) {
            out.putHex(member.flowId());
        }
        out.putLength(members);
        for (Member member : group.members()) {
            out.putByte(member.direction().ordinal());
        }
        out.putLength(members);
        for (Member member : group.members()) {
            out.putLong(member.layerBytes());
        }
        List<String> tenants = group.tenants();
        out.putLength(tenants.size());
        tenants.forEach(out::putString);
        int day = (int) Math.floorDiv(group.windowStartNanos(), NANOS_PER_DAY);
        return new EncodedRow(Table.BOTTLENECK_GROUPS, day, out.toByteArray());
    }
}
