// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

/**
 * What became of a run when it was folded in: each has exactly one fate. So has each of its packets; those that had been
 * folded in before are repeated, also of a run that contributed others.
 */
public enum RunFate {
    /** The run follows the one before it. */
    CONTRIBUTED,
    /** The run contributed, but packets before it are missing. */
    CONTRIBUTED_AFTER_HOLE,
    /** All of the run had been folded in before: dropped. */
    REPEATED
}
