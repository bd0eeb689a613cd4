/* SPDX-License-Identifier: Apache-2.0 */
#include "event_queue.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct ckp_frame *a, const struct ckp_frame *b)
{
    if (a->due_ns != b->due_ns)
        return a->due_ns < b->due_ns;
    if (a->stop != b->stop)
        return a->stop > b->stop;
    return a->sequence < b->sequence;
}

static void place(struct ckp_event_queue *queue, size_t index, struct ckp_frame *frame)
{
    queue->frames[index] = frame;
    frame->heap_index = index;
}

static void sift_up(struct ckp_event_queue *queue, struct ckp_frame *frame)
{
    size_t index = frame->heap_index;

    while (index > 0 && before(frame, queue->frames[(index - 1) / 2])) {
        place(queue, index, queue->frames[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    place(queue, index, frame);
}

static void sift_down(struct ckp_event_queue *queue, struct ckp_frame *frame)
{
    size_t index = frame->heap_index;

    for (;;) {
        size_t child = 2 * index + 1;

        if (child >= queue->num_frames)
            break;
        if (child + 1 < queue->num_frames && before(queue->frames[child + 1], queue->frames[child]))
            child++;
        if (!before(queue->frames[child], frame))
            break;
        place(queue, index, queue->frames[child]);
        index = child;
    }
    place(queue, index, frame);
}

void ckp_event_queue_push(struct ckp_event_queue *queue, struct ckp_frame *frame)
{
    if (queue->num_frames == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 4096;
        queue->frames = realloc(queue->frames, queue->capacity * sizeof(queue->frames[0]));
        if (!queue->frames)
            abort();
    }
    frame->sequence = queue->next_sequence++;
    frame->heap_index = queue->num_frames++;
    sift_up(queue, frame);
}

struct ckp_frame *ckp_event_queue_peek(const struct ckp_event_queue *queue)
{
    return queue->num_frames ? queue->frames[0] : NULL;
}

struct ckp_frame *ckp_event_queue_pop(struct ckp_event_queue *queue)
{
    struct ckp_frame *first = queue->frames[0];
    struct ckp_frame *last = queue->frames[--queue->num_frames];

    if (first != last) {
        last->heap_index = 0;
        sift_down(queue, last);
    }
    return first;
}

void ckp_event_queue_advance(struct ckp_event_queue *queue, struct ckp_frame *frame, int64_t due_ns)
{
    assert(due_ns <= frame->due_ns);
    frame->due_ns = due_ns;
    frame->sequence = queue->next_sequence++;
    sift_up(queue, frame);
}

void ckp_event_queue_free(struct ckp_event_queue *queue)
{
    for (size_t i = 0; i < queue->num_frames; i++)
        free(queue->frames[i]);
    free(queue->frames);
}
