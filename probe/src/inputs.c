/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "log.h"
#include "segment.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <xxhash.h>

/* However silent a pipe is, the stop flag is looked at this often. */
#define LOOK_UP_NS CKP_NANOS_PER_SECOND

/* All captures stay open, for each has shown its first frame and a pipe cannot be opened twice. */
static void allow_many_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Insertion from behind keeps the given order among equals, also among captures without frames. */
static void sort_by_first_time(struct ckp_inputs *inputs)
{
    for (size_t i = 1; i < inputs->count; i++) {
        struct ckp_capture *capture = inputs->captures[i];
        int64_t time_ns = ckp_capture_first_time_ns(capture);
        size_t at = i;
        for (; at > 0 && ckp_capture_first_time_ns(inputs->captures[at - 1]) > time_ns; at--)
            inputs->captures[at] = inputs->captures[at - 1];
        inputs->captures[at] = capture;
    }
}

static void identify(struct ckp_inputs *inputs, const volatile sig_atomic_t *stop)
{
    for (size_t i = 0; i < inputs->count && !*stop; i++) {
        uint64_t hash = 0;
        if (!ckp_capture_hash(inputs->captures[i], stop, &hash) && !*stop)
            ckp_log("%s cannot be read to its end", ckp_capture_name(inputs->captures[i]));
        inputs->session = i == 0 ? hash : XXH3_64bits_withSeed(&hash, sizeof hash, inputs->session);
        if (ckp_capture_resolution_ns(inputs->captures[i]) > inputs->resolution_ns)
            inputs->resolution_ns = ckp_capture_resolution_ns(inputs->captures[i]);
    }
}

bool ckp_inputs_open(struct ckp_inputs *inputs, const char *const *paths, size_t count)
{
    char why[1024];

    *inputs = (struct ckp_inputs){
        .captures = calloc(count ? count : 1, sizeof inputs->captures[0]),
        .resolution_ns = 1,
    };
    if (!inputs->captures)
        return false;
    allow_many_files();
    for (size_t i = 0; i < count; i++) {
        struct ckp_capture *capture = ckp_capture_open(paths[i], why, sizeof why);
        if (capture) {
            inputs->captures[inputs->count++] = capture;
        } else {
            inputs->unreadable++;
            ckp_log("%s", why);
        }
    }
    return true;
}

static int64_t look_at_stop(void *self)
{
    const volatile sig_atomic_t *const *stop = self;

    return **stop ? 0 : LOOK_UP_NS;
}

void ckp_inputs_read_heads(struct ckp_inputs *inputs, const char *filter,
                           const volatile sig_atomic_t *stop)
{
    char why[1024];
    size_t opened = inputs->count;

    inputs->count = 0;
    for (size_t i = 0; i < opened; i++) {
        struct ckp_capture *capture = inputs->captures[i];
        ckp_capture_before_wait(capture, look_at_stop, &stop);
        if (!*stop && ckp_capture_read_head(capture, filter, why, sizeof why)) {
            inputs->captures[inputs->count++] = capture;
            continue;
        }
        ckp_capture_close(capture);
        if (*stop)
            continue;
        inputs->unreadable++;
        ckp_log("%s", why);
    }
    sort_by_first_time(inputs);
    identify(inputs, stop);
    for (size_t i = 0; i < inputs->count; i++)
        ckp_capture_before_wait(inputs->captures[i], NULL, NULL);
}

void ckp_inputs_close(struct ckp_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        ckp_capture_close(inputs->captures[i]);
    free(inputs->captures);
    *inputs = (struct ckp_inputs){0};
}
