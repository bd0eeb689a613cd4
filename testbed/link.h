/* SPDX-License-Identifier: Apache-2.0 */
/* A link: serialises one frame at a time, queues the others, drops what does not fit.
 *
 *   enter ──> policer ──> queue, or one queue a flow (DRR) ──> CoDel ──> shaper ──> serialisation
 *
 * Pure arithmetic on the time that it is given. Frames that it drops are handed out by
 * ckp_link_take_dropped(). A link whose fields beyond the first two are zero is a drop-tail FIFO.
 */
#ifndef CKP_TESTBED_LINK_H
#define CKP_TESTBED_LINK_H

#include <stdbool.h>

#include "frame.h"

/** Tokens of `bits_per_second`, at most `burst_bytes` of them; none at all if the rate is 0. */
struct ckp_bucket {
    double bits_per_second;
    int64_t burst_bytes;
    int64_t full_ns; /* when it will be full again if nothing takes from it */
};

/** State of CoDel for one queue, RFC 8289 §5.3. */
struct ckp_codel {
    int64_t first_above_ns;
    int64_t drop_next_ns;
    uint32_t count, last_count;
    bool dropping;
};

struct ckp_queue {
    struct ckp_frame *head, *tail;
    int64_t bytes;
    int64_t deficit_bytes; /* what it may still send in this round of DRR */
    struct ckp_codel codel;
    struct ckp_queue *next_active;
    bool active;
};

struct ckp_link {
    double bits_per_second;
    int64_t queue_limit_bytes; /* waiting frames and the one being sent */
    int64_t codel_target_ns;   /* 0: no CoDel */
    int64_t codel_interval_ns;
    bool fair; /* a queue for each flow, served by deficit round robin */
    struct ckp_bucket policer, shaper;

    int64_t queue_bytes;
    int64_t service_ns; /* since when the frame being sent is at its head, tokens or not */
    struct ckp_frame *sending;
    struct ckp_queue queues[CKP_MAX_FLOWS];
    struct ckp_queue *first_active, *last_active;
    struct ckp_frame *dropped;
};

int64_t ckp_serialisation_ns(double bits_per_second, int64_t bytes);

/** A frame arrives; the link owns it from now on. */
void ckp_link_enter(struct ckp_link *link, struct ckp_frame *frame, int64_t now_ns);

/**
 * Begins to send the next frame, if none is being sent.
 *
 * @return the frame, whose `due_ns` is its departure; NULL if there is none
 */
struct ckp_frame *ckp_link_start(struct ckp_link *link, int64_t now_ns);

/** The frame being sent has left. */
void ckp_link_leave(struct ckp_link *link);

/** A frame that the link has dropped, with its fate; NULL if there is none left. */
struct ckp_frame *ckp_link_take_dropped(struct ckp_link *link);

/** Frees all frames that wait. */
void ckp_link_free(struct ckp_link *link);

#endif
