/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_sink.h"

#include "avro.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* Workers write whole batches in turn: a lock a batch, none a packet. */
struct stream {
    int descriptor;
    const char *name; /* for people */
    const volatile sig_atomic_t *stop;
    pthread_mutex_t lock;
    int64_t stop_seen_ns; /* 0: not yet */
    _Atomic int error;    /* errno of the write that failed, or 0; nothing is written after it */
    unsigned users;
};

struct stream_sink {
    struct stream *stream;
    struct ckp_counters *counters;
};

/* A pipe that can be written at all takes PIPE_BUF bytes without waiting. */
static ssize_t write_before_end(struct stream *stream, const struct iovec *part)
{
    struct pollfd writable = {.fd = stream->descriptor, .events = POLLOUT};
    int64_t now_ns = ckp_clock_monotonic_ns();

    if (stream->stop_seen_ns == 0)
        stream->stop_seen_ns = now_ns;
    int64_t left_ms = (stream->stop_seen_ns + CKP_SINK_LINGER_NS - now_ns) / CKP_NANOS_PER_MILLI;
    if (poll(&writable, 1, left_ms > 0 ? (int)left_ms : 0) == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    return write(stream->descriptor, part->iov_base,
                 part->iov_len < PIPE_BUF ? part->iov_len : PIPE_BUF);
}

static bool write_all(struct stream *stream, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written = *stream->stop ? write_before_end(stream, parts)
                                        : writev(stream->descriptor, parts, count);
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
    pthread_mutex_lock(&sink->stream->lock);
    if (sink->stream->error == 0 && !write_all(sink->stream, parts, 2))
        sink->stream->error = errno;
    int error = sink->stream->error;
    pthread_mutex_unlock(&sink->stream->lock);
    if (error) {
        ckp_count(sink->counters, CKP_COUNT_BATCHES_UNDELIVERED, 1);
        ckp_count(sink->counters,
                  error == EPIPE ? CKP_COUNT_PACKETS_UNDELIVERED_OUTPUT_CLOSED
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
    return ((const struct stream_sink *)self)->stream->error != 0;
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
    struct stream *stream = sink->stream;
    bool is_last = --stream->users == 0;

    free(sink);
    if (is_last && close(stream->descriptor) != 0 && stream->error == 0)
        stream->error = errno;
    int error = stream->error;
    if (error == EPIPE)
        snprintf(why, why_size, "%s: the reader has ended before the capture", stream->name);
    else if (error)
        snprintf(why, why_size, "%s cannot be written: %s", stream->name, strerror(error));
    if (is_last)
        free(stream);
    return error == 0;
}

static bool use(struct ckp_sink *sink, struct stream *stream, struct ckp_counters *counters)
{
    struct stream_sink *self = malloc(sizeof *self);

    if (!self)
        return false;
    *self = (struct stream_sink){stream, counters};
    stream->users++;
    *sink = (struct ckp_sink){self, deliver, has_failed, tend, NULL, close_stream};
    return true;
}

bool ckp_stream_sink_open(struct ckp_sink *sink, const char *path,
                          const volatile sig_atomic_t *stop, struct ckp_counters *counters,
                          char *why, size_t why_size)
{
    struct stream *stream = calloc(1, sizeof *stream);
    bool is_standard = strcmp(path, "-") == 0;
    int descriptor = STDOUT_FILENO;

    if (!is_standard)
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (stream && descriptor >= 0) {
        stream->descriptor = descriptor;
        stream->name = is_standard ? "standard output" : path;
        stream->stop = stop;
        pthread_mutex_init(&stream->lock, NULL);
        if (use(sink, stream, counters))
            return true;
    }
    snprintf(why, why_size, "output %s cannot be written: %s", path, strerror(errno));
    free(stream);
    return false;
}

bool ckp_stream_sink_share(struct ckp_sink *sink, const struct ckp_sink *other,
                           struct ckp_counters *counters)
{
    return use(sink, ((struct stream_sink *)other->self)->stream, counters);
}
