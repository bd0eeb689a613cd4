/* SPDX-License-Identifier: Apache-2.0 */
/* A batch stream on a file or pipe: little-endian u32 length + the bytes of one Kafka value. */
#ifndef CKP_STREAM_SINK_H
#define CKP_STREAM_SINK_H

#include "batch.h"

struct ckp_stream_sink {
    int descriptor;
    const char *name; /* for people */
    struct ckp_counters *counters;
    int error; /* errno of the write that failed, or 0; nothing is written after it */
};

/** Opens the file anew, or takes standard output for "-". @return false with errno set */
bool ckp_stream_sink_open(struct ckp_stream_sink *sink, const char *path,
                          struct ckp_counters *counters);

/** A ckp_deliver_fn; waits as long as the reader takes. */
void ckp_stream_sink_deliver(void *stream_sink, const struct ckp_batch *batch);

/** Some file systems tell of a full disk only now. */
void ckp_stream_sink_close(struct ckp_stream_sink *sink);

#endif
