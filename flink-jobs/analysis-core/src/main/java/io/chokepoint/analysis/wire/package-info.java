// SPDX-License-Identifier: Apache-2.0
/** Packets and sequence numbers, as TCP means them. */
@NullMarked
package io.chokepoint.analysis.wire;

import org.jspecify.annotations.NullMarked;
