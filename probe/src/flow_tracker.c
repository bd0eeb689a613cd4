/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two times meet here. What is written follows the flow's own stamps: settle() does, in order, all
 * that is due up to one of them. When it is written follows the capture clock: a flow is silent for
 * as long as the clock has run since its last packet, whatever date its stamps show.
 */
#include "flow_tracker.h"

#include "flow_life.h"
#include "flow_lists.h"
#include "tap_quality.h"

/* A flow whose both sides are done, or that was reset, stays for its last retransmissions. */
#define LINGER_NS (2 * CKP_NANOS_PER_SECOND)

/* Stamps of one flow may be out of order by this much without consequence: two receive queues. */
#define REORDER_NS CKP_NANOS_PER_SECOND

/* The clock waits this long for stragglers before it closes anything. */
#define GRACE_NS (50 * CKP_NANOS_PER_MILLI)

/* A flow proves that it is none of a flood by packets with neither SYN nor RST: a source that is
 * forged answers nothing, and what is sent at random comes once. */
#define PROOFS 2u

/* Unproven flows beyond this part of all make room first; up to it who was silent for long does. */
#define UNPROVEN_PART 8u

bool ckp_flow_tracker_init(struct ckp_flow_tracker *tracker, const struct ckp_flow_limits *limits,
                           struct ckp_batcher *batcher, struct ckp_counters *counters)
{
    tracker->batcher = batcher;
    tracker->counters = counters;
    tracker->idle_ns = limits->idle_ns;
    tracker->flows_max = limits->flows_max;
    tracker->mouse_packets = limits->mouse_packets;
    tracker->table_seed = limits->table_seed;
    tracker->shed_seed = limits->shed_seed;
    tracker->shed_level = 0;
    tracker->anonymise = limits->anonymise;
    tracker->anonymiser = limits->anonymiser;
    tracker->clock = (struct ckp_capture_clock){0};
    tracker->oldest_run = tracker->newest_run = CKP_FLOW_NONE;
    tracker->oldest_unproven = tracker->newest_unproven = CKP_FLOW_NONE;
    tracker->unproven = 0;
    tracker->waiting_runs = 0;
    tracker->eviction_hand = 0;
    for (unsigned i = 0; i < CKP_CLOCK_STRAYS; i++)
        tracker->stray_flows[i] = CKP_FLOW_NONE;
    if (!ckp_flow_table_init(&tracker->table, limits->anonymise != NULL))
        return false;
    if (ckp_run_pool_init(&tracker->pool, limits->run_memory_bytes))
        return true;
    ckp_flow_table_free(&tracker->table);
    return false;
}

void ckp_flow_tracker_free(struct ckp_flow_tracker *tracker)
{
    ckp_flow_table_free(&tracker->table);
    ckp_run_pool_free(&tracker->pool);
}

static void prove(struct ckp_flow_tracker *tracker, struct ckp_flow *flow,
                  const struct ckp_segment *segment)
{
    if (flow->proofs < PROOFS && (segment->tcp_flags & (CKP_TCP_SYN | CKP_TCP_RST)) == 0 &&
        ++flow->proofs == PROOFS)
        ckp_unlink_unproven(tracker, flow);
}

/* Makes directions those of the written key. */
static void reverse(struct ckp_run_copy *copy, uint32_t packets)
{
    for (uint32_t i = 0; i < packets; i++)
        copy->segments[i].direction ^= 1;
}

/* Flows in a list are visited one after the other, each somewhere in memory. While one is worked
 * on, the next one is there already, so its run and its follower can be fetched. */
static void look_ahead(const struct ckp_flow_tracker *tracker, uint32_t next, uint32_t after_next)
{
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, next);

    ckp_open_run_prefetch_start(&tracker->pool, &flow->run);
    if (after_next != CKP_FLOW_NONE)
        ckp_flow_table_prefetch(&tracker->table, after_next);
}

