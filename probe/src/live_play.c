/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One worker runs to completion: receive, decode, track, encode, hand over. Nothing in here may
 * wait but the sleep of an idle loop, for the kernel's queue overflows meanwhile.
 */
#include "live_play.h"

#include "clock.h"
#include "exit_code.h"
#include "filter.h"
#include "log.h"
#include "merge.h"
#include "output.h"
#include "source_dpdk.h"

#include <stdlib.h>
#include <unistd.h>

#define NANOS_PER_MICRO  1000
#define RESOLUTION_US_NS INT64_C(1000)
#define TELL_NS          (10 * CKP_NANOS_PER_SECOND) /* counters of an idle tap */
#define LOSSES_NS        CKP_NANOS_PER_SECOND
#define TEND_NS          CKP_VITALS_PERIOD_NS
#define DRAIN_NS         (100 * CKP_NANOS_PER_MILLI)

/* Frames may reach us this much later than their stamps: the time that passes without frames must
 * not overtake them. */
#define DELIVERY_NS (20 * CKP_NANOS_PER_MILLI)

struct live {
    const volatile sig_atomic_t *stop;
    struct ckp_ports *ports;
    struct ckp_filter *filter;
    struct ckp_merge merge; /* of two or more ports */
    struct ckp_worker worker;
    struct ckp_output output;
    int64_t idle_sleep_ns;
    int64_t losses_told_ns;
    int64_t tended_ns;
};

static void take_merged(struct live *live, int64_t now_ns)
{
    const struct ckp_packet *packet;

    while ((packet = ckp_merge_pop(&live->merge, now_ns)) != NULL)
        ckp_worker_take(&live->worker, packet);
}

/* With two feeds or more packets wait until they are in order. */
static void observe(struct live *live, size_t port, const struct ckp_frame *frame)
{
    struct ckp_packet packet;

    if (!ckp_filter_passes(live->filter, frame)) {
        ckp_worker_leave_out(&live->worker);
    } else if (ckp_ports_count(live->ports) == 1) {
        ckp_worker_observe(&live->worker, CKP_LINK_ETHERNET, frame);
    } else if (ckp_worker_decode(&live->worker, &packet, CKP_LINK_ETHERNET, frame)) {
        if (!ckp_merge_has_room(&live->merge, (uint32_t)port))
            take_merged(live, frame->time_ns);
        ckp_merge_push(&live->merge, (uint32_t)port, &packet);
    }
}

/* One burst of every port. @return how many frames */
static size_t receive(struct live *live)
{
    struct ckp_frame frames[CKP_BURST_MAX];
    size_t received = 0;

    for (size_t port = 0; port < ckp_ports_count(live->ports); port++) {
        size_t count = ckp_ports_receive(live->ports, port, frames);
        for (size_t i = 0; i < count; i++)
            observe(live, port, &frames[i]);
        received += count;
    }
    if (ckp_ports_count(live->ports) > 1)
        take_merged(live, ckp_clock_utc_ns());
    return received;
}

/* The drivers count since they were opened, so these counters are set, not added to. */
static void note_losses(struct live *live)
{
    struct ckp_port_losses losses = ckp_ports_losses(live->ports);
    uint64_t *value = live->worker.counters.value;

    value[CKP_COUNT_FRAMES_MISSED_PORT] = losses.missed;
    value[CKP_COUNT_FRAMES_MISSED_NO_BUFFER] = losses.no_buffer;
    value[CKP_COUNT_FRAMES_MISSED_ERRORS] = losses.errors;
    value[CKP_COUNT_FRAMES_MISSED_KERNEL] = losses.kernel;
    value[CKP_COUNT_FRAMES_MISSED_DEDUCED] = losses.deduced;
}

/* A clock that was set back is no reason to wait. */
static bool is_due(int64_t *last_ns, int64_t period_ns, int64_t now_ns)
{
    if ((uint64_t)(now_ns - *last_ns) < (uint64_t)period_ns)
        return false;
    *last_ns = now_ns;
    return true;
}

static void pass_time(struct live *live, int64_t now_ns)
{
    if (is_due(&live->losses_told_ns, LOSSES_NS, now_ns))
        note_losses(live);
    if (is_due(&live->tended_ns, TEND_NS, now_ns))
        ckp_output_tend(&live->output, &live->worker, ckp_clock_monotonic_ns());
    ckp_worker_pass_time(&live->worker, now_ns - DELIVERY_NS);
    ckp_batcher_tell(&live->worker.batcher, live->worker.tracker.clock.now_ns, TELL_NS);
}

static void run(struct live *live)
{
    while (!*live->stop && !ckp_output_has_failed(&live->output)) {
        size_t received = receive(live);
        pass_time(live, ckp_clock_utc_ns());
        if (received == 0 && live->idle_sleep_ns > 0)
            usleep((useconds_t)(live->idle_sleep_ns / NANOS_PER_MICRO));
    }
}

/* Takes what still lies in the queues, for a bounded time. */
static void drain(struct live *live)
{
    int64_t deadline_ns = ckp_clock_monotonic_ns() + DRAIN_NS;

    while (receive(live) > 0 && ckp_clock_monotonic_ns() < deadline_ns)
        continue;
    if (ckp_ports_count(live->ports) > 1)
        take_merged(live, INT64_MAX);
    note_losses(live);
}

static int play(struct live *live, const struct ckp_options *options)
{
    enum ckp_timestamp_source timestamp_source = ckp_ports_timestamp_source(live->ports);
    int64_t now_ns = ckp_clock_utc_ns();
    struct ckp_source source = {
        .session = (uint64_t)now_ns,
        .timestamp_source = timestamp_source,
        .timestamp_resolution_ns =
            timestamp_source == CKP_TIMESTAMP_KERNEL || live->idle_sleep_ns == 0
                ? RESOLUTION_US_NS
                : live->idle_sleep_ns,
        .stop = live->stop,
        .is_lossless = false,
    };
    int code = ckp_output_open(&live->output, options, &source, &live->worker);

    if (code != CKP_EXIT_ALL_DONE)
        return code;
    run(live);
    ckp_output_drain(&live->output);
    drain(live);
    ckp_worker_finish(&live->worker);
    bool is_complete = ckp_output_close(&live->output, &live->worker);
    ckp_worker_free(&live->worker);
    return is_complete ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}

static bool open_ports(struct live *live, const struct ckp_options *options)
{
    const char *expression = ckp_option_text(options, CKP_OPTION_FILTER);
    size_t count;
    const char *const *specs = ckp_option_list(options, CKP_OPTION_PORT, &count);
    char why[1024];

    if (expression) /* checked when the options were read */
        live->filter = ckp_filter_new_ethernet(expression, why, sizeof why);
    live->ports =
        ckp_ports_open(specs, count, ckp_option_text(options, CKP_OPTION_EAL), why, sizeof why);
    if (!live->ports)
        ckp_log("%s", why);
    return live->ports != NULL;
}

int ckp_play_ports(const struct ckp_options *options, const volatile sig_atomic_t *stop)
{
    int code = CKP_EXIT_NOT_ALL_DONE;
    struct live *live = calloc(1, sizeof *live);

    if (live && open_ports(live, options)) {
        live->stop = stop;
        live->idle_sleep_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_SLEEP);
        if (ckp_merge_init(&live->merge, (uint32_t)ckp_ports_count(live->ports)))
            code = play(live, options);
        ckp_merge_free(&live->merge);
        ckp_ports_close(live->ports);
    }
    if (live)
        ckp_filter_free(live->filter);
    free(live);
    return code;
}
