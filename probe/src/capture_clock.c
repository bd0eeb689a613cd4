/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_clock.h"

static bool is_stray(int64_t step_ns)
{
    return step_ns > CKP_CLOCK_LEAP_NS || step_ns < -CKP_CLOCK_LEAP_NS;
}

bool ckp_capture_clock_observe(struct ckp_capture_clock *clock, int64_t time_ns)
{
    if (!clock->is_started) {
        clock->is_started = true;
        clock->believed_ns = time_ns;
    }
    int64_t step_ns = time_ns - clock->believed_ns;
    bool is_leap = is_stray(step_ns);
    if (is_leap && ++clock->strays < CKP_CLOCK_STRAYS)
        return false;

    clock->strays = 0;
    if (is_leap || step_ns > 0)
        clock->believed_ns = time_ns;
    if (step_ns > CKP_CLOCK_CREDIT_NS)
        step_ns = CKP_CLOCK_CREDIT_NS;
    if (step_ns > 0 && clock->now_ns < INT64_MAX / 2)
        clock->now_ns += step_ns;
    return is_leap;
}