/* Writes the open run; if there is none, a mark without packets. */
static void write_run(struct ckp_flow_tracker *tracker, struct ckp_flow *flow,
                      int64_t observed_until_ns, enum ckp_end_reason end_reason)
{
    struct ckp_run run = {
        .key = flow->written_key,
        .vlan_id = flow->vlan_id,
        .tunnel_id = flow->tunnel_id,
        .flow_start_ns = flow->start_ns,
        .packets_before = flow->packets_before,
        .observed_until_ns = observed_until_ns,
        .end_reason = end_reason,
    };

    if (flow->run.packets) {
        ckp_unlink_run(tracker, flow);
        run.packets = ckp_open_run_take(&tracker->pool, &flow->run, &tracker->copy);
        run.packets.is_ipv6 = flow->key.is_ipv6;
        if (flow->is_reversed)
            reverse(&tracker->copy, run.packets.count);
        flow->packets_before += run.packets.count;
    }
    ckp_batcher_add(tracker->batcher, flow->partition, &run, tracker->clock.now_ns);
}

static void close_run(struct ckp_flow_tracker *tracker, struct ckp_flow *flow)
{
    if (flow->run.packets && !flow->is_held)
        write_run(tracker, flow, flow->last_ns, CKP_END_NONE);
}

static const enum ckp_counter end_counter[] = {
    [CKP_END_FIN] = CKP_COUNT_FLOWS_ENDED_FIN,
    [CKP_END_RST] = CKP_COUNT_FLOWS_ENDED_RST,
    [CKP_END_IDLE] = CKP_COUNT_FLOWS_ENDED_IDLE,
    [CKP_END_EVICTED] = CKP_COUNT_FLOWS_ENDED_EVICTED,
    [CKP_END_REPLACED] = CKP_COUNT_FLOWS_ENDED_REPLACED,
    [CKP_END_CAPTURE_END] = CKP_COUNT_FLOWS_ENDED_CAPTURE_END,
    [CKP_END_SHED] = CKP_COUNT_FLOWS_ENDED_SHED,
};

static void end_flow(struct ckp_flow_tracker *tracker, uint32_t handle, int64_t observed_until_ns,
                     enum ckp_end_reason reason);

/* A flow that lingers has its reason already. */
static enum ckp_end_reason end_reason_of(const struct ckp_flow *flow, enum ckp_end_reason otherwise)
{
    return flow->closing ? (enum ckp_end_reason)flow->closing : otherwise;
}

/* Silence before the next quiet mark: 1, 2, 4, 8 ... s. */
static int64_t quiet_ns(const struct ckp_flow *flow)
{
    return CKP_NANOS_PER_SECOND << flow->quiet_marks;
}

/* The flow's own time at which it needs a visit if no packet comes: see settle(). */
static int64_t next_due_ns(const struct ckp_flow_tracker *tracker, const struct ckp_flow *flow)
{
    int64_t silence_ns = tracker->idle_ns;

    if (flow->closing)
        silence_ns = LINGER_NS;
    else if (!flow->is_held && quiet_ns(flow) < tracker->idle_ns)
        silence_ns = quiet_ns(flow);

    int64_t due_ns = flow->last_ns + silence_ns;
    bool is_waiting = flow->run.packets && !flow->is_held;
    return is_waiting && flow->run_end_ns < due_ns ? flow->run_end_ns : due_ns;
}

static void schedule(struct ckp_flow_tracker *tracker, uint32_t handle)
{
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    int64_t silence_ns = next_due_ns(tracker, flow) - flow->last_ns;

    ckp_flow_table_schedule(&tracker->table, handle, flow->clock_last_ns + silence_ns + GRACE_NS);
}

static void mark_quiet(struct ckp_flow_tracker *tracker, struct ckp_flow *flow)
{
    if (!flow->is_held) {
        close_run(tracker, flow);
        write_run(tracker, flow, flow->last_ns + quiet_ns(flow), CKP_END_NONE);
    }
    flow->quiet_marks++;
}

/* Writes all that is due up to the flow's own time `until_ns`. @return false if the flow ended */
static bool settle(struct ckp_flow_tracker *tracker, uint32_t handle, int64_t until_ns)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    int64_t silence_ns = until_ns - flow->last_ns;

    if (flow->is_held)
        flow->run_end_ns = until_ns;
    else if (until_ns >= flow->run_end_ns)
        close_run(tracker, flow);
    if (flow->closing) {
        if (silence_ns < LINGER_NS)
            return true;
        end_flow(tracker, handle, flow->last_ns + LINGER_NS, (enum ckp_end_reason)flow->closing);
        return false;
    }
    while (quiet_ns(flow) <= silence_ns && quiet_ns(flow) < tracker->idle_ns)
        mark_quiet(tracker, flow);
    if (silence_ns < tracker->idle_ns)
        return true;
    end_flow(tracker, handle, flow->last_ns + tracker->idle_ns, CKP_END_IDLE);
    return false;
}

