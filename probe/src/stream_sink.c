/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_sink.h"

#include "avro.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

struct stream_sink {
    int descriptor;
    const char *name; /* for people */
    struct ckp_counters *counters;
    const volatile sig_atomic_t *stop;
    int64_t stop_seen_ns; /* 0: not yet */
    int error;            /* errno of the write that failed, or 0; nothing is written after it */
};

/* A pipe that can be written at all takes PIPE_BUF bytes without waiting. */
static ssize_t write_before_end(struct stream_sink *sink, const struct iovec *part)
{
    struct pollfd writable = {.fd = sink->descriptor, .events = POLLOUT};
    int64_t now_ns = ckp_clock_monotonic_ns();

    if (sink->stop_seen_ns == 0)
        sink->stop_seen_ns = now_ns;
    int64_t left_ms = (sink->stop_seen_ns + CKP_SINK_LINGER_NS - now_ns) / CKP_NANOS_PER_MILLI;
    if (poll(&writable, 1, left_ms > 0 ? (int)left_ms : 0) == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    return write(sink->descriptor, part->iov_base,
                 part->iov_len < PIPE_BUF ? part->iov_len : PIPE_BUF);
}

static bool write_all(struct stream_sink *sink, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written =
            *sink->stop ? write_before_end(sink, parts) : writev(sink->descriptor, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        for (; count > 0 && (size_t)written >= parts->iov_len; parts++, count--)
            written -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (uint8_t *)parts->iov_base + written;
            parts->iov_len -= (size_t)written;
        }
    }
    return true;
}

static void deliver(void *self, const struct ckp_batch *batch)
{
    struct stream_sink *sink = self;
    uint8_t length[4];
    struct iovec parts[] = {
        {length, sizeof length},
        {(void *)(uintptr_t)batch->bytes, batch->size_bytes},
    };

    ckp_write_le(length, batch->size_bytes, sizeof length);
    if (sink->error == 0 && !write_all(sink, parts, 2))
        sink->error = errno;
    if (sink->error) {
        ckp_count(sink->counters, CKP_COUNT_BATCHES_UNDELIVERED, 1);
        ckp_count(sink->counters,
                  sink->error == EPIPE ? CKP_COUNT_PACKETS_UNDELIVERED_OUTPUT_CLOSED
                                       : CKP_COUNT_PACKETS_UNDELIVERED_OUTPUT_FAILED,
                  batch->packets);
        return;
    }
    ckp_count(sink->counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(sink->counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
    ckp_count(sink->counters, CKP_COUNT_BYTES_DELIVERED, batch->size_bytes);
}

static bool has_failed(const void *self)
{
    return ((const struct stream_sink *)self)->error != 0;
}

static int64_t tend(void *self)
{
    (void)self;
    return 0;
}

/* Some file systems tell of a full disk only when the file is closed. */
static bool close_stream(void *self, char *why, size_t why_size)
{
    struct stream_sink *sink = self;

    if (close(sink->descriptor) != 0 && sink->error == 0)
        sink->error = errno;
    int error = sink->error;
    if (error == EPIPE)
        snprintf(why, why_size, "%s: the reader has ended before the capture", sink->name);
    else if (error)
        snprintf(why, why_size, "%s cannot be written: %s", sink->name, strerror(error));
    free(sink);
    return error == 0;
}

bool ckp_stream_sink_open(struct ckp_sink *sink, const char *path,
                          const volatile sig_atomic_t *stop, struct ckp_counters *counters,
                          char *why, size_t why_size)
{
    struct stream_sink *self = calloc(1, sizeof *self);
    bool is_standard = strcmp(path, "-") == 0;
    int descriptor = STDOUT_FILENO;

    if (!is_standard)
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!self || descriptor < 0) {
        snprintf(why, why_size, "output %s cannot be written: %s", path, strerror(errno));
        free(self);
        return false;
    }
    *self = (struct stream_sink){
        .descriptor = descriptor,
        .name = is_standard ? "standard output" : path,
        .counters = counters,
        .stop = stop,
    };
    *sink = (struct ckp_sink){self, deliver, has_failed, tend, close_stream};
    return true;
}
