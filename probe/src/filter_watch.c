/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_watch.h"

#include "log.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPLAINT_BYTES_MAX 512
#define LOOK_UP_US          1000 /* between two looks at what the receivers hold */

/* Written by its receiver alone; no other's shares its cache line. */
struct holder {
    _Alignas(64) _Atomic(struct ckp_filter *) held;
};

struct ckp_filter_watch {
    const char *path;
    _Atomic(struct ckp_filter *) newest;
    struct holder *holders;
    uint32_t holder_count;
    struct ckp_tap_vitals *vitals;
    pthread_t thread;
    bool is_started;
    _Atomic bool is_ending;
};

static sigset_t hangup(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    return set;
}

void ckp_filter_watch_block_signal(void)
{
    const sigset_t set = hangup();

    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGHUP, SIG_DFL); /* what is ignored cannot be waited for */
}

struct ckp_filter_watch *ckp_filter_watch_new(const char *path, struct ckp_filter *filter,
                                              uint32_t receiver_count)
{
    struct ckp_filter_watch *watch = calloc(1, sizeof *watch);
    struct holder *holders =
        aligned_alloc(_Alignof(struct holder), receiver_count * sizeof *holders);

    if (!watch || !holders) {
        free(watch);
        free(holders);
        ckp_filter_free(filter);
        return NULL;
    }
    memset(holders, 0, receiver_count * sizeof *holders);
    watch->path = path;
    watch->newest = filter;
    watch->holders = holders;
    watch->holder_count = receiver_count;
    return watch;
}

static struct ckp_filter *read_filter(const struct ckp_filter_watch *watch)
{
    char complaint[COMPLAINT_BYTES_MAX];
    struct ckp_filter *filter = NULL;
    char *expression = ckp_filter_file_read(watch->path, complaint, sizeof complaint);

    if (expression)
        filter = ckp_filter_new_ethernet(expression, complaint, sizeof complaint);
    if (!filter)
        ckp_log("filter file %s is not taken, the filter before it stays: %s", watch->path,
                complaint);
    free(expression);
    return filter;
}

static bool is_held_by_all(const struct ckp_filter_watch *watch, const struct ckp_filter *filter)
{
    for (uint32_t i = 0; i < watch->holder_count; i++)
        if (atomic_load_explicit(&watch->holders[i].held, memory_order_acquire) != filter)
            return false;
    return true;
}

/* Whoever holds the new filter looks at the old one no more. At the end nobody holds any. */
static void swap_in(struct ckp_filter_watch *watch, struct ckp_filter *filter)
{
    struct ckp_filter *old = atomic_exchange_explicit(&watch->newest, filter, memory_order_acq_rel);

    while (!is_held_by_all(watch, filter) && !atomic_load(&watch->is_ending))
        usleep(LOOK_UP_US);
    ckp_filter_free(old);
}

static void *watch_signal(void *self)
{
    struct ckp_filter_watch *watch = self;
    const sigset_t set = hangup();
    int signal_number;

    while (sigwait(&set, &signal_number) == 0 && !atomic_load(&watch->is_ending)) {
        struct ckp_filter *filter = read_filter(watch);
        if (filter)
            swap_in(watch, filter);
        atomic_fetch_add(filter ? &watch->vitals->filters : &watch->vitals->filters_refused, 1);
    }
    return NULL;
}

bool ckp_filter_watch_start(struct ckp_filter_watch *watch, struct ckp_tap_vitals *vitals)
{
    if (!watch->path)
        return true;
    watch->vitals = vitals;
    atomic_store(&vitals->filters, 1);
    watch->is_started = pthread_create(&watch->thread, NULL, watch_signal, watch) == 0;
    return watch->is_started;
}

const struct ckp_filter *ckp_filter_watch_hold(struct ckp_filter_watch *watch, uint32_t receiver)
{
    if (!watch)
        return NULL;
    struct ckp_filter *newest = atomic_load_explicit(&watch->newest, memory_order_acquire);
    struct holder *holder = &watch->holders[receiver];

    if (atomic_load_explicit(&holder->held, memory_order_relaxed) != newest)
        atomic_store_explicit(&holder->held, newest, memory_order_release);
    return newest;
}

void ckp_filter_watch_free(struct ckp_filter_watch *watch)
{
    if (!watch)
        return;
    if (watch->is_started) {
        atomic_store(&watch->is_ending, true);
        pthread_kill(watch->thread, SIGHUP);
        pthread_join(watch->thread, NULL);
    }
    ckp_filter_free(watch->newest);
    free(watch->holders);
    free(watch);
}
