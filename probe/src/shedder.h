/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Which flows are left out while the probe cannot keep up. Frames lost at random would look
 * like loss on the path; flows left out as a whole only narrow the view.
 *
 * Flows fall into buckets by a hash that all taps compute alike, and buckets are left out in their
 * order: a tap at a higher level leaves out what one at a lower level does, and more.
 */
#ifndef CKP_SHEDDER_H
#define CKP_SHEDDER_H

#include "flow_key.h"

#define CKP_SHED_BUCKETS 64u

/** How often the shedder should be asked. */
#define CKP_SHED_PERIOD_NS INT64_C(100000000)

/** Without a sign of pressure for so long a bucket comes back; see ckp_shedder_decide(). */
#define CKP_SHED_CALM_NS     INT64_C(10000000000)
#define CKP_SHED_CALM_MAX_NS (32 * CKP_SHED_CALM_NS)

/** Fill of a queue that has not been asked. */
#define CKP_FILL_UNKNOWN (-1.0)

/** How hard-pressed the probe is. Counters are since its start. */
struct ckp_pressure {
    int64_t now_ns; /* of a clock that is never set */
    uint64_t frames_received;
    uint64_t frames_missed;  /* counted, because the probe was too slow for them */
    uint64_t frames_deduced; /* seen by an interface and not received; some may still come */
    double receive_fill;     /* of the fullest receive queue, 0..1 */
    double output_fill;      /* of the queue to Kafka, 0..1 */
};

struct ckp_shedder {
    uint32_t level; /* buckets left out: 0..CKP_SHED_BUCKETS - 1 */
    bool has_begun;
    bool has_fallen; /* since it last rose */
    bool has_lost;   /* many frames, in the period before */
    struct ckp_pressure before;
    int64_t pressed_ns;  /* last sign of pressure */
    int64_t lossless_ns; /* last period without loss, or last rise */
    int64_t fallen_ns;
    int64_t calm_ns; /* how long it must be calm before a bucket comes back */
};

void ckp_shedder_init(struct ckp_shedder *shedder);

/**
 * Takes what has happened since the last call, and decides. The level rises, in proportion to the
 * share of frames that were lost for the second time in a row or to how full a queue is, by about a
 * quarter of what is still watched at most. It falls after CKP_SHED_CALM_NS without pressure, by one bucket a second;
 * each time that brings the pressure back, it waits twice as long as before, up to
 * CKP_SHED_CALM_MAX_NS.
 *
 * So no bucket is left out twice within CKP_SHED_CALM_NS.
 *
 * @return the level
 */
uint32_t ckp_shedder_decide(struct ckp_shedder *shedder, const struct ckp_pressure *pressure);

/** @param seed the same for all taps; the highest bits are free, for partitions take low ones */
static inline uint32_t ckp_shed_bucket(const struct ckp_flow_key *key, uint64_t seed)
{
    return (uint32_t)(ckp_flow_key_hash(key, seed) >> 58);
}

#endif