/* No packet of it was left out yet, for the first one ends it. */
static void shed(struct ckp_flow_tracker *tracker, uint32_t handle)
{
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);

    end_flow(tracker, handle, flow->last_ns, end_reason_of(flow, CKP_END_SHED));
}

/* Does what the clock says is due: visits flows, then sends batches that waited long enough. */
static void keep_time(struct ckp_flow_tracker *tracker)
{
    int64_t now_ns = tracker->clock.now_ns;
    uint32_t handle;

    while ((handle = ckp_flow_table_next_due(&tracker->table, now_ns)) != CKP_FLOW_NONE) {
        const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
        if (flow->next_due != CKP_FLOW_NONE)
            look_ahead(tracker, flow->next_due,
                       ckp_flow_at(&tracker->table, flow->next_due)->next_due);
        int64_t silence_ns = now_ns - flow->clock_last_ns - GRACE_NS;
        if (ckp_flow_tracker_sheds(tracker, &flow->key))
            shed(tracker, handle);
        else if (settle(tracker, handle, flow->last_ns + silence_ns))
            schedule(tracker, handle);
    }
    ckp_batcher_flush_due(tracker->batcher, now_ns);
}

/* The flow that has been silent longest among the next few: near enough to the longest of all, at
 * a fixed cost. */
static uint32_t long_silent(struct ckp_flow_tracker *tracker)
{
    uint32_t victim = CKP_FLOW_NONE;

    for (int seen = 0; seen < 8 || victim == CKP_FLOW_NONE; seen++) {
        uint32_t handle = tracker->eviction_hand++ % tracker->table.used;
        const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
        if (flow->is_living &&
            (victim == CKP_FLOW_NONE ||
             flow->clock_last_ns < ckp_flow_at(&tracker->table, victim)->clock_last_ns))
            victim = handle;
    }
    return victim;
}

/* Fetches what the evictions after this one will touch. */
static void prefetch_unproven(const struct ckp_flow_tracker *tracker, uint32_t victim)
{
    uint32_t next = ckp_flow_at(&tracker->table, victim)->newer_unproven;

    if (next == CKP_FLOW_NONE)
        return;
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, next);
    ckp_flow_table_prefetch_bucket(&tracker->table, flow->hash);
    look_ahead(tracker, next, flow->newer_unproven);
}

/* Makes room for a flow. Who asks has found none, so that there is a flow to end: the table always
 * has room for a few. */
static void evict(struct ckp_flow_tracker *tracker)
{
    bool is_flood = tracker->unproven > tracker->table.living / UNPROVEN_PART;
    uint32_t victim = is_flood ? tracker->oldest_unproven : long_silent(tracker);

    if (is_flood)
        prefetch_unproven(tracker, victim);
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, victim);
    end_flow(tracker, victim, flow->last_ns, end_reason_of(flow, CKP_END_EVICTED));
}

/* What is written, and what partition and reader derive from it, tells nothing of the addresses: a
 * hash of them would, for there are few enough to try them all. */
static void anonymise(struct ckp_flow_tracker *tracker, struct ckp_flow *flow)
{
    struct ckp_flow_key *key = flow->written_key;
    struct ckp_address addresses[2] = {key->low_address, key->high_address};

    tracker->anonymise(tracker->anonymiser, addresses, key->is_ipv6);
    flow->is_reversed =
        ckp_flow_key_order(key, &addresses[0], key->low_port, &addresses[1], key->high_port) != 0;
    ckp_count(tracker->counters, CKP_COUNT_FLOWS_ANONYMISED, 1);
}

