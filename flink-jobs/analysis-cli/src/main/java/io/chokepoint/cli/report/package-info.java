// SPDX-License-Identifier: Apache-2.0
/** Verdicts out of the tables, as people read them. */
@NullMarked
package io.chokepoint.cli.report;

import org.jspecify.annotations.NullMarked;
