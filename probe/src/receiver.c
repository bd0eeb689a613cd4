/* SPDX-License-Identifier: Apache-2.0 */
#include "receiver.h"

#include "clock.h"

#include <unistd.h>

#define NANOS_PER_MICRO 1000
#define TELL_NS         (10 * CKP_NANOS_PER_SECOND) /* counters of an idle tap */
#define PORTS_NS        CKP_SHED_PERIOD_NS
#define TEND_NS         CKP_VITALS_PERIOD_NS
#define DRAIN_NS        (100 * CKP_NANOS_PER_MILLI)

/* Frames may reach us this much later than their stamps: the time that passes without frames must
 * not overtake them. */
#define DELIVERY_NS (20 * CKP_NANOS_PER_MILLI)

bool ckp_receiver_init(struct ckp_receiver *receivers, uint32_t index,
                       struct ckp_reception *reception, struct ckp_worker *worker)
{
    struct ckp_receiver *receiver = &receivers[index];
    bool hands_on = ckp_ports_queues(reception->ports) < reception->worker_count;

    *receiver = (struct ckp_receiver){
        .reception = reception,
        .worker = worker,
        .index = index,
        .is_handed_packets = hands_on && index > 0,
        .others = hands_on && index == 0 ? receivers : NULL,
    };
    ckp_shedder_init(&receiver->shedder);
    return receiver->is_handed_packets
               ? ckp_handoff_init(&receiver->handoff)
               : ckp_merge_init(&receiver->merge, (uint32_t)ckp_ports_count(reception->ports));
}

void ckp_receiver_free(struct ckp_receiver *receiver)
{
    ckp_merge_free(&receiver->merge);
    ckp_handoff_free(&receiver->handoff);
}

/* Flows are spread by other bits than those that find them in a table. */
static uint32_t owner_of(const struct ckp_reception *reception, const struct ckp_packet *packet)
{
    uint64_t hash = ckp_flow_key_table_hash(&packet->key, reception->spread_seed);

    return (uint32_t)(((hash >> 32) * reception->worker_count) >> 32);
}

/* Gives a packet to the worker of its flow. Whoever hands on does not wait either. */
static void take(struct ckp_receiver *receiver, const struct ckp_packet *packet)
{
    uint32_t owner = receiver->others ? owner_of(receiver->reception, packet) : receiver->index;

    if (owner == receiver->index)
        ckp_worker_take(receiver->worker, packet);
    else if (!ckp_handoff_put(&receiver->others[owner].handoff, packet))
        ckp_count(receiver->worker->counters, CKP_COUNT_FRAMES_MISSED_WORKER, 1);
}

static void take_merged(struct ckp_receiver *receiver, int64_t now_ns)
{
    const struct ckp_packet *packet;

    while ((packet = ckp_merge_pop(&receiver->merge, now_ns)) != NULL)
        take(receiver, packet);
}

static void merge(struct ckp_receiver *receiver, size_t port, const struct ckp_packet *packet)
{
    if (!ckp_merge_has_room(&receiver->merge, (uint32_t)port))
        take_merged(receiver, packet->segment.time_ns);
    ckp_merge_push(&receiver->merge, (uint32_t)port, packet);
}

/* With two feeds or more packets wait until they are in order. */
static void observe(struct ckp_receiver *receiver, size_t port, const struct ckp_frame *frame)
{
    size_t ports = ckp_ports_count(receiver->reception->ports);
    struct ckp_packet packet;

    if (!ckp_filter_passes(receiver->filter, frame))
        ckp_worker_leave_out(receiver->worker);
    else if (ports == 1 && !receiver->others)
        ckp_worker_observe(receiver->worker, CKP_LINK_ETHERNET, frame);
    else if (!ckp_worker_decode(receiver->worker, &packet, CKP_LINK_ETHERNET, frame))
        return;
    else if (ports == 1)
        take(receiver, &packet);
    else
        merge(receiver, port, &packet);
}

static void publish_all(const struct ckp_receiver *receiver)
{
    for (uint32_t i = 1; receiver->others && i < receiver->reception->worker_count; i++)
        ckp_handoff_publish(&receiver->others[i].handoff);
}

