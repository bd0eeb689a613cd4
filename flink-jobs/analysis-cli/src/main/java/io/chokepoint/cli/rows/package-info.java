// SPDX-License-Identifier: Apache-2.0
/** Rows as people and programs see them: values, texts and formats. */
@NullMarked
package io.chokepoint.cli.rows;

import org.jspecify.annotations.NullMarked;
