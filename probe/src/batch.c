/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include "avro.h"

#include <stdlib.h>

#define NO_PARTITION UINT32_MAX

/* Before the runs: marker, fingerprint, two names, 11 numbers, the counters and two array counts.
 * Behind them: the array's end, two numbers, and the count and the end of the summaries. */
#define COUNTER_BYTES_MAX (64u + CKP_VARINT_BYTES_MAX)
#define HEADER_BYTES_MAX                                                                           \
    (10u + 2 * (2 + CKP_NAME_BYTES_MAX) + 13 * CKP_VARINT_BYTES_MAX +                              \
     CKP_COUNTERS * COUNTER_BYTES_MAX + 2 * CKP_VARINT_BYTES_MAX)
#define TRAILER_BYTES_MAX (2 + 3 * CKP_VARINT_BYTES_MAX)

/* Where summaries wait until the last run is known. Those before flush_bytes are reached lie behind
 * the runs in the end, so that there is room for either. */
static size_t summaries_at(const struct ckp_batcher *batcher)
{
    return HEADER_BYTES_MAX + batcher->config.flush_bytes + CKP_RUN_ENCODED_MAX + TRAILER_BYTES_MAX;
}

static size_t buffer_bytes(const struct ckp_batcher *batcher)
{
    return summaries_at(batcher) + batcher->config.flush_bytes + CKP_SUMMARY_ENCODED_MAX;
}

bool ckp_batcher_init(struct ckp_batcher *batcher, const struct ckp_batch_config *config,
                      struct ckp_counters *counters, ckp_deliver_fn *deliver, void *sink)
{
    *batcher = (struct ckp_batcher){
        .config = *config,
        .counters = counters,
        .deliver = deliver,
        .sink = sink,
        .partitions = calloc(config->partition_count, sizeof(struct ckp_partition)),
        .oldest = NO_PARTITION,
        .newest = NO_PARTITION,
    };
    if (config->totals)
        batcher->totals = config->totals;
    else
        batcher->totals = batcher->own_totals =
            calloc(config->partition_count, sizeof *batcher->totals);
    if (batcher->partitions && batcher->totals)
        return true;
    ckp_batcher_free(batcher);
    return false;
}

void ckp_batcher_free(struct ckp_batcher *batcher)
{
    while (batcher->spare) {
        uint8_t *buffer = batcher->spare;
        memcpy(&batcher->spare, buffer, sizeof batcher->spare);
        free(buffer);
    }
    if (batcher->partitions)
        for (uint32_t i = 0; i < batcher->config.partition_count; i++)
            free(batcher->partitions[i].bytes);
    free(batcher->partitions);
    free(batcher->own_totals);
    batcher->partitions = NULL;
    batcher->own_totals = NULL;
}

/* There are at most as many buffers as partitions; a machine without memory for them is beyond
 * help. */
static uint8_t *take_buffer(struct ckp_batcher *batcher)
{
    uint8_t *buffer = batcher->spare;

    if (buffer)
        memcpy(&batcher->spare, buffer, sizeof batcher->spare);
    else
        buffer = malloc(buffer_bytes(batcher));
    if (!buffer)
        abort();
    return buffer;
}

static void give_buffer(struct ckp_batcher *batcher, uint8_t *buffer)
{
    memcpy(buffer, &batcher->spare, sizeof batcher->spare);
    batcher->spare = buffer;
}

static uint8_t *write_counters(uint8_t *out, const struct ckp_counters *counters)
{
    int64_t listed = 0;

    for (int i = 0; i < CKP_COUNTERS; i++)
        listed += ckp_counter_info[i].in_batches && counters->value[i] != 0;
    if (listed == 0)
        return ckp_write_zigzag(out, 0);

    out = ckp_write_zigzag(out, listed);
    for (int i = 0; i < CKP_COUNTERS; i++) {
        if (!ckp_counter_info[i].in_batches || counters->value[i] == 0)
            continue;
        out = ckp_write_text(out, ckp_counter_info[i].name);
        out = ckp_write_zigzag(out, (int64_t)counters->value[i]);
    }
    return ckp_write_zigzag(out, 0);
}

