/* SPDX-License-Identifier: Apache-2.0 */
/* One Ethernet frame on its way through the emulated path. */
#ifndef CKP_TESTBED_FRAME_H
#define CKP_TESTBED_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CKP_FRAME_MAX_BYTES 9216 /* jumbo */
#define CKP_FRAME_MIN_BYTES 60   /* Ethernet pads shorter frames; the FCS is not counted */

#define CKP_MAX_FLOWS 256

#define NANOS_PER_SECOND INT64_C(1000000000)
#define NANOS_PER_MILLI INT64_C(1000000)
#define NANOS_PER_MICRO INT64_C(1000)
#define BITS_PER_BYTE 8

enum ckp_direction { CKP_DATA, CKP_ACK, CKP_NUM_DIRECTIONS };

/** The place a frame reaches next, in the order of the way. */
enum ckp_stop { CKP_AT_FIRST_TAP, CKP_AT_LINK, CKP_AT_SECOND_TAP, CKP_AT_HOST };

/** The fate of a frame at one place. */
enum ckp_fate {
    CKP_DELIVERED,
    CKP_QUEUE_DROP,
    CKP_POLICER_DROP,
    CKP_CODEL_DROP,
    CKP_RANDOM_LOSS,
    CKP_REORDERED,
    CKP_ECN_MARK,
    CKP_NUM_FATES
};

struct ckp_frame {
    int64_t due_ns;    /* emulated time at which the frame reaches `stop` */
    uint64_t sequence; /* ties: first scheduled, first served */
    size_t heap_index;
    struct ckp_frame *next; /* in the queue of a link, or in the list of free frames */
    enum ckp_direction direction;
    enum ckp_stop stop;
    int overtakers_left; /* > 0 while held back */
    uint16_t flow;       /* row of the ground truth */
    bool hidden;         /* no tap sees it */
    bool marked;         /* CE was set on the way */
    int64_t queued_ns;   /* when it came to the link */
    enum ckp_fate dropped_as;
    size_t bytes;
    uint8_t data[CKP_FRAME_MAX_BYTES];
};

#endif
