/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Lists through the flows of a tracker: those with an open run, in order of opening, and
 * those that may be of a flood, in order of their start. */
#ifndef CKP_FLOW_LISTS_H
#define CKP_FLOW_LISTS_H

#include "flow_tracker.h"

void ckp_link_run(struct ckp_flow_tracker *tracker, uint32_t handle, struct ckp_flow *flow);
void ckp_unlink_run(struct ckp_flow_tracker *tracker, const struct ckp_flow *flow);
void ckp_link_unproven(struct ckp_flow_tracker *tracker, uint32_t handle, struct ckp_flow *flow);
void ckp_unlink_unproven(struct ckp_flow_tracker *tracker, const struct ckp_flow *flow);

#endif
