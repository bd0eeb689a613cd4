/* SPDX-License-Identifier: Apache-2.0 */
/* Frames ordered by the emulated time of their next event: a binary heap. At the same instant the
 * frame that is farther on its way goes first, so that one that leaves a full queue makes room for
 * one that enters it; otherwise first come, first served. */
#ifndef CKP_TESTBED_EVENT_QUEUE_H
#define CKP_TESTBED_EVENT_QUEUE_H

#include "frame.h"

struct ckp_event_queue {
    struct ckp_frame **frames;
    size_t num_frames;
    size_t capacity;
    uint64_t next_sequence;
};

void ckp_event_queue_push(struct ckp_event_queue *queue, struct ckp_frame *frame);

/** The earliest frame, still queued; NULL if there is none. */
struct ckp_frame *ckp_event_queue_peek(const struct ckp_event_queue *queue);

struct ckp_frame *ckp_event_queue_pop(struct ckp_event_queue *queue);

/** Moves a queued frame to an earlier time. */
void ckp_event_queue_advance(struct ckp_event_queue *queue, struct ckp_frame *frame,
                             int64_t due_ns);

void ckp_event_queue_free(struct ckp_event_queue *queue);

#endif
