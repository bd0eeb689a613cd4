// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What is known of a window of a tap beside its observations, which the driver stores: in memory, or as state to which it
 * only appends. What is told of a window is a function of the set of its observations: not of their order, nor of how often
 * any of them came, nor of when the window was told before.
 *
 * @param stored observations in the store, repeats too
 * @param isWaiting whether something came since it was told
 * @param version of the rows that were told last, 0 before
 * @param told names of the groups that were told last
 */
public record GroupWindow(int stored, boolean isWaiting, long version, List<Long> told) {
    /** Nothing came yet. */
    public static final GroupWindow EMPTY = new GroupWindow(0, false, 0, List.of());

    /**
     * The window without what does not count.
     *
     * @param kept observations that the store is to hold instead of all
     * @param repeated how many were there already
     * @param evicted how many more a second had than count
     */
    public record Thinned(GroupWindow window, List<Observation> kept, int repeated, int evicted) {}

    /** The window when it was told, and its rows. */
    public record Told(GroupWindow window, List<BottleneckGroup> groups) {}

    /** One more is in the store. */
    public GroupWindow withOneMore() {
        return new GroupWindow(stored + 1, true, version, told);
    }

    /** Whether the store is to be thinned out before it takes more. */
    public boolean isFull() {
        return stored > Grouping.MAX_KEPT;
    }

    /** Keeps of what is stored the largest takers, each second of a flow once: a capture may be played again. */
    public Thinned thin(Iterable<Observation> all) {
        Set<Observation> known = new LinkedHashSet<>();
        int came = 0;
        for (Observation observation : all) {
            known.add(observation);
            came++;
        }
        List<Observation> kept = Grouping.largest(known);
        return new Thinned(
                new GroupWindow(kept.size(), isWaiting, version, told),
                kept,
                came - known.size(),
                known.size() - kept.size());
    }

    /**
     * Tells what is new: nothing if all that came since was known, or too small to count.
     *
     * @param kept observations that {@link #thin} has left
     * @param generation version of the analysis
     */
    public Told tell(String tap, long windowStart, long generation, Collection<Observation> kept) {
        long now = Grouping.version(generation, kept);
        if (!isWaiting || now == version) {
            return new Told(new GroupWindow(stored, false, version, told), List.of());
        }
        List<BottleneckGroup> groups = Grouping.judge(tap, windowStart, kept, now, told);
        List<Long> names = new ArrayList<>();
        groups.forEach(group -> names.add(group.groupId()));
        return new Told(new GroupWindow(stored, false, now, List.copyOf(names)), groups);
    }
}
