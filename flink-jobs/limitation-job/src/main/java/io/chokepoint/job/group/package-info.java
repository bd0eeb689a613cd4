// SPDX-License-Identifier: Apache-2.0
/** Who shares a bottleneck, window by window: what is decided is decided in the core. */
@NullMarked
package io.chokepoint.job.group;

import org.jspecify.annotations.NullMarked;
