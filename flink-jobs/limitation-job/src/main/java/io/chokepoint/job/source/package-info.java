// SPDX-License-Identifier: Apache-2.0
/** From Kafka records to the runs of flows, and what is refused on the way. */
@NullMarked
package io.chokepoint.job.source;

import org.jspecify.annotations.NullMarked;
