/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

bool ckp_worker_init(struct ckp_worker *worker, uint32_t domain,
                     const struct ckp_batch_config *batches, const struct ckp_flow_limits *limits,
                     ckp_deliver_fn *deliver, void *sink)
{
    worker->domain = domain;
    worker->counters = (struct ckp_counters){0};
    if (!ckp_batcher_init(&worker->batcher, batches, &worker->counters, deliver, sink))
        return false;
    if (ckp_flow_tracker_init(&worker->tracker, limits, &worker->batcher, &worker->counters))
        return true;
    ckp_batcher_free(&worker->batcher);
    return false;
}

void ckp_worker_free(struct ckp_worker *worker)
{
    ckp_flow_tracker_free(&worker->tracker);
    ckp_batcher_free(&worker->batcher);
}

static const enum ckp_counter rejection_counter[] = {
    [CKP_DECODE_NOT_IP] = CKP_COUNT_FRAMES_NOT_IP,
    [CKP_DECODE_NOT_TCP] = CKP_COUNT_FRAMES_NOT_TCP,
    [CKP_DECODE_FRAGMENT_NOT_FIRST] = CKP_COUNT_FRAMES_FRAGMENT_NOT_FIRST,
    [CKP_DECODE_TRUNCATED] = CKP_COUNT_FRAMES_TRUNCATED,
    [CKP_DECODE_MALFORMED_IP] = CKP_COUNT_FRAMES_MALFORMED_IP,
    [CKP_DECODE_MALFORMED_TCP] = CKP_COUNT_FRAMES_MALFORMED_TCP,
};

static void count_peculiarities(struct ckp_counters *counters, const struct ckp_packet *packet)
{
    if (packet->is_first_fragment)
        ckp_count(counters, CKP_COUNT_PACKETS_FIRST_FRAGMENT, 1);
    if (packet->options_status == CKP_OPTIONS_MALFORMED)
        ckp_count(counters, CKP_COUNT_PACKETS_OPTIONS_MALFORMED, 1);
    if (packet->options_status == CKP_OPTIONS_CUT)
        ckp_count(counters, CKP_COUNT_PACKETS_OPTIONS_CUT, 1);
}

bool ckp_worker_decode(struct ckp_worker *worker, struct ckp_packet *packet, enum ckp_link link,
                       const struct ckp_frame *frame)
{
    if (frame->time_ns == CKP_TIME_OUT_OF_RANGE) {
        ckp_count(&worker->counters, CKP_COUNT_FRAMES_TIME_OUT_OF_RANGE, 1);
        return false;
    }
    enum ckp_decode_status status = ckp_decode(packet, link, frame);
    if (status != CKP_DECODE_OK) {
        ckp_count(&worker->counters, rejection_counter[status], 1);
        return false;
    }
    count_peculiarities(&worker->counters, packet);
    packet->key.domain = worker->domain;
    return true;
}

void ckp_worker_track(struct ckp_worker *worker, const struct ckp_packet *packet)
{
    ckp_flow_tracker_observe(&worker->tracker, packet,
                             ckp_flow_key_hash(&packet->key, worker->batcher.config.hash_seed));
}

void ckp_worker_observe(struct ckp_worker *worker, enum ckp_link link,
                        const struct ckp_frame *frame)
{
    struct ckp_packet packet;

    if (ckp_worker_decode(worker, &packet, link, frame))
        ckp_worker_track(worker, &packet);
}

void ckp_worker_pass_time(struct ckp_worker *worker, int64_t time_ns)
{
    ckp_flow_tracker_pass_time(&worker->tracker, time_ns);
}

void ckp_worker_finish(struct ckp_worker *worker)
{
    ckp_flow_tracker_finish(&worker->tracker);
    ckp_batcher_finish(&worker->batcher);
}

int64_t ckp_time_ns(int64_t seconds, int64_t nanoseconds)
{
    if (seconds < 0 || seconds >= CKP_TIME_END_SECONDS)
        return CKP_TIME_OUT_OF_RANGE;
    return seconds * CKP_NANOS_PER_SECOND + nanoseconds;
}
