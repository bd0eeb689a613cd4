/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Runs and summaries -> segment batches, one open batch a partition, flushed by size and by
 * age. */
#ifndef CKP_BATCH_H
#define CKP_BATCH_H

#include "counters.h"
#include "summary.h"

/** The symbols of the schema's enum TimestampSource, in its order. */
enum ckp_timestamp_source {
    CKP_TIMESTAMP_UNKNOWN,
    CKP_TIMESTAMP_FILE,
    CKP_TIMESTAMP_NIC,
    CKP_TIMESTAMP_KERNEL,
    CKP_TIMESTAMP_BURST,
};

/** A finished batch: one Kafka value. The bytes are valid during the call only. */
struct ckp_batch {
    const uint8_t *bytes;
    size_t size_bytes;
    uint32_t partition;
    uint32_t packets; /* in runs and summaries */
};

/** Takes a batch for good or counts it, and its packets, as undelivered: never fails silently. */
typedef void ckp_deliver_fn(void *sink, const struct ckp_batch *batch);

/** Of all batches of a partition so far, the open one included. Each number only grows, so that
 * they make sense at any moment at which the process may be killed. */
struct ckp_partition_totals {
    uint64_t batches;
    uint64_t packets; /* in runs */
    uint64_t summarised_packets;
};

struct ckp_batch_config {
    const char *probe;
    const char *tap;
    uint64_t session;
    uint32_t worker;
    uint32_t partition_count;
    uint64_t hash_seed;
    uint64_t schema_fingerprint;
    size_t flush_bytes; /* of runs and summaries; a batch is at most one of them larger */
    int64_t flush_delay_ns;
    enum ckp_timestamp_source timestamp_source;
    int64_t timestamp_resolution_ns;
    struct ckp_partition_totals *totals; /* borrowed, of each partition; NULL: the batcher's own */
};

#define CKP_NAME_BYTES_MAX 255u

struct ckp_partition {
    uint8_t *bytes; /* NULL while the partition has no open batch */
    uint32_t runs_bytes;
    uint32_t runs;
    uint32_t packets; /* in runs */
    uint32_t summaries_bytes;
    uint32_t summaries;
    uint32_t summarised_packets;
    uint32_t older; /* list of open batches in order of opening */
    uint32_t newer;
    int64_t opened_ns;
};

struct ckp_batcher {
    struct ckp_batch_config config;
    struct ckp_counters *counters;
    ckp_deliver_fn *deliver;
    void *sink;
    struct ckp_partition *partitions;
    struct ckp_partition_totals *totals; /* of each */
    struct ckp_partition_totals *own_totals;
    uint32_t oldest; /* open batch */
    uint32_t newest;
    uint8_t *spare;       /* buffers without a batch, each pointing to the next */
    int64_t told_ns;      /* when the last batch was opened */
    uint64_t frames_told; /* CKP_COUNT_FRAMES_RECEIVED in the last header */
};

/** @return false if there is no memory */
bool ckp_batcher_init(struct ckp_batcher *batcher, const struct ckp_batch_config *config,
                      struct ckp_counters *counters, ckp_deliver_fn *deliver, void *sink);
void ckp_batcher_free(struct ckp_batcher *batcher);

/** Adds a run to its partition's batch at capture clock `now_ns` and counts its packets. */
void ckp_batcher_add(struct ckp_batcher *batcher, uint32_t partition, const struct ckp_run *run,
                     int64_t now_ns);

/** The same for a whole flow. */
void ckp_batcher_add_summary(struct ckp_batcher *batcher, uint32_t partition,
                             const struct ckp_summary *summary, int64_t now_ns);

/** Delivers the batches opened at least flush_delay_ns ago. */
void ckp_batcher_flush_due(struct ckp_batcher *batcher, int64_t now_ns);

bool ckp_batcher_has_open(const struct ckp_batcher *batcher);

/** Delivers all that is open. */
void ckp_batcher_flush(struct ckp_batcher *batcher);

/** Delivers an empty batch, for its counters, if there was no batch for `silence_ns`. */
void ckp_batcher_tell(struct ckp_batcher *batcher, int64_t now_ns, int64_t silence_ns);

/** Delivers an empty batch of a partition that has none open, for its numbers. */
void ckp_batcher_tell_partition(struct ckp_batcher *batcher, uint32_t partition);

/** Delivers all that is open; if frames came after the last header, an empty batch tells of them.
 */
void ckp_batcher_finish(struct ckp_batcher *batcher);

#endif
