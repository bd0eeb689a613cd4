/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of the machine's clocks. */
#ifndef CKP_CLOCK_H
#define CKP_CLOCK_H

#include "segment.h"

#include <time.h>

static inline int64_t ckp_clock_read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * CKP_NANOS_PER_SECOND + now.tv_nsec;
}

/** Time since an arbitrary start; for time-outs, never for packets. */
static inline int64_t ckp_clock_monotonic_ns(void)
{
    return ckp_clock_read_ns(CLOCK_MONOTONIC);
}

/** Time since the epoch; for packets that nobody else has stamped. */
static inline int64_t ckp_clock_utc_ns(void)
{
    return ckp_clock_read_ns(CLOCK_REALTIME);
}

#endif
