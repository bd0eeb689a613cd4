// SPDX-License-Identifier: Apache-2.0
/** What a packet below the expected sequence number means: retransmission, reordering, duplicate or capture loss. */
@NullMarked
package io.chokepoint.analysis.loss;

import org.jspecify.annotations.NullMarked;
