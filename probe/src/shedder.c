/* SPDX-License-Identifier: Apache-2.0 */
#include "shedder.h"

#define FALL_NS INT64_C(1000000000) /* from bucket to bucket, once it is calm */

/* Less is no overload but a hiccup, told by counters; a lot less does not even keep flows out. So is
 * more in one period alone: the probe stood still for a moment, and what it lost is lost. What
 * lies between, and does not end while flows are left out, asks for one bucket more. */
#define LOSS_HIGH    0.005
#define LOSS_LOW     0.0005
#define LOSS_LASTING INT64_C(1000000000)

/* Of few frames a few lost ones are a large share, and no sign of overload. */
#define FRAMES_MIN 1000u

/* So many frames may lie in a queue: an interface has seen them, and they are not lost. */
#define IN_FLIGHT_FRAMES 4096u

/* A queue that fills beyond the high mark raises the level; one above the low mark holds it. */
#define FILL_HIGH 0.75
#define FILL_LOW  0.5

#define RISE_MAX 0.25 /* of the buckets still watched, in one period */

_Static_assert(CKP_SHED_BUCKETS == UINT64_C(1) << (64 - 58), "as many as ckp_shed_bucket() gives");

void ckp_shedder_init(struct ckp_shedder *shedder)
{
    *shedder = (struct ckp_shedder){.calm_ns = CKP_SHED_CALM_NS};
}

static uint64_t growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/* Frames deduced as lost go up and down with what lies in the queue: only what exceeds their
 * highest count so far by more than that is loss. */
static uint64_t take_deduced(struct ckp_shedder *shedder, uint64_t deduced)
{
    uint64_t lost = growth(shedder->before.frames_deduced, deduced);

    if (lost <= IN_FLIGHT_FRAMES)
        return 0;
    shedder->before.frames_deduced = deduced;
    return lost;
}

static double loss_share(struct ckp_shedder *shedder, const struct ckp_pressure *pressure)
{
    const struct ckp_pressure *before = &shedder->before;
    uint64_t lost = growth(before->frames_missed, pressure->frames_missed) +
                    take_deduced(shedder, pressure->frames_deduced);
    uint64_t all = lost + growth(before->frames_received, pressure->frames_received);

    return (double)lost / (double)(all > FRAMES_MIN ? all : FRAMES_MIN);
}

/* The share of what is watched that has to go; a queue that shrinks has been seen to already. */
static double excess(double fill_before, double fill)
{
    if (fill < FILL_HIGH || fill < fill_before)
        return 0;
    double share = RISE_MAX * (fill - FILL_HIGH) / (1 - FILL_HIGH);
    return share > 0 ? share : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void rise(struct ckp_shedder *shedder, double share, int64_t now_ns)
{
    uint32_t watched = CKP_SHED_BUCKETS - shedder->level;
    double wanted = (share < RISE_MAX ? share : RISE_MAX) * watched;
    uint32_t buckets = 1 + (uint32_t)wanted; /* more than is wanted: the queue is to drain */

    shedder->level += buckets < watched ? buckets : watched - 1;
    if (shedder->has_fallen && shedder->calm_ns < CKP_SHED_CALM_MAX_NS)
        shedder->calm_ns *= 2;
    shedder->has_fallen = false;
    shedder->lossless_ns = now_ns;
}

static void fall(struct ckp_shedder *shedder, int64_t now_ns)
{
    if (now_ns - shedder->pressed_ns < shedder->calm_ns)
        return;
    if (shedder->level > 0 && now_ns - shedder->fallen_ns >= FALL_NS) {
        shedder->level--;
        shedder->has_fallen = true;
        shedder->fallen_ns = now_ns;
    } else if (shedder->level == 0 && now_ns - shedder->fallen_ns >= shedder->calm_ns) {
        shedder->calm_ns = CKP_SHED_CALM_NS; /* it is over */
        shedder->has_fallen = false;
    }
}

uint32_t ckp_shedder_decide(struct ckp_shedder *shedder, const struct ckp_pressure *pressure)
{
    if (!shedder->has_begun) {
        shedder->has_begun = true;
        shedder->pressed_ns = shedder->lossless_ns = shedder->fallen_ns = pressure->now_ns;
    }
    double lost = loss_share(shedder, pressure);
    double queued = larger(excess(shedder->before.receive_fill, pressure->receive_fill),
                           excess(shedder->before.output_fill, pressure->output_fill));
    double fill = larger(pressure->receive_fill, pressure->output_fill);

    if (lost >= LOSS_LOW || fill >= FILL_LOW)
        shedder->pressed_ns = pressure->now_ns;
    if (lost < LOSS_LOW)
        shedder->lossless_ns = pressure->now_ns;
    bool lasts = shedder->level > 0 && pressure->now_ns - shedder->lossless_ns >= LOSS_LASTING;
    bool is_again = lost >= LOSS_HIGH && shedder->has_lost;
    shedder->has_lost = lost >= LOSS_HIGH;
    if (is_again || queued > 0 || lasts)
        rise(shedder, larger(lost, queued), pressure->now_ns);
    else
        fall(shedder, pressure->now_ns);

    uint64_t deduced = shedder->before.frames_deduced;
    shedder->before = *pressure;
    shedder->before.frames_deduced = deduced;
    return shedder->level;
}
