/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <math.h>
#include <stdlib.h>

#define DRR_QUANTUM_BYTES 1514
#define CODEL_SPARE_BYTES 1514 /* a queue this short is no queue, RFC 8289 §4.4 */
#define ETHERNET_BYTES 14
#define ECN_CE 3U

int64_t ckp_serialisation_ns(double bits_per_second, int64_t bytes)
{
    return llround((double)(bytes * BITS_PER_BYTE * NANOS_PER_SECOND) / bits_per_second);
}

/* ---- token bucket ----------------------------------------------------------------------- */

/** When, not before `now_ns`, there are tokens for so many bytes. */
static int64_t conforms_ns(const struct ckp_bucket *bucket, int64_t bytes, int64_t now_ns)
{
    if (bucket->bits_per_second <= 0)
        return now_ns;
    int64_t at_ns = bucket->full_ns -
                    ckp_serialisation_ns(bucket->bits_per_second, bucket->burst_bytes - bytes);
    return at_ns > now_ns ? at_ns : now_ns;
}

static void take_tokens(struct ckp_bucket *bucket, int64_t bytes, int64_t at_ns)
{
    if (bucket->bits_per_second <= 0)
        return;
    if (bucket->full_ns < at_ns)
        bucket->full_ns = at_ns;
    bucket->full_ns += ckp_serialisation_ns(bucket->bits_per_second, bytes);
}

/* ---- queues ----------------------------------------------------------------------------- */

static void append(struct ckp_queue *queue, struct ckp_frame *frame)
{
    frame->next = NULL;
    if (queue->tail)
        queue->tail->next = frame;
    else
        queue->head = frame;
    queue->tail = frame;
    queue->bytes += (int64_t)frame->bytes;
}

static struct ckp_frame *pop(struct ckp_queue *queue)
{
    struct ckp_frame *frame = queue->head;

    if (!frame)
        return NULL;
    queue->head = frame->next;
    if (!queue->head)
        queue->tail = NULL;
    queue->bytes -= (int64_t)frame->bytes;
    return frame;
}

static void append_active(struct ckp_link *link, struct ckp_queue *queue)
{
    queue->active = true;
    queue->next_active = NULL;
    if (link->last_active)
        link->last_active->next_active = queue;
    else
        link->first_active = queue;
    link->last_active = queue;
}

static void pop_active(struct ckp_link *link)
{
    struct ckp_queue *queue = link->first_active;

    queue->active = false;
    link->first_active = queue->next_active;
    if (!link->first_active)
        link->last_active = NULL;
}

static void drop(struct ckp_link *link, struct ckp_frame *frame, enum ckp_fate fate)
{
    frame->dropped_as = fate;
    frame->next = link->dropped;
    link->dropped = frame;
}

static struct ckp_queue *longest_queue(struct ckp_link *link)
{
    struct ckp_queue *longest = link->first_active;

    for (struct ckp_queue *queue = longest; queue; queue = queue->next_active)
        if (queue->bytes > longest->bytes)
            longest = queue;
    return longest;
}

void ckp_link_enter(struct ckp_link *link, struct ckp_frame *frame, int64_t now_ns)
{
    struct ckp_queue *queue = &link->queues[link->fair ? frame->flow : 0];
    int64_t frame_bytes = (int64_t)frame->bytes;

    if (conforms_ns(&link->policer, frame_bytes, now_ns) > now_ns) {
        drop(link, frame, CKP_POLICER_DROP);
        return;
    }
    take_tokens(&link->policer, frame_bytes, now_ns);
    if (!link->fair && link->queue_bytes + frame_bytes > link->queue_limit_bytes) {
        drop(link, frame, CKP_QUEUE_DROP);
        return;
    }
    frame->queued_ns = now_ns;
    append(queue, frame);
    link->queue_bytes += frame_bytes;
    if (!queue->active)
        append_active(link, queue);
    while (link->queue_bytes > link->queue_limit_bytes) {
        struct ckp_frame *victim = pop(longest_queue(link));

        if (!victim)
            return;
        link->queue_bytes -= (int64_t)victim->bytes;
        drop(link, victim, CKP_QUEUE_DROP);
    }
}

/* ---- CoDel ------------------------------------------------------------------------------ */

/** Marks an ECN capable frame as having met congestion; false if it is not capable. */
static bool mark(struct ckp_frame *frame)
{
    uint8_t *ip = frame->data + ETHERNET_BYTES;
    unsigned type = (unsigned)frame->data[12] << 8 | frame->data[13];

    if (type == 0x0800 && (ip[1] & ECN_CE) != 0) {
        uint32_t before = (uint32_t)ip[0] << 8 | ip[1];
        uint32_t checksum = (uint32_t)ip[10] << 8 | ip[11];

        ip[1] |= ECN_CE;
        uint32_t after = (uint32_t)ip[0] << 8 | ip[1];
        uint32_t sum = (~checksum & 0xffff) + (~before & 0xffff) + after; /* RFC 1624, eq. 3 */
        sum = (sum & 0xffff) + (sum >> 16);
        sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
        ip[10] = (uint8_t)(sum >> 8);
        ip[11] = (uint8_t)sum;
    } else if (type == 0x86dd && (ip[1] >> 4 & ECN_CE) != 0) {
        ip[1] |= ECN_CE << 4;
    } else {
        return false;
    }
    frame->marked = true;
    return true;
}

