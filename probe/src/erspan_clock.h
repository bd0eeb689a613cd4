/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. When a mirrored frame passed its switch, by the stamps of ERSPAN III. */
#ifndef CKP_ERSPAN_CLOCK_H
#define CKP_ERSPAN_CLOCK_H

#include "counters.h"
#include "decode.h"

/** Whose time a packet gets that came with a stamp. */
enum ckp_erspan_time {
    CKP_ERSPAN_TIME_STAMP,
    CKP_ERSPAN_TIME_ARRIVAL,
};

/** Unit of a stamp: Gra of draft-foschiano-erspan-03 §4.3. */
enum ckp_erspan_unit {
    CKP_ERSPAN_100_US,
    CKP_ERSPAN_100_NS,
    CKP_ERSPAN_IEEE_1588,
    CKP_ERSPAN_OTHER,
};

/** What a header of ERSPAN III says of time, and whose clock it is: each engine of a switch may
 * have its own. */
struct ckp_erspan_stamp {
    struct ckp_address source; /* of the packet that carries the header */
    uint32_t ticks;            /* wraps */
    uint16_t session_id;
    uint8_t hardware_id;
    enum ckp_erspan_unit unit;
};

/** A stamp is followed no further from arrival than this. Nothing that is written depends on the
 * order of flows whose times differ by no more: GRACE_NS of flow_tracker.c. */
#define CKP_ERSPAN_WAIT_MAX_NS (50 * CKP_NANOS_PER_MILLI)

/** For so long a clock is watched before its stamps are believed. */
#define CKP_ERSPAN_PROOF_NS CKP_NANOS_PER_SECOND

/** Stamps in a row that contradict a clock, but not each other: it was set. */
#define CKP_ERSPAN_STRAYS 8u

#define CKP_ERSPAN_SETS 32u
#define CKP_ERSPAN_WAYS 4u

/** Times are kept modulo the 2^32 ticks after which stamps wrap. */
struct ckp_erspan_source {
    struct ckp_address address;
    uint32_t id; /* session and hardware */
    uint32_t strays;
    int64_t first_ns;        /* arrival of the first frame since the clock was set, */
    int64_t last_ns;         /* and of the last; 0: no source is kept here */
    int64_t window_end_ns;   /* of the present window */
    uint64_t offset_ns;      /* arrival - stamp of a frame that has not waited */
    uint64_t lowest_ns[2];   /* arrival - stamp, in this window and in the one before */
    uint64_t first_stray_ns; /* arrival - stamp of the first stray in a row */
};

/** The clocks that a worker meets. {0} knows none. */
struct ckp_erspan_clocks {
    struct ckp_erspan_source source[CKP_ERSPAN_SETS][CKP_ERSPAN_WAYS];
};

/** Of a packet whose erspan_at is not 0. */
struct ckp_erspan_stamp ckp_erspan_stamp_read(const struct ckp_frame *frame,
                                              const struct ckp_packet *packet);

/**
 * The time of a packet that arrived at `arrival_ns`, in 1970 to 2261. From which moment stamps
 * count nobody tells, so only their differences are used: a stamp plus the lowest arrival - stamp
 * of its source in the last 1 to 2 s, which is that of a frame which waited in no queue. That
 * minimum falls at once and rises by at most 200 ppm, as clocks drift apart; so frames that arrive
 * in their order keep it.
 *
 * @return arrival_ns - CKP_ERSPAN_WAIT_MAX_NS to arrival_ns; exactly that if the stamp says
 * nothing, which is counted, as is each stamp in one of the counters erspan_stamps_*
 */
int64_t ckp_erspan_time_ns(struct ckp_erspan_clocks *clocks, struct ckp_counters *counters,
                           const struct ckp_erspan_stamp *stamp, int64_t arrival_ns);

#endif
