// SPDX-License-Identifier: Apache-2.0
/** Brings topics and tables to what the schemas say, and asks the tables. */
@NullMarked
package io.chokepoint.cli.migrate;

import org.jspecify.annotations.NullMarked;
