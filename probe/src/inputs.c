/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "log.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <xxhash.h>

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

static void identify(struct ckp_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        uint64_t hash = 0;
        if (!ckp_capture_hash(inputs->captures[i], &hash))
            ckp_log("%s cannot be read to its end", ckp_capture_name(inputs->captures[i]));
        inputs->session = i == 0 ? hash : XXH3_64bits_withSeed(&hash, sizeof hash, inputs->session);
        if (ckp_capture_resolution_ns(inputs->captures[i]) > inputs->resolution_ns)
            inputs->resolution_ns = ckp_capture_resolution_ns(inputs->captures[i]);
    }
}

bool ckp_inputs_open(struct ckp_inputs *inputs, const char *const *paths, size_t count,
                     const char *filter)
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
        struct ckp_capture *capture = ckp_capture_open(paths[i], filter, why, sizeof why);
        if (capture) {
            inputs->captures[inputs->count++] = capture;
        } else {
            inputs->unreadable++;
            ckp_log("%s", why);
        }
    }
    sort_by_first_time(inputs);
    identify(inputs);
    return true;
}

void ckp_inputs_close(struct ckp_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        ckp_capture_close(inputs->captures[i]);
    free(inputs->captures);
    *inputs = (struct ckp_inputs){0};
}