/* All of a batch up to its first run. */
static uint8_t *write_header(uint8_t *out, const struct ckp_batcher *batcher, uint32_t partition)
{
    const struct ckp_batch_config *config = &batcher->config;
    const struct ckp_partition *batch = &batcher->partitions[partition];
    const struct ckp_partition_totals *totals = &batcher->totals[partition];

    *out++ = 0xc3; /* Avro's single-object encoding, version 1 */
    *out++ = 0x01;
    out = ckp_write_le(out, config->schema_fingerprint, 8);
    out = ckp_write_text(out, config->probe);
    out = ckp_write_text(out, config->tap);
    out = ckp_write_zigzag(out, (int64_t)config->session);
    out = ckp_write_zigzag(out, config->worker);
    out = ckp_write_zigzag(out, partition);
    out = ckp_write_zigzag(out, config->partition_count);
    out = ckp_write_zigzag(out, (int64_t)config->hash_seed);
    out = ckp_write_zigzag(out, (int64_t)(totals->batches - 1));
    out = ckp_write_zigzag(out, (int64_t)(totals->packets - batch->packets));
    out = ckp_write_zigzag(out, batch->packets);
    out = ckp_write_zigzag(out, config->timestamp_source);
    out = ckp_write_zigzag(out, config->timestamp_resolution_ns);
    out = write_counters(out, batcher->counters);
    return batch->runs ? ckp_write_zigzag(out, batch->runs) : out;
}

/* All of a batch behind its last run, of which `runs_end` is the end. */
static uint8_t *write_trailer(uint8_t *runs_end, const struct ckp_batcher *batcher,
                              uint32_t partition)
{
    const struct ckp_partition *batch = &batcher->partitions[partition];
    uint64_t summarised_packets = batcher->totals[partition].summarised_packets;
    uint8_t *out = ckp_write_zigzag(runs_end, 0); /* end of the array of runs */

    out = ckp_write_zigzag(out, (int64_t)(summarised_packets - batch->summarised_packets));
    out = ckp_write_zigzag(out, batch->summarised_packets);
    if (batch->summaries)
        out = ckp_write_zigzag(out, batch->summaries);
    memcpy(out, batch->bytes + summaries_at(batcher), batch->summaries_bytes);
    return ckp_write_zigzag(out + batch->summaries_bytes, 0);
}

/* Delivers the partition's batch, which has left the list of open ones. The header is laid right
 * before the runs, so that these need not move. */
static void deliver(struct ckp_batcher *batcher, uint32_t partition)
{
    struct ckp_partition *batch = &batcher->partitions[partition];
    uint8_t header[HEADER_BYTES_MAX];

    ckp_count(batcher->counters, CKP_COUNT_BATCHES_ENCODED, 1);
    size_t header_bytes = (size_t)(write_header(header, batcher, partition) - header);
    uint8_t *start = batch->bytes + HEADER_BYTES_MAX - header_bytes;
    memcpy(start, header, header_bytes);
    const uint8_t *end =
        write_trailer(batch->bytes + HEADER_BYTES_MAX + batch->runs_bytes, batcher, partition);
    batcher->frames_told = batcher->counters->value[CKP_COUNT_FRAMES_RECEIVED];
    batcher->deliver(batcher->sink, &(struct ckp_batch){
                                        .bytes = start,
                                        .size_bytes = (size_t)(end - start),
                                        .partition = partition,
                                        .packets = batch->packets + batch->summarised_packets,
                                    });
    give_buffer(batcher, batch->bytes);
    batch->bytes = NULL;
    batch->packets = batch->runs = batch->runs_bytes = 0;
    batch->summarised_packets = batch->summaries = batch->summaries_bytes = 0;
}

static void open_batch(struct ckp_batcher *batcher, uint32_t partition, int64_t now_ns)
{
    struct ckp_partition *batch = &batcher->partitions[partition];

    batch->bytes = take_buffer(batcher);
    batcher->totals[partition].batches++;
    batch->opened_ns = batcher->told_ns = now_ns;
    batch->older = batcher->newest;
    batch->newer = NO_PARTITION;
    if (batcher->newest == NO_PARTITION)
        batcher->oldest = partition;
    else
        batcher->partitions[batcher->newest].newer = partition;
    batcher->newest = partition;
}