static int64_t control_law_ns(const struct ckp_link *link, int64_t at_ns, uint32_t count)
{
    return at_ns + llround((double)link->codel_interval_ns / sqrt(count));
}

/** Pops a frame; *ok_to_drop tells whether the delay has stood above the target for an interval. */
static struct ckp_frame *pop_judged(struct ckp_link *link, struct ckp_queue *queue, int64_t now_ns,
                                    bool *ok_to_drop)
{
    struct ckp_codel *codel = &queue->codel;
    struct ckp_frame *frame = pop(queue);

    *ok_to_drop = false;
    if (!frame || now_ns - frame->queued_ns < link->codel_target_ns ||
        queue->bytes + (int64_t)frame->bytes <= CODEL_SPARE_BYTES)
        codel->first_above_ns = 0;
    else if (codel->first_above_ns == 0)
        codel->first_above_ns = now_ns + link->codel_interval_ns;
    else
        *ok_to_drop = now_ns >= codel->first_above_ns;
    return frame;
}

/** Marks the frame, or drops it and pops the next. */
static struct ckp_frame *signal_congestion(struct ckp_link *link, struct ckp_queue *queue,
                                           struct ckp_frame *frame, int64_t now_ns,
                                           bool *ok_to_drop)
{
    if (mark(frame))
        return frame;
    link->queue_bytes -= (int64_t)frame->bytes;
    drop(link, frame, CKP_CODEL_DROP);
    return pop_judged(link, queue, now_ns, ok_to_drop);
}

/** RFC 8289 §5.5. */
static struct ckp_frame *pop_controlled(struct ckp_link *link, struct ckp_queue *queue,
                                        int64_t now_ns)
{
    struct ckp_codel *codel = &queue->codel;
    bool ok_to_drop;

    if (link->codel_target_ns <= 0)
        return pop(queue);
    struct ckp_frame *frame = pop_judged(link, queue, now_ns, &ok_to_drop);
    if (!ok_to_drop) {
        codel->dropping = false;
        return frame;
    }
    if (!codel->dropping) {
        uint32_t delta = codel->count - codel->last_count;
        bool recently = now_ns - codel->drop_next_ns < 16 * link->codel_interval_ns;

        frame = signal_congestion(link, queue, frame, now_ns, &ok_to_drop);
        codel->dropping = true;
        codel->count = delta > 1 && recently ? delta : 1;
        codel->drop_next_ns = control_law_ns(link, now_ns, codel->count);
        codel->last_count = codel->count;
        return frame;
    }
    while (codel->dropping && now_ns >= codel->drop_next_ns) {
        codel->count++;
        struct ckp_frame *kept = signal_congestion(link, queue, frame, now_ns, &ok_to_drop);

        codel->drop_next_ns = control_law_ns(link, codel->drop_next_ns, codel->count);
        if (kept == frame)
            break;
        frame = kept;
        codel->dropping = ok_to_drop;
    }
    return frame;
}

/* ---- sending ---------------------------------------------------------------------------- */

/** Deficit round robin over the queues that hold frames. */
static struct ckp_frame *pop_next(struct ckp_link *link, int64_t now_ns)
{
    while (link->first_active) {
        struct ckp_queue *queue = link->first_active;

        if (queue->head && queue->deficit_bytes < (int64_t)queue->head->bytes) {
            queue->deficit_bytes += DRR_QUANTUM_BYTES;
            pop_active(link);
            append_active(link, queue);
            continue;
        }
        struct ckp_frame *frame = pop_controlled(link, queue, now_ns);
        if (frame)
            queue->deficit_bytes -= (int64_t)frame->bytes;
        if (!queue->head) {
            queue->deficit_bytes = 0;
            pop_active(link);
        }
        if (frame)
            return frame;
    }
    return NULL;
}

struct ckp_frame *ckp_link_start(struct ckp_link *link, int64_t now_ns)
{
    if (link->sending || !(link->sending = pop_next(link, now_ns)))
        return NULL;
    struct ckp_frame *frame = link->sending;
    int64_t start_ns = conforms_ns(&link->shaper, (int64_t)frame->bytes, now_ns);

    take_tokens(&link->shaper, (int64_t)frame->bytes, start_ns);
    link->service_ns = now_ns;
    frame->due_ns = start_ns + ckp_serialisation_ns(link->bits_per_second, (int64_t)frame->bytes);
    return frame;
}

void ckp_link_leave(struct ckp_link *link)
{
    link->queue_bytes -= (int64_t)link->sending->bytes;
    link->sending = NULL;
}

struct ckp_frame *ckp_link_take_dropped(struct ckp_link *link)
{
    struct ckp_frame *frame = link->dropped;

    if (frame)
        link->dropped = frame->next;
    return frame;
}

void ckp_link_free(struct ckp_link *link)
{
    for (size_t i = 0; i < CKP_MAX_FLOWS; i++)
        for (struct ckp_frame *frame; (frame = pop(&link->queues[i]));)
            free(frame);
}
