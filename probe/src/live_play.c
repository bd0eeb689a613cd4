/* SPDX-License-Identifier: Apache-2.0 */
#include "live_play.h"

#include "clock.h"
#include "eal.h"
#include "exit_code.h"
#include "log.h"
#include "privileges.h"
#include "receiver.h"
#include "telemetry.h"

#include <stdlib.h>
#include <sys/random.h>

#define RESOLUTION_US_NS INT64_C(1000)

struct live {
    const struct ckp_options *options;
    struct ckp_reception reception;
    struct ckp_output output;
    struct ckp_worker *workers;
    struct ckp_receiver *receivers;
};

/* The thread is DPDK's, and has been there since before privileges were given up. */
static int run_in_thread(void *self)
{
    struct ckp_receiver *receiver = self;

    if (!ckp_privileges_drop_capabilities()) {
        ckp_log("the capabilities of worker %u cannot be given up", receiver->index);
        atomic_store(&receiver->reception->has_failed, true);
    }
    return ckp_receiver_run(receiver);
}

/* Worker 0 runs in this thread. */
static void run_all(struct live *live)
{
    for (uint32_t i = 1; i < live->reception.worker_count; i++)
        ckp_eal_launch(i, run_in_thread, &live->receivers[i]);
    ckp_receiver_run(&live->receivers[0]);
    ckp_output_drain(&live->output);
    ckp_eal_join();
}

static bool start_filter_watch(struct live *live)
{
    if (ckp_filter_watch_start(live->reception.filter, &live->output.tap))
        return true;
    ckp_log("there is no thread to watch the filter");
    return false;
}

static bool tell_of_gone_port(struct live *live)
{
    size_t count, gone = atomic_load(&live->reception.gone_port);
    const char *const *specs = ckp_option_list(live->options, CKP_OPTION_PORT, &count);

    if (gone > 0)
        ckp_log("port %s cannot be watched any more: its interface is gone", specs[gone - 1]);
    return gone > 0;
}

static int play(struct live *live)
{
    const struct ckp_reception *reception = &live->reception;
    enum ckp_timestamp_source timestamp_source = ckp_ports_timestamp_source(reception->ports);
    struct ckp_source source = {
        .session = (uint64_t)ckp_clock_utc_ns(),
        .timestamp_source = timestamp_source,
        .timestamp_resolution_ns =
            timestamp_source == CKP_TIMESTAMP_KERNEL || reception->idle_sleep_ns == 0
                ? RESOLUTION_US_NS
                : reception->idle_sleep_ns,
        .stop = reception->stop,
        .is_lossless = false,
        .receiving_workers = ckp_ports_queues(reception->ports) < reception->worker_count
                                 ? 1
                                 : reception->worker_count,
    };
    source.ports = ckp_option_list(live->options, CKP_OPTION_PORT, &source.port_count);
    for (size_t i = 0; i < source.port_count; i++)
        source.extended_count[i] = ckp_ports_extended(reception->ports, i, &source.extended[i]);
    int code = ckp_output_open(&live->output, live->options, &source, live->workers,
                               reception->worker_count);

    if (code != CKP_EXIT_ALL_DONE)
        return code;
    bool is_complete = start_filter_watch(live);
    atomic_store(&live->reception.has_failed, !is_complete);
    ckp_telemetry_start(live->output.vitals, reception->worker_count);
    run_all(live);
    is_complete &= !atomic_load(&live->reception.has_failed);
    ckp_telemetry_stop();
    ckp_filter_watch_free(live->reception.filter);
    live->reception.filter = NULL;
    is_complete &= !tell_of_gone_port(live);
    is_complete &= ckp_output_close(&live->output);
    return is_complete ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}

static int play_with_receivers(struct live *live)
{
    uint32_t count = live->reception.worker_count, ready = 0;
    int code = CKP_EXIT_NOT_ALL_DONE;

    live->workers = calloc(count, sizeof *live->workers);
    live->receivers = aligned_alloc(_Alignof(struct ckp_receiver), count * sizeof *live->receivers);
    while (live->workers && live->receivers && ready < count &&
           ckp_receiver_init(live->receivers, ready, &live->reception, &live->workers[ready]))
        ready++;
    if (ready == count)
        code = play(live);
    else
        ckp_log("there is no memory for %u workers", count);
    while (ready > 0)
        ckp_receiver_free(&live->receivers[--ready]);
    free(live->receivers);
    free(live->workers);
    return code;
}

static bool open_ports(struct live *live)
{
    struct ckp_reception *reception = &live->reception;
    struct ckp_ports_wish wish = {
        .eal_arguments = ckp_option_text(live->options, CKP_OPTION_EAL),
        .workers = reception->worker_count,
        .queues = (enum ckp_queues)ckp_option_number(live->options, CKP_OPTION_QUEUES),
    };
    char why[1024];

    wish.specs = ckp_option_list(live->options, CKP_OPTION_PORT, &wish.count);
    reception->ports = ckp_ports_open(&wish, why, sizeof why);
    if (!reception->ports)
        ckp_log("%s", why);
    else if (*ckp_ports_why_one_queue(reception->ports))
        ckp_log(
            "worker 0 of %u receives for all, for not every port can spread flows over queues (%s)",
            reception->worker_count, ckp_ports_why_one_queue(reception->ports));
    return reception->ports != NULL;
}

/* It was compiled before, when the options were read. */
static bool open_filter(struct live *live)
{
    const char *path = ckp_option_text(live->options, CKP_OPTION_FILTER_FILE);
    const char *expression = ckp_option_text(live->options, CKP_OPTION_FILTER);
    struct ckp_filter *filter = NULL;
    char why[1024];

    if (path)
        ckp_filter_watch_block_signal();
    if (expression)
        filter = ckp_filter_new_ethernet(expression, why, sizeof why);
    live->reception.filter = ckp_filter_watch_new(path, filter, live->reception.worker_count);
    if (!live->reception.filter)
        ckp_log("there is no memory");
    return live->reception.filter != NULL;
}

int ckp_play_ports(const struct ckp_options *options, const volatile sig_atomic_t *stop)
{
    int code = CKP_EXIT_NOT_ALL_DONE;
    struct live *live = calloc(1, sizeof *live);

    if (live) {
        live->options = options;
        live->reception.stop = stop;
        live->reception.output = &live->output;
        live->reception.worker_count = (uint32_t)ckp_option_number(options, CKP_OPTION_WORKERS);
        live->reception.may_shed = !options->value[CKP_OPTION_NO_SHED].is_given;
        live->reception.idle_sleep_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_SLEEP);
        /* Without a random seed only the protection against forged collisions is lost. */
        if (getrandom(&live->reception.spread_seed, sizeof(uint64_t), GRND_NONBLOCK) < 0)
            live->reception.spread_seed = CKP_TABLE_SEED_KNOWN;
        if (open_filter(live) && open_ports(live)) {
            code = play_with_receivers(live);
            ckp_ports_close(live->reception.ports);
        }
        ckp_filter_watch_free(live->reception.filter);
    }
    free(live);
    return code;
}
