// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

/** What became of a run's packets when it was folded in: each run has exactly one fate. */
public enum RunFate {
    /** The run follows the one before it. */
    CONTRIBUTED,
    /** The run contributed, but packets before it are missing. */
    CONTRIBUTED_AFTER_HOLE,
    /** The run had been folded in before: dropped. */
    REPEATED
}
