// SPDX-License-Identifier: Apache-2.0
/** The rate of the narrowest link, from packet spacing behind a proven queue. */
@NullMarked
package io.chokepoint.analysis.capacity;

import org.jspecify.annotations.NullMarked;
