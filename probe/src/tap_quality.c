/* SPDX-License-Identifier: Apache-2.0 */
#include "tap_quality.h"

/* Copies of a packet by one tap are not further apart; retransmissions are. */
#define CKP_DUPLICATE_NS (2 * CKP_NANOS_PER_MILLI)

/*
 * The same for copies of a packet, also if a router stands between them. 0 if copies cannot be told
 * from what a host sends in earnest: acknowledgments and resets without an IP id.
 */
static uint32_t fingerprint_of(const struct ckp_segment *s)
{
    bool is_telling =
        (s->ip_id | s->payload_bytes | (s->tcp_flags & (CKP_TCP_SYN | CKP_TCP_FIN))) != 0;
    uint64_t numbers = (uint64_t)s->acknowledgment_number << 32 | s->sequence_number;
    uint64_t stamps = (uint64_t)s->timestamp_echo << 32 | s->timestamp_value;
    uint64_t others = (uint64_t)s->ip_id << 48 | (uint64_t)s->direction << 40 |
                      (uint64_t)s->tcp_flags << 32 | s->payload_bytes;
    uint64_t mixed = numbers * UINT64_C(0x9e3779b97f4a7c15) +
                     stamps * UINT64_C(0xbf58476d1ce4e5b9) + others * UINT64_C(0x94d049bb133111eb);

    return is_telling ? (uint32_t)(mixed >> 32) | 1 : 0; /* without a branch */
}

_Static_assert(CKP_COUNT_BYTES_FROM_HIGH == CKP_COUNT_BYTES_FROM_LOW + 1, "see ckp_judge_tap()");

void ckp_judge_tap(struct ckp_counters *counters, struct ckp_flow *flow,
                   const struct ckp_segment *segment)
{
    uint32_t fingerprint = fingerprint_of(segment);
    bool is_from_high = segment->direction ^ flow->is_reversed;
    uint64_t apart_ns = (uint64_t)(segment->time_ns - flow->last_ns + CKP_DUPLICATE_NS);

    flow->has_sent[segment->direction] = true;
    if (fingerprint == flow->fingerprint && fingerprint != 0 && apart_ns <= 2 * CKP_DUPLICATE_NS)
        ckp_count(counters, CKP_COUNT_PACKETS_DUPLICATE, 1);
    flow->fingerprint = fingerprint;
    ckp_count(counters, CKP_COUNT_PACKETS_FROM_LOW, !is_from_high);
    /* By index, for the direction is what no branch predictor foretells. */
    counters->value[CKP_COUNT_BYTES_FROM_LOW + is_from_high] +=
        segment->header_bytes + segment->payload_bytes;
}
