/* SPDX-License-Identifier: Apache-2.0 */
#include "killed_session.h"

#include "ledger.h"

#include <stdlib.h>

/* By how much two counters may differ that are counted one after the other: a run or summary just
 * being written. */
#define SLACK 512u

/* Of anything: no sum of it exceeds 63 bits. */
#define COUNT_MAX (UINT64_C(1) << 45)

void ckp_killed_session_free(struct ckp_killed_session *killed)
{
    free(killed->counters);
    free(killed->totals);
    killed->counters = NULL;
    killed->totals = NULL;
}

static bool close_worker(struct ckp_counters *counters, const struct ckp_partition_totals *totals,
                         uint32_t partition_count)
{
    uint64_t batches = counters->value[CKP_COUNT_BALANCES_ENCODED], packets = 0;

    for (int i = 0; i < CKP_COUNTERS; i++)
        if (counters->value[i] > COUNT_MAX)
            return false;
    for (uint32_t i = 0; i < partition_count; i++) {
        if (totals[i].batches > COUNT_MAX || totals[i].packets > COUNT_MAX ||
            totals[i].summarised_packets > COUNT_MAX)
            return false;
        batches += totals[i].batches;
        packets += totals[i].packets + totals[i].summarised_packets;
    }
    uint64_t encoded = counters->value[CKP_COUNT_PACKETS_ENCODED];
    if (packets > encoded + SLACK || encoded > packets + SLACK ||
        batches < counters->value[CKP_COUNT_BATCHES_ENCODED])
        return false;
    counters->value[CKP_COUNT_PACKETS_ENCODED] = packets;
    counters->value[CKP_COUNT_BATCHES_ENCODED] = batches;
    return ckp_ledger_give_rest(counters, CKP_COUNT_FRAMES_LOST_WHEN_KILLED, SLACK) &&
           ckp_ledger_give_rest(counters, CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT, 0) &&
           ckp_ledger_give_rest(counters, CKP_COUNT_BATCHES_UNDELIVERED, 0) &&
           ckp_ledger_give_rest(counters, CKP_COUNT_FLOWS_ENDED_KILLED, SLACK);
}

bool ckp_killed_session_close_books(struct ckp_killed_session *killed)
{
    const struct ckp_session_facts *facts = &killed->facts;

    for (uint32_t i = 0; i < facts->worker_count; i++)
        if (!close_worker(&killed->counters[i], &killed->totals[(size_t)i * facts->partition_count],
                          facts->partition_count))
            return false;
    return true;
}

/* A worker that had sent nothing yet tells its counters, if there are any, by partition 0. */
static void tell_worker(struct ckp_batcher *batcher)
{
    const uint64_t *counted = batcher->counters->value;
    bool has_told = false;

    for (uint32_t i = 0; i < batcher->config.partition_count; i++) {
        if (batcher->totals[i].batches == 0)
            continue;
        ckp_batcher_tell_partition(batcher, i);
        has_told = true;
    }
    if (!has_told && counted[CKP_COUNT_FRAMES_RECEIVED] + counted[CKP_COUNT_BATCHES_ENCODED] > 0)
        ckp_batcher_tell_partition(batcher, 0);
}

bool ckp_killed_session_tell(struct ckp_killed_session *killed, uint64_t schema_fingerprint,
                             ckp_deliver_fn *deliver, void *sink)
{
    const struct ckp_session_facts *facts = &killed->facts;

    for (uint32_t i = 0; i < facts->worker_count; i++) {
        struct ckp_batcher batcher;
        const struct ckp_batch_config config = {
            .probe = facts->probe,
            .tap = facts->tap,
            .session = facts->session,
            .worker = i,
            .partition_count = facts->partition_count,
            .hash_seed = facts->hash_seed,
            .schema_fingerprint = schema_fingerprint,
            .timestamp_source = (enum ckp_timestamp_source)facts->timestamp_source,
            .timestamp_resolution_ns = facts->timestamp_resolution_ns,
            .totals = &killed->totals[(size_t)i * facts->partition_count],
        };
        if (!ckp_batcher_init(&batcher, &config, &killed->counters[i], deliver, sink))
            return false;
        tell_worker(&batcher);
        ckp_batcher_free(&batcher);
    }
    return true;
}
