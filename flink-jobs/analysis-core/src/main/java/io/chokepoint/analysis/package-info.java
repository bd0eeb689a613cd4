// SPDX-License-Identifier: Apache-2.0
/**
 * What limits a TCP flow, decided from the packets that one tap saw. Pure: no Flink, no Kafka, no clock, no logger; time
 * is data.
 */
@NullMarked
package io.chokepoint.analysis;

import org.jspecify.annotations.NullMarked;
