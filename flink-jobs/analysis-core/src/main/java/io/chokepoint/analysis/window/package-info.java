// SPDX-License-Identifier: Apache-2.0
/** What the sender knew when it sent: acknowledgments and windows on its own time line. */
@NullMarked
package io.chokepoint.analysis.window;

import org.jspecify.annotations.NullMarked;
