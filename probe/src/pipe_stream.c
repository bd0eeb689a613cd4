/* SPDX-License-Identifier: Apache-2.0 */
#include "pipe_stream.h"

#include "segment.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static bool await_bytes(const struct ckp_pipe *pipe)
{
    struct pollfd readable = {.fd = pipe->descriptor, .events = POLLIN};
    int ready = 0;

    while (ready == 0 && pipe->before_wait) {
        int64_t wait_ns = pipe->before_wait(pipe->self);
        if (wait_ns == 0) {
            errno = ECANCELED;
            return false;
        }
        const struct timespec wait = {.tv_sec = wait_ns / CKP_NANOS_PER_SECOND,
                                      .tv_nsec = wait_ns % CKP_NANOS_PER_SECOND};
        ready = ppoll(&readable, 1, &wait, NULL);
    }
    return ready >= 0;
}

static ssize_t read_pipe(void *self, char *bytes, size_t count)
{
    const struct ckp_pipe *pipe = self;

    return await_bytes(pipe) ? read(pipe->descriptor, bytes, count) : -1;
}

static int close_pipe(void *self)
{
    return close(((const struct ckp_pipe *)self)->descriptor);
}

FILE *ckp_pipe_stream_open(struct ckp_pipe *pipe)
{
    return fopencookie(pipe, "rb", (cookie_io_functions_t){.read = read_pipe, .close = close_pipe});
}
