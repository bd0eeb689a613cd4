/* SPDX-License-Identifier: Apache-2.0 */
#include "file_play.h"

#include "clock.h"
#include "exit_code.h"
#include "inputs.h"
#include "log.h"
#include "output.h"
#include "worker.h"

#include <stdlib.h>

/* However silent a pipe is, the stop flag and the output are looked at this often. */
#define LOOK_UP_NS CKP_NANOS_PER_SECOND

/* Frames between two looks at the clock while frames keep coming: less than CKP_VITALS_PERIOD_NS.
 */
#define TEND_FRAMES 16384u

struct play {
    const struct ckp_options *options;
    const volatile sig_atomic_t *stop;
    struct ckp_inputs inputs;
    struct ckp_worker worker;
    struct ckp_output output;
    uint32_t frames; /* of this call, modulo 2^32 */
};

static bool goes_on(const struct play *play)
{
    return !*play->stop && !ckp_output_has_failed(&play->output, 0);
}

static int64_t before_wait(void *self)
{
    struct play *play = self;
    int64_t now_ns = ckp_clock_monotonic_ns();
    int64_t wait_ns = ckp_worker_before_wait(&play->worker, now_ns);

    ckp_output_tend(&play->output, 0, now_ns);
    if (!goes_on(play))
        return 0;
    return wait_ns < LOOK_UP_NS ? wait_ns : LOOK_UP_NS;
}

/* Reads one capture to its end. @return false if that was not possible */
static bool read_capture(struct play *play, struct ckp_capture *capture)
{
    struct ckp_frame frame;

    ckp_capture_before_wait(capture, before_wait, play);
    while (goes_on(play)) {
        if (++play->frames % TEND_FRAMES == 0)
            ckp_output_tend(&play->output, 0, ckp_clock_monotonic_ns());
        switch (ckp_capture_next(capture, &frame)) {
        case CKP_CAPTURE_FRAME:
            ckp_worker_observe(&play->worker, ckp_capture_link(capture), &frame);
            break;
        case CKP_CAPTURE_FILTERED:
            ckp_worker_leave_out(&play->worker);
            break;
        case CKP_CAPTURE_END:
            return true;
        case CKP_CAPTURE_CUT_OFF:
            ckp_count(play->worker.counters, CKP_COUNT_CAPTURES_CUT_OFF, 1);
            ckp_log("%s is cut off at its end, all whole frames were read",
                    ckp_capture_name(capture));
            return true;
        case CKP_CAPTURE_FAILED:
            if (goes_on(play))
                ckp_log("%s", ckp_capture_error(capture));
            return !goes_on(play);
        }
    }
    return true;
}

static int play_inputs(struct play *play)
{
    bool is_complete = play->inputs.unreadable == 0;

    for (size_t i = 0; i < play->inputs.count; i++)
        is_complete &= read_capture(play, play->inputs.captures[i]);
    ckp_output_drain(&play->output);
    ckp_worker_finish(&play->worker);
    is_complete &= ckp_output_close(&play->output);
    return is_complete ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}

static void read_heads(void *self, struct ckp_source *source)
{
    struct play *play = self;

    ckp_inputs_read_heads(&play->inputs, ckp_option_text(play->options, CKP_OPTION_FILTER),
                          play->stop);
    source->session = play->inputs.session;
    source->timestamp_resolution_ns = play->inputs.resolution_ns;
}

static int open_and_play(struct play *play)
{
    const struct ckp_source source = {
        .learn = read_heads,
        .self = play,
        .has_hash_as_session = true,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .stop = play->stop,
        .is_lossless = true,
        .receiving_workers = 1,
    };
    int code = ckp_output_open(&play->output, play->options, &source, &play->worker, 1);

    return code == CKP_EXIT_ALL_DONE ? play_inputs(play) : code;
}

int ckp_play_files(const struct ckp_options *options, const volatile sig_atomic_t *stop)
{
    int code = CKP_EXIT_NOT_ALL_DONE;
    struct play *play = calloc(1, sizeof *play);

    if (play && ckp_inputs_open(&play->inputs, options->files, options->file_count)) {
        play->options = options;
        play->stop = stop;
        code = open_and_play(play);
        ckp_inputs_close(&play->inputs);
    } else {
        ckp_log("there is no memory");
    }
    free(play);
    return code;
}
