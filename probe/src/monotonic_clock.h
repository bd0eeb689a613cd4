/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of the machine's clock. */
#ifndef CKP_MONOTONIC_CLOCK_H
#define CKP_MONOTONIC_CLOCK_H

#include "segment.h"

#include <time.h>

/** Time since an arbitrary start; for time-outs, never for packets. */
static inline int64_t ckp_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * CKP_NANOS_PER_SECOND + now.tv_nsec;
}

#endif
