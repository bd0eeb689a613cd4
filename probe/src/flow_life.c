/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_life.h"

bool ckp_flow_is_replaced_by(const struct ckp_flow *flow, const struct ckp_segment *segment)
{
    unsigned sender = segment->direction;
    const bool *is_known = flow->has_initial_sequence_number;
    const uint32_t *isn = flow->initial_sequence_number;

    if ((segment->tcp_flags & CKP_TCP_SYN) == 0)
        return false;
    bool is_other = is_known[sender] && isn[sender] != segment->sequence_number;
    if (segment->tcp_flags & CKP_TCP_ACK)
        return is_other && is_known[!sender] && isn[!sender] != segment->acknowledgment_number - 1;
    return is_other || (!is_known[sender] && !flow->is_bare_syn);
}

static void learn_isn(struct ckp_flow *flow, unsigned direction, uint32_t isn)
{
    if (flow->has_initial_sequence_number[direction])
        return;
    flow->has_initial_sequence_number[direction] = true;
    flow->initial_sequence_number[direction] = isn;
}

void ckp_flow_learn(struct ckp_flow *flow, const struct ckp_segment *segment)
{
    unsigned direction = segment->direction;

    if (segment->tcp_flags & CKP_TCP_SYN) {
        learn_isn(flow, direction, segment->sequence_number);
        if (segment->tcp_flags & CKP_TCP_ACK)
            learn_isn(flow, !direction, segment->acknowledgment_number - 1);
        flow->closing = CKP_END_NONE; /* a reset met what the peer still held: RFC 9293 §3.5.1 */
    }
    if ((segment->tcp_flags & (CKP_TCP_SYN | CKP_TCP_ACK)) != CKP_TCP_SYN)
        flow->is_bare_syn = false;
    if (segment->tcp_flags & CKP_TCP_FIN)
        flow->has_fin[direction] = true;
    if (flow->closing)
        return;
    if (segment->tcp_flags & CKP_TCP_RST)
        flow->closing = CKP_END_RST;
    else if (flow->has_fin[0] && flow->has_fin[1])
        flow->closing = CKP_END_FIN;
}

void ckp_flow_be_born(struct ckp_flow *flow)
{
    flow->has_initial_sequence_number[0] = flow->has_initial_sequence_number[1] = false;
    flow->has_fin[0] = flow->has_fin[1] = false;
    flow->is_bare_syn = true;
    flow->closing = CKP_END_NONE;
    flow->quiet_marks = 0;
    flow->run_end_ns = 0;
    flow->last_ns = flow->start_ns;
}
