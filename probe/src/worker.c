/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

bool ckp_worker_init(struct ckp_worker *worker, const struct ckp_frame_reading *reading,
                     const struct ckp_batch_config *batches, const struct ckp_flow_limits *limits,
                     struct ckp_counters *counters, ckp_deliver_fn *deliver, void *sink)
{
    worker->reading = *reading;
    worker->pending_count = 0;
    worker->last_ns = INT64_MIN;
    worker->stamp_step_ns = 0;
    worker->release_ns = 0;
    worker->own_counters = (struct ckp_counters){0};
    worker->counters = counters ? counters : &worker->own_counters;
    worker->erspan_clocks = (struct ckp_erspan_clocks){0};
    if (!ckp_batcher_init(&worker->batcher, batches, worker->counters, deliver, sink))
        return false;
    if (ckp_flow_tracker_init(&worker->tracker, limits, &worker->batcher, worker->counters))
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
    [CKP_DECODE_MALFORMED_TUNNEL] = CKP_COUNT_FRAMES_MALFORMED_TUNNEL,
    [CKP_DECODE_NESTED_TOO_DEEP] = CKP_COUNT_FRAMES_NESTED_TOO_DEEP,
};

static void count_peculiarities(struct ckp_counters *counters, const struct ckp_packet *packet)
{
    if (packet->is_first_fragment)
        ckp_count(counters, CKP_COUNT_PACKETS_FIRST_FRAGMENT, 1);
    if (packet->options_status == CKP_OPTIONS_MALFORMED)
        ckp_count(counters, CKP_COUNT_PACKETS_OPTIONS_MALFORMED, 1);
    if (packet->options_status == CKP_OPTIONS_CUT)
        ckp_count(counters, CKP_COUNT_PACKETS_OPTIONS_CUT, 1);
    ckp_count(counters, CKP_COUNT_PACKETS_CUT, packet->is_cut); /* as good as random: no branch */
}

static void note_stamp(struct ckp_worker *worker, int64_t time_ns)
{
    if (time_ns < worker->last_ns)
        ckp_count(worker->counters, CKP_COUNT_PACKETS_TIME_STEP_BACK, 1);
    worker->last_ns = time_ns;
}

/* Of one packet a burst: a division each would cost more than it tells. */
static void note_stamp_step(struct ckp_worker *worker)
{
    if (worker->last_ns == INT64_MIN)
        return;
    if (worker->stamp_step_ns == 0)
        worker->stamp_step_ns = CKP_NANOS_PER_SECOND;
    while (worker->last_ns % worker->stamp_step_ns != 0)
        worker->stamp_step_ns /= 10;
}

static void settle_fate(struct ckp_worker *worker, const struct ckp_pending_frame *frame)
{
    ckp_count(worker->counters, CKP_COUNT_FRAMES_RECEIVED, 1);
    if (frame->fate != CKP_COUNTERS) {
        ckp_count(worker->counters, frame->fate, 1);
        if (frame->fate == CKP_COUNT_FRAMES_SHED)
            ckp_flow_tracker_leave_out(&worker->tracker, &frame->tracked);
        return;
    }
    count_peculiarities(worker->counters, &frame->tracked.packet);
    note_stamp(worker, frame->tracked.packet.segment.time_ns);
    ckp_flow_tracker_observe(&worker->tracker, &frame->tracked);
}

void ckp_worker_flush(struct ckp_worker *worker)
{
    struct ckp_pending_frame *end = worker->pending + worker->pending_count;

    for (struct ckp_pending_frame *frame = worker->pending; frame < end; frame++)
        if (frame->fate == CKP_COUNTERS)
            ckp_flow_tracker_approach(&worker->tracker, &frame->tracked);
    for (struct ckp_pending_frame *frame = worker->pending; frame < end; frame++)
        if (frame->fate == CKP_COUNTERS)
            ckp_flow_tracker_reach(&worker->tracker, &frame->tracked);
    for (struct ckp_pending_frame *frame = worker->pending; frame < end; frame++)
        settle_fate(worker, frame);
    if (worker->pending_count > 0)
        note_stamp_step(worker);
    worker->pending_count = 0;
}

int64_t ckp_worker_before_wait(struct ckp_worker *worker, int64_t now_ns)
{
    ckp_worker_flush(worker);
    if (!ckp_flow_tracker_has_open(&worker->tracker))
        return INT64_MAX;

    int64_t clock_ns = worker->tracker.clock.now_ns;
    if (worker->release_ns == 0 || worker->release_clock_ns != clock_ns) {
        worker->release_ns = now_ns + worker->batcher.config.flush_delay_ns;
        worker->release_clock_ns = clock_ns;
    }
    if (now_ns < worker->release_ns)
        return worker->release_ns - now_ns;
    ckp_flow_tracker_release(&worker->tracker);
    worker->release_ns = 0;
    return INT64_MAX;
}

