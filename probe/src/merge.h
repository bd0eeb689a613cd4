/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Several feeds of one tap -> one stream in the order of the stamps: a fibre tap has a feed
 * for each direction, and a flow that saw the answer before the question would have a forged
 * handshake. */
#ifndef CKP_MERGE_H
#define CKP_MERGE_H

#include "decode.h"

#define CKP_FEEDS_MAX        8u
#define CKP_FEED_PACKETS_MAX 4096u

/** How long a packet waits for an earlier one of a silent feed. */
#define CKP_MERGE_WAIT_NS (5 * CKP_NANOS_PER_MILLI)

struct ckp_feed {
    struct ckp_packet *packets; /* a ring */
    uint32_t first;
    uint32_t count;
};

struct ckp_merge {
    struct ckp_feed feeds[CKP_FEEDS_MAX];
    uint32_t feed_count;
};

/** @return false if there is no memory; then nothing is to be freed */
bool ckp_merge_init(struct ckp_merge *merge, uint32_t feed_count);
void ckp_merge_free(struct ckp_merge *merge);

/** Whether the feed takes one more; if not, something must be popped first. */
bool ckp_merge_has_room(const struct ckp_merge *merge, uint32_t feed);
void ckp_merge_push(struct ckp_merge *merge, uint32_t feed, const struct ckp_packet *packet);

/**
 * The next packet: the earliest, once every feed has one to compare, or it has waited long enough
 * at `now_ns`, or its feed is full.
 *
 * @return NULL if there is none; else valid until the next push
 */
const struct ckp_packet *ckp_merge_pop(struct ckp_merge *merge, int64_t now_ns);

#endif
