// SPDX-License-Identifier: Apache-2.0
/** The rows of the contract: their columns, values and texts. */
@NullMarked
package io.chokepoint.analysis.row;

import org.jspecify.annotations.NullMarked;
