/* SPDX-License-Identifier: Apache-2.0 */
/* Where batches go: a stream (stream_sink.h) or Kafka (kafka_sink.h). */
#ifndef CKP_SINK_H
#define CKP_SINK_H

#include "batch.h"

#include <signal.h>

/** Once the probe has been told to end, a sink waits for so long at most in all. */
#define CKP_SINK_LINGER_NS (4 * CKP_NANOS_PER_SECOND)

struct ckp_sink {
    void *self;
    ckp_deliver_fn *deliver;
    /** Whether nothing can be delivered any more: reading on is in vain. */
    bool (*has_failed)(const void *self);
    /** Looks at what has come back, without waiting; to be called a few times a second, also when
     * there is nothing to deliver. @return for how many ns it has been owed an answer; 0: it is not
     */
    int64_t (*tend)(void *self);
    /** How full its queue is, 0..1; NULL: it has none. */
    double (*fill)(const void *self);
    /** Waits until all is delivered, or counted as undelivered, and frees everything. On failure
     * writes one sentence into `why` and returns false. */
    bool (*close)(void *self, char *why, size_t why_size);
};

#endif
