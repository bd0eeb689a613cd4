// SPDX-License-Identifier: Apache-2.0
/** Test support: packets as text, simulated paths, and an encoder that shares no code with what it tests. */
@NullMarked
package io.chokepoint.testkit;

import org.jspecify.annotations.NullMarked;
