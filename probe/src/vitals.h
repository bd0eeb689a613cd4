/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running probe tells of itself. One thread writes, the one that receives frames; any may
 * read. It goes on counting in plain memory and copies its counters here a few times a second: no
 * lock, no allocation, and nothing at all for a packet, where atomic counters would cost each one.
 * A reader gets all counters of one moment, so that the books are balanced in it too.
 */
#ifndef CKP_VITALS_H
#define CKP_VITALS_H

#include "counters.h"

#include <stdatomic.h>

/** How often the writer should publish. */
#define CKP_VITALS_PERIOD_NS INT64_C(100000000)

/** Workers of a probe, each with vitals of its own. */
#define CKP_WORKERS_MAX 32u

enum ckp_stage {
    CKP_STAGE_OPENING,
    CKP_STAGE_RECEIVING,
    CKP_STAGE_DRAINING,
};

/** Of one moment. Times are of the monotonic clock. */
struct ckp_vitals_reading {
    uint64_t counter[CKP_COUNTERS];
    int64_t turned_ns; /* the receive loop went round; 0: not yet */
    int64_t frame_ns;  /* frames had come, to within CKP_VITALS_PERIOD_NS; 0: none yet */
    int64_t
        silent_ns; /* how long the sink has waited for an answer that it is owed; 0: it is not */
    uint64_t shed_level;   /* see shedder.h */
    int64_t stamp_step_ns; /* largest power of ten that divides all stamps looked at; 0: none was */
};

#define CKP_VITALS_WORDS (sizeof(struct ckp_vitals_reading) / sizeof(uint64_t))

struct ckp_vitals {
    _Atomic uint32_t sequence; /* odd while the words are being written */
    _Atomic uint64_t word[CKP_VITALS_WORDS];
    _Atomic(enum ckp_stage) stage;
    _Atomic(char *) statistics;       /* librdkafka's newest, not read yet; of whoever takes it */
    struct ckp_vitals_reading newest; /* the writer's own */
};

#define CKP_PORTS_MAX         8u
#define CKP_PORT_EXTENDED_MAX 16u

/** What one port counts, since it was opened. */
struct ckp_port_reading {
    uint64_t received;  /* frames that the workers took */
    uint64_t bytes;     /* of frames, as the driver counts */
    uint64_t missed;    /* counted by the driver: no room in the card's or kernel's queue */
    uint64_t no_buffer; /* we had no buffer left */
    uint64_t errors;    /* the card could not receive them */
    uint64_t deduced;   /* drivers that count nothing: what the interface saw and we did not get */
    uint64_t interface_received; /* by the interface of the kernel */
    uint64_t interface_dropped;  /* by it, before any port saw them */
    uint64_t missed_kernel;      /* of these: not in a figure above, nor in another port's */
    uint64_t has_interface;
    uint64_t is_link_known;
    uint64_t is_link_up;
    uint64_t is_gone; /* its interface; what else is told of that means nothing any more */
    uint64_t link_bits_per_second;            /* 0: unknown */
    uint64_t extended[CKP_PORT_EXTENDED_MAX]; /* the driver's own, in the order of their names */
};

struct ckp_tap_reading {
    struct ckp_port_reading port[CKP_PORTS_MAX];
};

#define CKP_TAP_WORDS (sizeof(struct ckp_tap_reading) / sizeof(uint64_t))

/** Of what all workers have in common: the ports, which one thread reads, and their filter. */
struct ckp_tap_vitals {
    _Atomic uint32_t sequence;
    _Atomic uint64_t word[CKP_TAP_WORDS];
    _Atomic uint64_t filters;         /* taken from --filter-file, the first one included */
    _Atomic uint64_t filters_refused; /* for which the one before stays */
};

void ckp_tap_vitals_publish(struct ckp_tap_vitals *vitals, const struct ckp_tap_reading *reading);

/** Writes the newest that was published. */
void ckp_tap_vitals_read(const struct ckp_tap_vitals *vitals, struct ckp_tap_reading *reading);

/** The writer's. `silent_ns` as above. */
void ckp_vitals_publish(struct ckp_vitals *vitals, const struct ckp_counters *counters,
                        int64_t now_ns, int64_t silent_ns);

/** The writer's, for its next publishing. */
static inline void ckp_vitals_note_shed(struct ckp_vitals *vitals, uint32_t level)
{
    vitals->newest.shed_level = level;
}

/** The writer's: goes out with the next publication. */
void ckp_vitals_note_stamps(struct ckp_vitals *vitals, int64_t step_ns);

void ckp_vitals_set_stage(struct ckp_vitals *vitals, enum ckp_stage stage);

/** Leaves text from malloc() for a reader, in place of what nobody has read. */
void ckp_vitals_put_statistics(struct ckp_vitals *vitals, char *text);

/** A reader's: the newest that was published. */
struct ckp_vitals_reading ckp_vitals_read(const struct ckp_vitals *vitals);

enum ckp_stage ckp_vitals_stage(const struct ckp_vitals *vitals);

/** @return what was left since the last call, to be freed, or NULL */
char *ckp_vitals_take_statistics(struct ckp_vitals *vitals);

#endif
