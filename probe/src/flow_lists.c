/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_lists.h"

void ckp_link_run(struct ckp_flow_tracker *tracker, uint32_t handle, struct ckp_flow *flow)
{
    flow->older_run = tracker->newest_run;
    flow->newer_run = CKP_FLOW_NONE;
    if (tracker->newest_run == CKP_FLOW_NONE)
        tracker->oldest_run = handle;
    else
        ckp_flow_at(&tracker->table, tracker->newest_run)->newer_run = handle;
    tracker->newest_run = handle;
    tracker->waiting_runs += !flow->is_held;
}

void ckp_unlink_run(struct ckp_flow_tracker *tracker, const struct ckp_flow *flow)
{
    tracker->waiting_runs -= !flow->is_held;
    if (flow->older_run == CKP_FLOW_NONE)
        tracker->oldest_run = flow->newer_run;
    else
        ckp_flow_at(&tracker->table, flow->older_run)->newer_run = flow->newer_run;
    if (flow->newer_run == CKP_FLOW_NONE)
        tracker->newest_run = flow->older_run;
    else
        ckp_flow_at(&tracker->table, flow->newer_run)->older_run = flow->older_run;
}

void ckp_link_unproven(struct ckp_flow_tracker *tracker, uint32_t handle, struct ckp_flow *flow)
{
    flow->older_unproven = tracker->newest_unproven;
    flow->newer_unproven = CKP_FLOW_NONE;
    if (tracker->newest_unproven == CKP_FLOW_NONE)
        tracker->oldest_unproven = handle;
    else
        ckp_flow_at(&tracker->table, tracker->newest_unproven)->newer_unproven = handle;
    tracker->newest_unproven = handle;
    tracker->unproven++;
}

void ckp_unlink_unproven(struct ckp_flow_tracker *tracker, const struct ckp_flow *flow)
{
    if (flow->older_unproven == CKP_FLOW_NONE)
        tracker->oldest_unproven = flow->newer_unproven;
    else
        ckp_flow_at(&tracker->table, flow->older_unproven)->newer_unproven = flow->newer_unproven;
    if (flow->newer_unproven == CKP_FLOW_NONE)
        tracker->newest_unproven = flow->older_unproven;
    else
        ckp_flow_at(&tracker->table, flow->newer_unproven)->older_unproven = flow->older_unproven;
    tracker->unproven--;
}
