// SPDX-License-Identifier: Apache-2.0
/** Counts what was consumed and what became of it, in exactly-once state. */
@NullMarked
package io.chokepoint.job.books;

import org.jspecify.annotations.NullMarked;
