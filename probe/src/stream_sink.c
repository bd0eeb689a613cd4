/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_sink.h"

#include "avro.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

bool ckp_stream_sink_open(struct ckp_stream_sink *sink, const char *path,
                          struct ckp_counters *counters)
{
    bool is_standard = strcmp(path, "-") == 0;

    *sink = (struct ckp_stream_sink){
        .descriptor = is_standard ? STDOUT_FILENO
                                  : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
        .name = is_standard ? "standard output" : path,
        .counters = counters,
    };
    return sink->descriptor >= 0;
}

static bool write_all(int descriptor, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written = writev(descriptor, parts, count);
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

void ckp_stream_sink_deliver(void *stream_sink, const struct ckp_batch *batch)
{
    struct ckp_stream_sink *sink = stream_sink;
    uint8_t length[4];
    struct iovec parts[] = {
        {length, sizeof length},
        {(void *)(uintptr_t)batch->bytes, batch->size_bytes},
    };

    ckp_write_le(length, batch->size_bytes, sizeof length);
    if (sink->error == 0 && !write_all(sink->descriptor, parts, 2))
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

void ckp_stream_sink_close(struct ckp_stream_sink *sink)
{
    if (sink->descriptor >= 0 && close(sink->descriptor) != 0 && sink->error == 0)
        sink->error = errno;
    sink->descriptor = -1;
}
