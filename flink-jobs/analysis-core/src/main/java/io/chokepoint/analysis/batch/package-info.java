// SPDX-License-Identifier: Apache-2.0
/** From the bytes on the wire to primitive columns: segment batches, their runs, and the hash of a flow. */
@NullMarked
package io.chokepoint.analysis.batch;

import org.jspecify.annotations.NullMarked;
