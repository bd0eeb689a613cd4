// SPDX-License-Identifier: Apache-2.0
/** Brings rows into ClickHouse, at least once; rows are upserts. */
@NullMarked
package io.chokepoint.job.sink;

import org.jspecify.annotations.NullMarked;
