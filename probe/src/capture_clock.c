/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_clock.h"

void ckp_capture_clock_observe(struct ckp_capture_clock *clock, int64_t time_ns)
{
    int64_t step_ns = time_ns - clock->believed_ns;

    if (!clock->is_started) {
        clock->is_started = true;
        clock->believed_ns = time_ns;
        return;
    }
    if (step_ns > CKP_CLOCK_LEAP_NS || step_ns < -CKP_CLOCK_LEAP_NS) {
        if (++clock->strays < CKP_CLOCK_STRAYS)
            return;
        clock->believed_ns = time_ns;
    }
    clock->strays = 0;
    if (step_ns <= 0)
        return;
    clock->believed_ns = time_ns;
    if (step_ns > CKP_CLOCK_CREDIT_NS)
        step_ns = CKP_CLOCK_CREDIT_NS;
    if (clock->now_ns < INT64_MAX / 2)
        clock->now_ns += step_ns;
}