/* One burst of every port. @return how many frames */
static size_t receive_frames(struct ckp_receiver *receiver)
{
    struct ckp_ports *ports = receiver->reception->ports;
    uint32_t queue = ckp_ports_queues(ports) > 1 ? receiver->index : 0;
    struct ckp_frame frames[CKP_BURST_MAX];
    size_t received = 0;

    for (size_t port = 0; port < ckp_ports_count(ports); port++) {
        size_t count = ckp_ports_receive(ports, port, queue, frames);
        for (size_t i = 0; i < count; i++)
            observe(receiver, port, &frames[i]);
        received += count;
    }
    if (ckp_ports_count(ports) > 1)
        take_merged(receiver, ckp_clock_utc_ns());
    publish_all(receiver);
    return received;
}

/* One burst of what the first receiver has handed on. @return how many packets */
static size_t receive_packets(struct ckp_receiver *receiver)
{
    const struct ckp_packet *packets;
    uint32_t count = ckp_handoff_take(&receiver->handoff, &packets);

    if (count > CKP_BURST_MAX)
        count = CKP_BURST_MAX;
    for (uint32_t i = 0; i < count; i++)
        ckp_worker_take(receiver->worker, &packets[i]);
    ckp_handoff_release(&receiver->handoff, count);
    return count;
}

static size_t receive(struct ckp_receiver *receiver)
{
    return receiver->is_handed_packets ? receive_packets(receiver) : receive_frames(receiver);
}

/* An interface that is made anew is another one: only a new start sees its frames. */
static bool is_any_gone(struct ckp_reception *reception, const struct ckp_tap_reading *reading)
{
    for (size_t i = 0; i < ckp_ports_count(reception->ports); i++) {
        if (!reading->port[i].is_gone)
            continue;
        atomic_store(&reception->gone_port, i + 1);
        atomic_store(&reception->has_failed, true);
        return true;
    }
    return false;
}

/* The drivers count since they were opened, so these counters are set, not added to. They are of
 * the ports, whoever reads their queues: the first worker keeps them. */
static void note_ports(struct ckp_receiver *receiver)
{
    struct ckp_tap_reading reading;
    uint64_t *value = receiver->worker->counters->value;
    struct ckp_port_reading sum = {0};

    if (receiver->index > 0)
        return;
    ckp_ports_read(receiver->reception->ports, &reading);
    ckp_tap_vitals_publish(&receiver->reception->output->tap, &reading);
    if (is_any_gone(receiver->reception, &reading)) /* what was counted last stands */
        return;
    for (size_t i = 0; i < CKP_PORTS_MAX; i++) {
        const struct ckp_port_reading *port = &reading.port[i];
        sum.missed += port->missed;
        sum.no_buffer += port->no_buffer;
        sum.errors += port->errors;
        sum.deduced += port->deduced;
        sum.missed_kernel += port->missed_kernel;
    }
    value[CKP_COUNT_FRAMES_MISSED_PORT] = sum.missed;
    value[CKP_COUNT_FRAMES_MISSED_NO_BUFFER] = sum.no_buffer;
    value[CKP_COUNT_FRAMES_MISSED_ERRORS] = sum.errors;
    value[CKP_COUNT_FRAMES_MISSED_KERNEL] = sum.missed_kernel;
    value[CKP_COUNT_FRAMES_MISSED_DEDUCED] = sum.deduced;
}

static uint64_t frames_of_all(const struct ckp_reception *reception)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < reception->worker_count; i++)
        sum += atomic_load_explicit(&reception->frames_received[i], memory_order_relaxed);
    return sum;
}

/* Of the fullest, if this worker hands packets on. What waits in a card nobody tells. */
static double fill_of_handoffs(const struct ckp_receiver *receiver)
{
    double highest = CKP_FILL_UNKNOWN;

    for (uint32_t i = 1; receiver->others && i < receiver->reception->worker_count; i++) {
        double fill = ckp_handoff_fill(&receiver->others[i].handoff);
        highest = fill > highest ? fill : highest;
    }
    return highest;
}

/* Losses are known to the first worker, its own queues to each. What a card could not receive is
 * not for us to cure, and what the kernel drops was not always meant for us: neither is pressure.
 */
static uint32_t wanted_level(struct ckp_receiver *receiver)
{
    const struct ckp_reception *reception = receiver->reception;
    const uint64_t *value = receiver->worker->counters->value;
    struct ckp_pressure pressure = {
        .now_ns = ckp_clock_monotonic_ns(),
        .frames_received = frames_of_all(reception),
        .frames_missed = value[CKP_COUNT_FRAMES_MISSED_PORT] +
                         value[CKP_COUNT_FRAMES_MISSED_NO_BUFFER] +
                         value[CKP_COUNT_FRAMES_MISSED_WORKER],
        .frames_deduced = value[CKP_COUNT_FRAMES_MISSED_DEDUCED],
        .receive_fill = fill_of_handoffs(receiver),
        .output_fill = ckp_output_fill(reception->output, receiver->index),
    };

    return ckp_shedder_decide(&receiver->shedder, &pressure);
}