static uint32_t start_flow(struct ckp_flow_tracker *tracker, const struct ckp_packet *packet,
                           uint64_t hash)
{
    uint32_t handle = CKP_FLOW_NONE;

    if (tracker->table.living < tracker->flows_max)
        handle = ckp_flow_table_add(&tracker->table, &packet->key, hash);
    while (handle == CKP_FLOW_NONE) {
        evict(tracker);
        handle = ckp_flow_table_add(&tracker->table, &packet->key, hash);
    }

    const struct ckp_batch_config *config = &tracker->batcher->config;
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    if (tracker->anonymise)
        anonymise(tracker, flow);
    flow->partition = ckp_flow_partition(ckp_flow_key_hash(flow->written_key, config->hash_seed),
                                         config->partition_count);
    flow->start_ns = packet->segment.time_ns;
    ckp_flow_be_born(flow);
    flow->vlan_id = packet->vlan_id;
    flow->tunnel_id = packet->tunnel_id;
    ckp_link_unproven(tracker, handle, flow);
    flow->is_held = tracker->mouse_packets > 0;
    ckp_count(tracker->counters, CKP_COUNT_FLOWS_STARTED, 1);
    return handle;
}

/* The flow the packet belongs to, after all that was due before it. */
static uint32_t flow_of(struct ckp_flow_tracker *tracker, const struct ckp_packet *packet,
                        uint64_t hash)
{
    const struct ckp_segment *segment = &packet->segment;
    uint32_t handle = ckp_flow_table_find(&tracker->table, &packet->key, hash);

    if (handle == CKP_FLOW_NONE || !settle(tracker, handle, segment->time_ns))
        return start_flow(tracker, packet, hash);

    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    if (!ckp_flow_is_replaced_by(flow, segment))
        return handle;
    end_flow(tracker, handle, flow->last_ns, end_reason_of(flow, CKP_END_REPLACED));
    return start_flow(tracker, packet, hash);
}

static void let_go(struct ckp_flow_tracker *tracker, uint32_t handle);

/* The oldest open run is cut short: nothing is lost. Where flows may be ended for others, a flood
 * that holds half of the memory is not told of twice, by a run and by an end mark. */
static void make_room(struct ckp_flow_tracker *tracker, uint32_t handle)
{
    uint32_t oldest = tracker->oldest_run;
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, oldest);

    if (tracker->flows_max != UINT32_MAX && flow->proofs < PROOFS && oldest != handle &&
        tracker->unproven > tracker->pool.chunk_count / 2) {
        prefetch_unproven(tracker, oldest);
        end_flow(tracker, oldest, flow->last_ns, end_reason_of(flow, CKP_END_EVICTED));
        return;
    }
    if (flow->is_held) {
        ckp_count(tracker->counters, CKP_COUNT_FLOWS_EXPORTED_EARLY, 1);
        let_go(tracker, oldest);
    }
    if (flow->run.packets)
        ckp_count(tracker->counters, CKP_COUNT_RUNS_CUT_SHORT, 1);
    close_run(tracker, flow);
    if (tracker->oldest_run != CKP_FLOW_NONE)
        look_ahead(tracker, tracker->oldest_run,
                   ckp_flow_at(&tracker->table, tracker->oldest_run)->newer_run);
}

/* Opens a run if there is none, and appends. */
static void append(struct ckp_flow_tracker *tracker, uint32_t handle,
                   const struct ckp_segment *segment, const struct ckp_sack_block *sack)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    bool was_open = flow->run.packets != 0;

    while (!ckp_open_run_append(&tracker->pool, &flow->run, segment, sack)) {
        make_room(tracker, handle);
        was_open = flow->run.packets != 0;
    }
    flow->last_ns = segment->time_ns;
    flow->clock_last_ns = tracker->clock.now_ns;
    flow->quiet_marks = 0;
    if (!was_open) {
        flow->run_end_ns =
            flow->is_held ? segment->time_ns
                          : (segment->time_ns / CKP_NANOS_PER_SECOND + 1) * CKP_NANOS_PER_SECOND;
        ckp_link_run(tracker, handle, flow);
        schedule(tracker, handle);
    }
    if (flow->run.packets == CKP_RUN_PACKETS_MAX)
        close_run(tracker, flow);
}

/* A clock that was set back by more than reordering explains starts a new run too. */
static void cut_at_clock_step(struct ckp_flow_tracker *tracker, uint32_t handle, int64_t time_ns)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);

    if (time_ns < flow->run_end_ns - CKP_NANOS_PER_SECOND - REORDER_NS)
        close_run(tracker, flow);
}

static void add(struct ckp_flow_tracker *tracker, uint32_t handle,
                const struct ckp_segment *segment, const struct ckp_sack_block *sack)
{
    cut_at_clock_step(tracker, handle, segment->time_ns);
    append(tracker, handle, segment, sack);
    /* Last: room may be made of this flow. */
    ckp_flow_learn(ckp_flow_at(&tracker->table, handle), segment);
}

