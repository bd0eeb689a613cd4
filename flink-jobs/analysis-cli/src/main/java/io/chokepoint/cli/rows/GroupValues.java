// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.BottleneckGroup.Member;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** What people see of a group: the same arithmetic in the same order as in the view {@code bottleneck_groups}. */
public final class GroupValues {
    private static final double BITS_PER_BYTE_TIMES_NANOS_PER_SECOND = 8e9;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double PERMILLE = 1e3;

    private GroupValues() {}

    /** The columns by name, in the order of the contract, behind what kind of record it is. */
    public static Map<String, Object> of(BottleneckGroup group) {
        List<Member> members = group.members();
        double bytes = group.layerBytes();
        Map<String, Object> columns = new LinkedHashMap<>();
        columns.put("record", "bottleneck_group");
        columns.put("tap", group.tap());
        columns.put("window_start", InstantText.of(group.windowStartNanos()));
        columns.put("window_end", InstantText.of(group.windowEndNanos()));
        columns.put("group_id", id(group.groupId()));
        columns.put("version", group.version());
        columns.put("bottleneck_side", label(group.side()));
        columns.put("flows", (long) members.size());
        columns.put("capacity_bits_per_second", group.capacityBitsPerSecond());
        columns.put("capacity_kind", label(group.capacityKind()));
        columns.put(
                "throughput_bits_per_second",
                group.layerBytes() * BITS_PER_BYTE_TIMES_NANOS_PER_SECOND / group.observedNanos());
        columns.put("observed_seconds", group.observedNanos() / NANOS_PER_SECOND);
        columns.put("queue_delay_seconds", group.queueNanos() / NANOS_PER_SECOND);
        columns.put("agreement", group.agreementPermille() / PERMILLE);
        columns.put("largest_flow_id", id(members.get(0).flowId()));
        columns.put("largest_share", members.get(0).layerBytes() / bytes);
        columns.put("member_flow_ids", each(members, member -> id(member.flowId())));
        columns.put("member_directions", each(members, member -> label(member.direction())));
        columns.put("member_bytes", each(members, Member::layerBytes));
        columns.put("member_shares", each(members, member -> member.layerBytes() / bytes));
        columns.put("tenants", group.tenants());
        return columns;
    }

    private static List<Object> each(List<Member> members, Function<Member, Object> value) {
        return members.stream().map(value).toList();
    }

    private static String id(long id) {
        return HexFormat.of().toHexDigits(id);
    }

    private static String label(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