/* All workers leave out the same flows, as other taps do: those that the most pressed one asks for.
 */
static void relieve(struct ckp_receiver *receiver)
{
    struct ckp_reception *reception = receiver->reception;
    uint32_t highest = 0;

    atomic_store_explicit(&reception->frames_received[receiver->index],
                          receiver->worker->counters->value[CKP_COUNT_FRAMES_RECEIVED],
                          memory_order_relaxed);
    atomic_store_explicit(&reception->shed_level[receiver->index], wanted_level(receiver),
                          memory_order_relaxed);
    for (uint32_t i = 0; i < reception->worker_count; i++) {
        uint32_t level = atomic_load_explicit(&reception->shed_level[i], memory_order_relaxed);
        highest = level > highest ? level : highest;
    }
    ckp_worker_shed(receiver->worker, highest);
}

/* A clock that was set back is no reason to wait. */
static bool is_due(int64_t *last_ns, int64_t period_ns, int64_t now_ns)
{
    if ((uint64_t)(now_ns - *last_ns) < (uint64_t)period_ns)
        return false;
    *last_ns = now_ns;
    return true;
}

static void tend(struct ckp_receiver *receiver)
{
    struct ckp_reception *reception = receiver->reception;

    ckp_output_tend(reception->output, receiver->index, ckp_clock_monotonic_ns());
    if (ckp_output_has_failed(reception->output, receiver->index))
        atomic_store_explicit(&reception->has_failed, true, memory_order_relaxed);
}

static void pass_time(struct ckp_receiver *receiver, int64_t now_ns)
{
    struct ckp_worker *worker = receiver->worker;

    if (is_due(&receiver->ports_read_ns, PORTS_NS, now_ns)) {
        note_ports(receiver);
        if (receiver->reception->may_shed)
            relieve(receiver);
    }
    if (is_due(&receiver->tended_ns, TEND_NS, now_ns))
        tend(receiver);
    ckp_worker_pass_time(worker, now_ns - DELIVERY_NS);
    ckp_batcher_tell(&worker->batcher, worker->tracker.clock.now_ns, TELL_NS);
}

static bool goes_on(const struct ckp_receiver *receiver)
{
    struct ckp_reception *reception = receiver->reception;

    return !*reception->stop && !atomic_load_explicit(&reception->has_failed, memory_order_relaxed);
}

static void sleep_if_idle(const struct ckp_receiver *receiver, size_t received)
{
    if (received == 0 && receiver->reception->idle_sleep_ns > 0)
        usleep((useconds_t)(receiver->reception->idle_sleep_ns / NANOS_PER_MICRO));
}

/* Takes what still lies in the queues of the ports, for a bounded time. */
static void drain_ports(struct ckp_receiver *receiver)
{
    int64_t deadline_ns = ckp_clock_monotonic_ns() + DRAIN_NS;

    while (receive(receiver) > 0 && ckp_clock_monotonic_ns() < deadline_ns)
        continue;
    if (ckp_ports_count(receiver->reception->ports) > 1)
        take_merged(receiver, INT64_MAX);
    for (uint32_t i = 1; receiver->others && i < receiver->reception->worker_count; i++)
        ckp_handoff_close(&receiver->others[i].handoff);
    note_ports(receiver);
}

/* The first receiver closes all handoffs. */
static void drain_handoff(struct ckp_receiver *receiver)
{
    while (!ckp_handoff_is_done(&receiver->handoff))
        sleep_if_idle(receiver, receive(receiver));
}

size_t ckp_receiver_turn(struct ckp_receiver *receiver)
{
    receiver->filter = ckp_filter_watch_hold(receiver->reception->filter, receiver->index);
    size_t received = receive(receiver);

    pass_time(receiver, ckp_clock_utc_ns());
    return received;
}

int ckp_receiver_run(void *self)
{
    struct ckp_receiver *receiver = self;

    /* Also where there is no turn: what lies in the queues of a probe that ends at once is taken.
     */
    receiver->filter = ckp_filter_watch_hold(receiver->reception->filter, receiver->index);
    while (goes_on(receiver))
        sleep_if_idle(receiver, ckp_receiver_turn(receiver));
    if (receiver->is_handed_packets)
        drain_handoff(receiver);
    else
        drain_ports(receiver);
    ckp_worker_finish(receiver->worker);
    return 0;
}
