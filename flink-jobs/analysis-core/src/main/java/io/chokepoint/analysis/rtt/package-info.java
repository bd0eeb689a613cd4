// SPDX-License-Identifier: Apache-2.0
/** Round-trip times of both half paths. */
@NullMarked
package io.chokepoint.analysis.rtt;

import org.jspecify.annotations.NullMarked;