/* ---- mice: a flow that may stay one is held. It lives by the same rules, but nothing is written
 * of it; at its end it becomes a summary, or what was held is written as if it had not been ---- */

/* A flow that was held lives its life once more, and this time it is written. */
static void replay(struct ckp_flow_tracker *tracker, uint32_t handle,
                   const struct ckp_packets *packets)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    const struct ckp_sack_block *sack = packets->sack_blocks;
    int64_t clock_last_ns = flow->clock_last_ns;
    uint8_t quiet_marks = flow->quiet_marks;
    int64_t settled_ns = flow->run_end_ns;

    flow->is_held = false;
    ckp_flow_be_born(flow);
    for (uint32_t i = 0; i < packets->count; i++) {
        const struct ckp_segment *segment = &packets->segments[i];
        settle(tracker, handle, segment->time_ns); /* it goes on, or this were no packet of it */
        add(tracker, handle, segment, sack);
        sack += segment->sack_blocks;
    }
    if (settled_ns >= flow->run_end_ns)
        close_run(tracker, flow);
    while (flow->quiet_marks < quiet_marks)
        mark_quiet(tracker, flow);
    flow->clock_last_ns = clock_last_ns;
    schedule(tracker, handle);
}

static struct ckp_packets take_held(struct ckp_flow_tracker *tracker, struct ckp_flow *flow)
{
    ckp_unlink_run(tracker, flow);
    return ckp_open_run_take(&tracker->pool, &flow->run, &tracker->held);
}

/* Writes what was held; the flow goes on without being held. */
static void let_go(struct ckp_flow_tracker *tracker, uint32_t handle)
{
    struct ckp_packets packets = take_held(tracker, ckp_flow_at(&tracker->table, handle));

    replay(tracker, handle, &packets);
}

/* After each packet: a flow that has grown is held no more. */
static void judge_size(struct ckp_flow_tracker *tracker, uint32_t handle,
                       const struct ckp_segment *segment)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);

    if (!flow->is_held)
        return;
    flow->data_packets = (uint8_t)(flow->data_packets + (segment->payload_bytes > 0));
    if (flow->data_packets >= tracker->mouse_packets) {
        let_go(tracker, handle);
    } else if (flow->run.packets == CKP_RUN_PACKETS_MAX) {
        ckp_count(tracker->counters, CKP_COUNT_FLOWS_EXPORTED_EARLY, 1);
        let_go(tracker, handle);
    } else if (flow->closing) {
        schedule(tracker, handle); /* its end is nearer than it was */
    }
}

/* @return false if it takes the packets to tell of the flow; they are written, and only its end
 * is left */
static bool summarise(struct ckp_flow_tracker *tracker, uint32_t handle, enum ckp_end_reason reason)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    struct ckp_packets packets = take_held(tracker, flow);
    struct ckp_summary summary = {
        .key = flow->written_key,
        .vlan_id = flow->vlan_id,
        .tunnel_id = flow->tunnel_id,
        .flow_start_ns = flow->start_ns,
        .quiet_ns = flow->quiet_marks ? quiet_ns(flow) / 2 : 0,
        .end_reason = reason,
    };

    if (!ckp_summarise(&summary, &packets)) {
        ckp_count(tracker->counters, CKP_COUNT_FLOWS_NOT_SUMMARISED, 1);
        replay(tracker, handle, &packets);
        return false;
    }
    if (flow->is_reversed)
        ckp_summary_reverse(&summary);
    ckp_batcher_add_summary(tracker->batcher, flow->partition, &summary, tracker->clock.now_ns);
    return true;
}

static void end_flow(struct ckp_flow_tracker *tracker, uint32_t handle, int64_t observed_until_ns,
                     enum ckp_end_reason reason)
{
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);

    if (!flow->is_held || !summarise(tracker, handle, reason))
        write_run(tracker, flow, observed_until_ns, reason);
    ckp_count(tracker->counters, end_counter[reason], 1);
    if (flow->proofs < PROOFS)
        ckp_unlink_unproven(tracker, flow);
    if (!(flow->has_sent[0] && flow->has_sent[1]) && !flow->is_bare_syn)
        ckp_count(tracker->counters, CKP_COUNT_FLOWS_ONE_SIDED, 1);
    ckp_flow_table_remove(&tracker->table, handle);
}

