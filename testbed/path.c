/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <stdlib.h>
#include <string.h>

/* A held frame that nothing overtakes, at the end of a burst, goes on after this time. */
#define MAX_HOLD_NS (100 * NANOS_PER_MILLI)

/** SplitMix64. */
static uint64_t next_random(struct ckp_path *path)
{
    uint64_t x = path->random_state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static bool happens(struct ckp_path *path, double probability)
{
    return probability > 0 && (double)(next_random(path) >> 11) * 0x1p-53 < probability;
}

static int draw_between(struct ckp_path *path, int min, int max)
{
    return min + (int)(next_random(path) % (uint64_t)(max - min + 1));
}

static int64_t access_ns(const struct ckp_access *access, const struct ckp_frame *frame)
{
    return ckp_serialisation_ns(access->bits_per_second, (int64_t)frame->bytes);
}

static void schedule(struct ckp_path *path, struct ckp_frame *frame, enum ckp_stop stop,
                     int64_t due_ns)
{
    frame->stop = stop;
    frame->due_ns = due_ns;
    ckp_event_queue_push(&path->events, frame);
}

/** Lets the frames go that `frame` was the last to overtake: they follow right behind it. */
static void release_overtaken(struct ckp_path *path, struct ckp_section *section,
                              const struct ckp_frame *frame)
{
    int still_held = 0;

    for (int i = 0; i < section->num_held; i++) {
        struct ckp_frame *held = section->held[i];

        if (--held->overtakers_left > 0) {
            section->held[still_held++] = held;
            continue;
        }
        int64_t behind_ns = frame->due_ns + access_ns(&path->access[held->direction], held);
        if (behind_ns < held->due_ns)
            ckp_event_queue_advance(&path->events, held, behind_ns);
    }
    section->num_held = still_held;
}

/** Forgets a held frame whose time is over. */
static void forget_held(struct ckp_section *section, struct ckp_frame *frame)
{
    int kept = 0;

    for (int i = 0; i < section->num_held; i++)
        if (section->held[i] != frame)
            section->held[kept++] = section->held[i];
    section->num_held = kept;
    frame->overtakers_left = 0;
}

/** Whether the section loses this frame. */
static bool loses(struct ckp_path *path, struct ckp_section *section)
{
    if (++section->num_frames == section->lost_frame_number)
        return true;
    if (happens(path, section->bad ? section->to_good_probability : section->to_bad_probability))
        section->bad = !section->bad;
    return section->bad || happens(path, section->loss_probability);
}

/** When a frame that enters now leaves the section, behind all that entered before it. */
static int64_t leave_section_ns(struct ckp_path *path, struct ckp_section *section, int64_t now_ns)
{
    int64_t due_ns = now_ns + section->delay_ns;

    if (section->jitter_ns > 0)
        due_ns += (int64_t)(next_random(path) % (uint64_t)(section->jitter_ns + 1));
    if (due_ns < section->last_due_ns)
        due_ns = section->last_due_ns;
    return section->last_due_ns = due_ns;
}

/** Sends a frame that is at the section's entry at `now_ns` through it, towards `stop`. */
static void enter_section(struct ckp_path *path, struct ckp_section *section,
                          struct ckp_frame *frame, enum ckp_stop stop, int64_t now_ns)
{
    if (loses(path, section)) {
        ckp_truth_drop(&path->truth, now_ns, frame, CKP_RANDOM_LOSS);
        ckp_path_release(path, frame);
        return;
    }
    bool hold = section->num_held < CKP_MAX_HELD && happens(path, section->reorder_probability);
    if (hold) {
        frame->overtakers_left =
            draw_between(path, section->min_overtakers, section->max_overtakers);
        section->held[section->num_held++] = frame;
        schedule(path, frame, stop, now_ns + section->delay_ns + MAX_HOLD_NS);
        ckp_truth_fate(&path->truth, frame, CKP_REORDERED);
        return;
    }
    schedule(path, frame, stop, leave_section_ns(path, section, now_ns));
    release_overtaken(path, section, frame);
}

/** Lets the link send on, and books what it has dropped and how full it is now. */
static void run_link(struct ckp_path *path, enum ckp_direction direction, int64_t now_ns)
{
    struct ckp_link *link = &path->links[direction];
    struct ckp_frame *frame = ckp_link_start(link, now_ns);

    if (frame)
        schedule(path, frame, CKP_AT_SECOND_TAP, frame->due_ns);
    while ((frame = ckp_link_take_dropped(link))) {
        ckp_truth_drop(&path->truth, now_ns, frame, frame->dropped_as);
        ckp_path_release(path, frame);
    }
    if (direction == CKP_DATA)
        ckp_truth_queue(&path->truth, now_ns, (int32_t)link->queue_bytes);
}

static void leave_link(struct ckp_path *path, const struct ckp_frame *frame, int64_t now_ns)
{
    struct ckp_link *link = &path->links[frame->direction];

    if (frame->direction == CKP_DATA) {
        ckp_truth_busy(&path->truth, link->service_ns, now_ns);
        ckp_truth_carried(&path->truth, now_ns, frame);
    }
    if (frame->marked)
        ckp_truth_fate(&path->truth, frame, CKP_ECN_MARK);
    ckp_link_leave(link);
    run_link(path, frame->direction, now_ns);
}

static void stamp(struct ckp_path *path, enum ckp_tap tap, const struct ckp_frame *frame,
                  int64_t passes_ns)
{
    if (frame->hidden || !ckp_capture_is_open(&path->captures[tap]))
        return;
    ckp_capture_add(&path->captures[tap], path->epoch_ns + passes_ns, frame->data, frame->bytes);
}

struct ckp_frame *ckp_path_take_frame(struct ckp_path *path)
{
    struct ckp_frame *frame = path->free_frames;

    if (frame)
        path->free_frames = frame->next;
    else if (!(frame = malloc(sizeof(*frame))))
        abort();
    return frame;
}

void ckp_path_release(struct ckp_path *path, struct ckp_frame *frame)
{
    frame->next = path->free_frames;
    path->free_frames = frame;
}

static bool is_hidden(const struct ckp_path *path, const struct ckp_frame *frame)
{
    for (size_t i = 0; i < path->num_hidden_ports; i++)
        if (ckp_truth_has_port(&path->truth, frame->flow, path->hidden_ports[i]))
            return true;
    return false;
}

void ckp_path_send(struct ckp_path *path, enum ckp_direction direction, int64_t now_ns,
                   struct ckp_frame *frame)
{
    struct ckp_access *access = &path->access[direction];

    if (frame->bytes < CKP_FRAME_MIN_BYTES) {
        memset(frame->data + frame->bytes, 0, CKP_FRAME_MIN_BYTES - frame->bytes);
        frame->bytes = CKP_FRAME_MIN_BYTES;
    }
    frame->direction = direction;
    frame->overtakers_left = 0;
    frame->marked = false;
    frame->flow = ckp_truth_flow(&path->truth, frame);
    frame->hidden = is_hidden(path, frame);
    if (access->free_ns < now_ns)
        access->free_ns = now_ns;
    access->free_ns += access_ns(access, frame);
    stamp(path, direction == CKP_DATA ? CKP_TAP_SENDER : CKP_TAP_RECEIVER, frame, access->free_ns);
    enum ckp_section_name first = direction == CKP_DATA ? CKP_SENDER : CKP_RECEIVER;
    enter_section(path, &path->sections[direction][first], frame, CKP_AT_FIRST_TAP,
                  access->free_ns);
}

int64_t ckp_path_next_due_ns(const struct ckp_path *path)
{
    const struct ckp_frame *frame = ckp_event_queue_peek(&path->events);

    return frame ? frame->due_ns : INT64_MAX;
}

struct ckp_frame *ckp_path_step(struct ckp_path *path)
{
    struct ckp_frame *frame = ckp_event_queue_pop(&path->events);
    enum ckp_direction direction = frame->direction;
    int64_t now_ns = frame->due_ns;
    bool data = direction == CKP_DATA;
    struct ckp_section *sections = path->sections[frame->direction];
    struct ckp_section *first = &sections[data ? CKP_SENDER : CKP_RECEIVER];
    struct ckp_section *last = &sections[data ? CKP_RECEIVER : CKP_SENDER];

    switch (frame->stop) {
    case CKP_AT_FIRST_TAP:
        if (frame->overtakers_left > 0)
            forget_held(first, frame);
        stamp(path, data ? CKP_TAP_BEFORE : CKP_TAP_AFTER, frame, now_ns);
        enter_section(path, &sections[CKP_MIDDLE], frame, CKP_AT_LINK, frame->due_ns);
        return NULL;
    case CKP_AT_LINK:
        if (frame->overtakers_left > 0)
            forget_held(&sections[CKP_MIDDLE], frame);
        ckp_link_enter(&path->links[direction], frame, now_ns);
        run_link(path, direction, now_ns);
        return NULL;
    case CKP_AT_SECOND_TAP:
        leave_link(path, frame, frame->due_ns);
        stamp(path, data ? CKP_TAP_AFTER : CKP_TAP_BEFORE, frame, now_ns);
        enter_section(path, last, frame, CKP_AT_HOST, frame->due_ns);
        return NULL;
    case CKP_AT_HOST:
        if (frame->overtakers_left > 0)
            forget_held(last, frame);
        stamp(path, data ? CKP_TAP_RECEIVER : CKP_TAP_SENDER, frame, now_ns);
        ckp_truth_fate(&path->truth, frame, CKP_DELIVERED);
        return frame;
    }
    abort();
}

void ckp_path_free(struct ckp_path *path)
{
    while (path->free_frames) {
        struct ckp_frame *next = path->free_frames->next;

        free(path->free_frames);
        path->free_frames = next;
    }
    ckp_event_queue_free(&path->events);
    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
        ckp_link_free(&path->links[direction]);
    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        ckp_capture_free(&path->captures[tap]);
    ckp_truth_free(&path->truth);
}
