/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. How good the tap is: directions, and packets shown twice. */
#ifndef CKP_TAP_QUALITY_H
#define CKP_TAP_QUALITY_H

#include "counters.h"
#include "flow_table.h"

/** Counts what a packet, not yet added to its flow, says of the tap. */
void ckp_judge_tap(struct ckp_counters *counters, struct ckp_flow *flow,
                   const struct ckp_segment *segment);

#endif