/* The clock stood still while it did not believe these flows' packets: the leap it has made since
 * is no silence of theirs. */
static void forgive_leap(struct ckp_flow_tracker *tracker)
{
    for (unsigned i = 0; i < CKP_CLOCK_STRAYS - 1; i++) {
        if (tracker->stray_flows[i] != CKP_FLOW_NONE)
            ckp_flow_at(&tracker->table, tracker->stray_flows[i])->clock_last_ns =
                tracker->clock.now_ns;
        tracker->stray_flows[i] = CKP_FLOW_NONE;
    }
}

void ckp_flow_tracker_pass_time(struct ckp_flow_tracker *tracker, int64_t time_ns)
{
    if (ckp_capture_clock_observe(&tracker->clock, time_ns))
        forgive_leap(tracker);
    keep_time(tracker);
}

void ckp_flow_tracker_expect(const struct ckp_flow_tracker *tracker, struct ckp_tracked *tracked)
{
    tracked->hash = ckp_flow_key_table_hash(&tracked->packet.key, tracker->table_seed);
    ckp_flow_table_prefetch_bucket(&tracker->table, tracked->hash);
}

void ckp_flow_tracker_approach(const struct ckp_flow_tracker *tracker, struct ckp_tracked *tracked)
{
    tracked->flow = ckp_flow_table_prefetch_flow(&tracker->table, tracked->hash);
}

void ckp_flow_tracker_reach(const struct ckp_flow_tracker *tracker,
                            const struct ckp_tracked *tracked)
{
    if (tracked->flow == CKP_FLOW_NONE)
        return;
    const struct ckp_flow *flow = ckp_flow_at(&tracker->table, tracked->flow);
    if (flow->run.packets)
        ckp_open_run_prefetch(&tracker->pool, &flow->run);
    else
        ckp_flow_table_prefetch(&tracker->table, tracked->flow); /* a run will be opened */
}

void ckp_flow_tracker_observe(struct ckp_flow_tracker *tracker, const struct ckp_tracked *tracked)
{
    const struct ckp_packet *packet = &tracked->packet;

    ckp_flow_tracker_pass_time(tracker, packet->segment.time_ns);

    uint32_t handle = flow_of(tracker, packet, tracked->hash);
    struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
    prove(tracker, flow, &packet->segment);
    ckp_judge_tap(tracker->counters, flow, &packet->segment);
    add(tracker, handle, &packet->segment, packet->sack);
    judge_size(tracker, handle, &packet->segment);
    if (tracker->clock.strays)
        tracker->stray_flows[tracker->clock.strays - 1] = handle;
}

void ckp_flow_tracker_leave_out(struct ckp_flow_tracker *tracker, const struct ckp_tracked *tracked)
{
    uint32_t handle = ckp_flow_table_find(&tracker->table, &tracked->packet.key, tracked->hash);

    if (handle != CKP_FLOW_NONE)
        shed(tracker, handle);
}

bool ckp_flow_tracker_has_open(const struct ckp_flow_tracker *tracker)
{
    return tracker->waiting_runs > 0 || ckp_batcher_has_open(tracker->batcher);
}

void ckp_flow_tracker_release(struct ckp_flow_tracker *tracker)
{
    for (uint32_t next, handle = tracker->oldest_run; handle != CKP_FLOW_NONE; handle = next) {
        struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
        next = flow->newer_run;
        if (next != CKP_FLOW_NONE)
            look_ahead(tracker, next, ckp_flow_at(&tracker->table, next)->newer_run);
        close_run(tracker, flow);
    }
    ckp_batcher_flush(tracker->batcher);
}

void ckp_flow_tracker_finish(struct ckp_flow_tracker *tracker)
{
    for (uint32_t handle = 0; handle < tracker->table.used; handle++) {
        const struct ckp_flow *flow = ckp_flow_at(&tracker->table, handle);
        if (!flow->is_living)
            continue;
        int64_t until_ns = flow->last_ns + (tracker->clock.now_ns - flow->clock_last_ns);
        if (settle(tracker, handle, until_ns))
            end_flow(tracker, handle, until_ns, end_reason_of(flow, CKP_END_CAPTURE_END));
    }
}
