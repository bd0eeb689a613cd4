/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. How much time has passed at the tap, told from the packets' stamps alone. */
#ifndef CKP_CAPTURE_CLOCK_H
#define CKP_CAPTURE_CLOCK_H

#include "segment.h"

/**
 * Never goes back, and a few wrong stamps do not move it: a stamp that is more than
 * CKP_CLOCK_LEAP_NS ahead of the last believed one, or as far behind it, is believed only once
 * CKP_CLOCK_STRAYS of them came in a row. So one frame stamped 2106 ends nobody's flow. Nothing
 * that is written depends on this clock, only when it is written.
 */
struct ckp_capture_clock {
    int64_t now_ns;      /* since the first packet */
    int64_t believed_ns; /* stamp that now_ns stands for */
    uint32_t strays;
    bool is_started;
};

#define CKP_CLOCK_LEAP_NS (2 * CKP_NANOS_PER_SECOND)
#define CKP_CLOCK_STRAYS  32u

/** A believed leap counts as at most this much time, so that no sequence of leaps overflows. */
#define CKP_CLOCK_CREDIT_NS (3600 * CKP_NANOS_PER_SECOND)

/** @return whether it has just believed a leap, after CKP_CLOCK_STRAYS - 1 frames that it did not
 */
bool ckp_capture_clock_observe(struct ckp_capture_clock *clock, int64_t time_ns);

#endif