static struct ckp_pending_frame *next_pending(struct ckp_worker *worker)
{
    if (worker->pending_count == CKP_WORKER_BURST_MAX)
        ckp_worker_flush(worker);
    return &worker->pending[worker->pending_count++];
}

/* Of the frames that somebody has stamped before they came here. */
static void take_stamp(struct ckp_worker *worker, struct ckp_packet *packet,
                       const struct ckp_frame *frame)
{
    struct ckp_erspan_stamp stamp = ckp_erspan_stamp_read(frame, packet);

    packet->segment.time_ns =
        ckp_erspan_time_ns(&worker->erspan_clocks, worker->counters, &stamp, frame->time_ns);
}

/* CKP_COUNTERS if it is a packet to be tracked. */
static enum ckp_counter decode(struct ckp_worker *worker, struct ckp_packet *packet,
                               enum ckp_link link, const struct ckp_frame *frame)
{
    if (frame->time_ns == CKP_TIME_OUT_OF_RANGE)
        return CKP_COUNT_FRAMES_TIME_OUT_OF_RANGE;
    enum ckp_decode_status status = ckp_decode(packet, link, frame, worker->reading.tunnels);
    if (status != CKP_DECODE_OK)
        return rejection_counter[status];
    if (worker->reading.ring) /* of any domain */
        ckp_packet_ring_put(worker->reading.ring, link, frame, packet);
    if (packet->erspan_at && worker->reading.erspan_time == CKP_ERSPAN_TIME_STAMP)
        take_stamp(worker, packet, frame);
    packet->key.domain = worker->reading.domain;
    if (worker->reading.domain_rules.count > 0)
        packet->key.domain = ckp_domain_of(&worker->reading.domain_rules, packet->tunnel_id,
                                           packet->vlan_id, worker->reading.domain);
    return CKP_COUNTERS;
}

static void expect(struct ckp_worker *worker, struct ckp_pending_frame *frame)
{
    bool is_shed = ckp_flow_tracker_sheds(&worker->tracker, &frame->tracked.packet.key);

    frame->fate = is_shed ? CKP_COUNT_FRAMES_SHED : CKP_COUNTERS;
    ckp_flow_tracker_expect(&worker->tracker, &frame->tracked);
}

void ckp_worker_observe(struct ckp_worker *worker, enum ckp_link link,
                        const struct ckp_frame *frame)
{
    struct ckp_pending_frame *pending = next_pending(worker);

    pending->fate = decode(worker, &pending->tracked.packet, link, frame);
    if (pending->fate == CKP_COUNTERS)
        expect(worker, pending);
}

void ckp_worker_leave_out(struct ckp_worker *worker)
{
    next_pending(worker)->fate = CKP_COUNT_FRAMES_FILTERED;
}

bool ckp_worker_decode(struct ckp_worker *worker, struct ckp_packet *packet, enum ckp_link link,
                       const struct ckp_frame *frame)
{
    enum ckp_counter fate = decode(worker, packet, link, frame);

    if (fate != CKP_COUNTERS)
        next_pending(worker)->fate = fate;
    return fate == CKP_COUNTERS;
}

void ckp_worker_take(struct ckp_worker *worker, const struct ckp_packet *packet)
{
    struct ckp_pending_frame *pending = next_pending(worker);

    pending->tracked.packet = *packet;
    expect(worker, pending);
}

void ckp_worker_shed(struct ckp_worker *worker, uint32_t level)
{
    ckp_worker_flush(worker); /* what waits was asked about already */
    worker->tracker.shed_level = level;
}

void ckp_worker_pass_time(struct ckp_worker *worker, int64_t time_ns)
{
    ckp_worker_flush(worker);
    ckp_flow_tracker_pass_time(&worker->tracker, time_ns);
}

void ckp_worker_finish(struct ckp_worker *worker)
{
    ckp_worker_flush(worker);
    ckp_flow_tracker_finish(&worker->tracker);
    ckp_batcher_finish(&worker->batcher);
}

int64_t ckp_time_ns(int64_t seconds, int64_t nanoseconds)
{
    if (seconds < 0 || seconds >= CKP_TIME_END_SECONDS)
        return CKP_TIME_OUT_OF_RANGE;
    return seconds * CKP_NANOS_PER_SECOND + nanoseconds;
}
