/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated path, as pure arithmetic on emulated time: no clock, no interface, no file.
 *
 *   data sender ── access ── sender ──┬── middle ── LINK ──┬── receiver ── access ── data receiver
 *      host         link     section  │   section          │   section      link        host
 *                                tap "before"         tap "after"
 *
 * Frames of the ACK direction travel from right to left through the same sections and through a
 * link of their own. A section delays, loses and reorders; a link serialises and queues. A tap
 * stamps a frame when its last bit passes, so behind a link the stamp is the departure. Two more
 * taps may sit at the hosts' ends of the outer sections.
 */
#ifndef CKP_TESTBED_PATH_H
#define CKP_TESTBED_PATH_H

#include "capture_file.h"
#include "event_queue.h"
#include "frame.h"
#include "ground_truth.h"
#include "link.h"

#define CKP_MAX_HELD 64
#define CKP_MAX_HIDDEN_PORTS 64

enum ckp_section_name { CKP_SENDER, CKP_MIDDLE, CKP_RECEIVER, CKP_NUM_SECTIONS };
enum ckp_tap {
    CKP_TAP_BEFORE,
    CKP_TAP_AFTER,
    CKP_TAP_SENDER,   /* at the sender's own link; open only if asked for */
    CKP_TAP_RECEIVER, /* at the receiver's */
    CKP_NUM_TAPS
};

struct ckp_section {
    int64_t delay_ns;
    int64_t jitter_ns; /* at most so much more, drawn for each frame; order is kept */
    int64_t last_due_ns;
    double loss_probability;
    double to_bad_probability; /* Gilbert-Elliott: in the bad state every frame is lost */
    double to_good_probability;
    bool bad;
    uint64_t lost_frame_number; /* this one is lost, counted from 1; 0: none */
    uint64_t num_frames;
    double reorder_probability; /* a frame is held back ... */
    int min_overtakers;         /* ... until so many later frames have passed it, */
    int max_overtakers;
    struct ckp_frame *held[CKP_MAX_HELD];
    int num_held;
};

/** The host's own interface: serialises, and never drops. */
struct ckp_access {
    double bits_per_second;
    int64_t free_ns;
};

struct ckp_path {
    struct ckp_section sections[CKP_NUM_DIRECTIONS][CKP_NUM_SECTIONS];
    struct ckp_access access[CKP_NUM_DIRECTIONS]; /* of the host that sends in this direction */
    struct ckp_link links[CKP_NUM_DIRECTIONS];
    uint16_t hidden_ports[CKP_MAX_HIDDEN_PORTS]; /* flows that no tap sees */
    size_t num_hidden_ports;
    uint64_t random_state;

    int64_t epoch_ns; /* emulated time 0 in Unix time, for the captures */
    struct ckp_capture captures[CKP_NUM_TAPS];
    struct ckp_ground_truth truth;

    struct ckp_event_queue events;
    struct ckp_frame *free_frames;
};

/** A frame to fill; the path owns it again with ckp_path_send() or ckp_path_release(). */
struct ckp_frame *ckp_path_take_frame(struct ckp_path *path);

void ckp_path_release(struct ckp_path *path, struct ckp_frame *frame);

/** A host sends the frame at `now_ns`, which must not lie before the last event. */
void ckp_path_send(struct ckp_path *path, enum ckp_direction direction, int64_t now_ns,
                   struct ckp_frame *frame);

/** When the next event is due; INT64_MAX if there is none. */
int64_t ckp_path_next_due_ns(const struct ckp_path *path);

/**
 * Executes the next event.
 *
 * @return the frame if it has reached its host (the caller releases it), otherwise NULL
 */
struct ckp_frame *ckp_path_step(struct ckp_path *path);

void ckp_path_free(struct ckp_path *path);

#endif
