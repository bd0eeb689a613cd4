// SPDX-License-Identifier: Apache-2.0
/** Fetches the last seconds of a flow out of the ring of a probe. */
@NullMarked
package io.chokepoint.cli.capture;

import org.jspecify.annotations.NullMarked;
