/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. What packets say about the life of one flow. */
#ifndef CKP_FLOW_LIFE_H
#define CKP_FLOW_LIFE_H

#include "flow_table.h"

/** Before its first packet, which came at start_ns. */
void ckp_flow_be_born(struct ckp_flow *flow);

/**
 * A SYN is of this flow if its ISN is known, or if so far there was only the peer's SYN (both may
 * open at once: RFC 9293 §3.5). Any other SYN starts a new flow on the same ports. If that one was
 * missed its SYN-ACK tells, but only by both ISNs: one alone differs too when a late copy of an
 * earlier connection's comes in between, or when the peer, keeping no state, answers a repeated SYN
 * by another cookie (RFC 4987 §3.6).
 */
bool ckp_flow_is_replaced_by(const struct ckp_flow *flow, const struct ckp_segment *segment);

/** What the flags of a packet of the flow say about its life. */
void ckp_flow_learn(struct ckp_flow *flow, const struct ckp_segment *segment);

#endif