static void close_batch(struct ckp_batcher *batcher, uint32_t partition)
{
    const struct ckp_partition *batch = &batcher->partitions[partition];

    if (batch->older == NO_PARTITION)
        batcher->oldest = batch->newer;
    else
        batcher->partitions[batch->older].newer = batch->newer;
    if (batch->newer == NO_PARTITION)
        batcher->newest = batch->older;
    else
        batcher->partitions[batch->newer].older = batch->older;
    deliver(batcher, partition);
}

static void close_if_full(struct ckp_batcher *batcher, uint32_t partition)
{
    const struct ckp_partition *batch = &batcher->partitions[partition];

    if (batch->runs_bytes + batch->summaries_bytes >= batcher->config.flush_bytes)
        close_batch(batcher, partition);
}

void ckp_batcher_add(struct ckp_batcher *batcher, uint32_t partition, const struct ckp_run *run,
                     int64_t now_ns)
{
    struct ckp_partition *batch = &batcher->partitions[partition];

    if (!batch->bytes)
        open_batch(batcher, partition, now_ns);

    uint8_t *runs = batch->bytes + HEADER_BYTES_MAX;
    batch->runs_bytes = (uint32_t)(ckp_run_write(runs + batch->runs_bytes, run) - runs);
    batch->runs++;
    batch->packets += run->packets.count;
    batcher->totals[partition].packets += run->packets.count;
    ckp_count(batcher->counters, CKP_COUNT_PACKETS_ENCODED, run->packets.count);
    ckp_count(batcher->counters, CKP_COUNT_RUNS_ENCODED, 1);
    close_if_full(batcher, partition);
}

void ckp_batcher_add_summary(struct ckp_batcher *batcher, uint32_t partition,
                             const struct ckp_summary *summary, int64_t now_ns)
{
    struct ckp_partition *batch = &batcher->partitions[partition];
    uint32_t packets = summary->sent_by[0].packets + summary->sent_by[1].packets;

    if (!batch->bytes)
        open_batch(batcher, partition, now_ns);

    uint8_t *summaries = batch->bytes + summaries_at(batcher);
    batch->summaries_bytes =
        (uint32_t)(ckp_summary_write(summaries + batch->summaries_bytes, summary) - summaries);
    batch->summaries++;
    batch->summarised_packets += packets;
    batcher->totals[partition].summarised_packets += packets;
    ckp_count(batcher->counters, CKP_COUNT_PACKETS_ENCODED, packets);
    ckp_count(batcher->counters, CKP_COUNT_PACKETS_SUMMARISED, packets);
    ckp_count(batcher->counters, CKP_COUNT_FLOWS_SUMMARISED, 1);
    close_if_full(batcher, partition);
}

void ckp_batcher_flush_due(struct ckp_batcher *batcher, int64_t now_ns)
{
    while (batcher->oldest != NO_PARTITION &&
           now_ns - batcher->partitions[batcher->oldest].opened_ns >=
               batcher->config.flush_delay_ns)
        close_batch(batcher, batcher->oldest);
}

bool ckp_batcher_has_open(const struct ckp_batcher *batcher)
{
    return batcher->oldest != NO_PARTITION;
}

void ckp_batcher_flush(struct ckp_batcher *batcher)
{
    while (batcher->oldest != NO_PARTITION)
        close_batch(batcher, batcher->oldest);
}

void ckp_batcher_tell(struct ckp_batcher *batcher, int64_t now_ns, int64_t silence_ns)
{
    if (now_ns - batcher->told_ns < silence_ns)
        return;
    open_batch(batcher, 0, now_ns);
    close_batch(batcher, 0);
}

void ckp_batcher_tell_partition(struct ckp_batcher *batcher, uint32_t partition)
{
    open_batch(batcher, partition, 0);
    close_batch(batcher, partition);
}

void ckp_batcher_finish(struct ckp_batcher *batcher)
{
    ckp_batcher_flush(batcher);
    if (batcher->frames_told != batcher->counters->value[CKP_COUNT_FRAMES_RECEIVED]) {
        ckp_batcher_tell_partition(batcher, 0);
    }
}
