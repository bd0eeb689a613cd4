// SPDX-License-Identifier: Apache-2.0
/** Looks at every hop of the pipeline. */
@NullMarked
package io.chokepoint.cli.doctor;

import org.jspecify.annotations.NullMarked;
