/* SPDX-License-Identifier: Apache-2.0 */
#include "telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <rte_telemetry.h>
#include <stdlib.h>

_Static_assert(CKP_COUNTERS <= RTE_TEL_MAX_DICT_ENTRIES, "a dictionary should hold all counters");

/* DPDK hands nothing of ours to its callbacks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ckp_vitals *vitals_of_workers;
static uint32_t workers;

static void add_worker(struct ckp_counters *sum, uint32_t worker)
{
    struct ckp_vitals_reading reading = ckp_vitals_read(&vitals_of_workers[worker]);

    for (int i = 0; i < CKP_COUNTERS; i++)
        sum->value[i] += reading.counter[i];
}

/* @return false if there is no such worker */
static bool sum_up(struct ckp_counters *sum, const char *parameters)
{
    char *end;
    unsigned long worker = parameters ? strtoul(parameters, &end, 10) : 0;
    bool is_one = parameters && *parameters;

    if (is_one && (*end != '\0' || worker >= workers))
        return false;
    for (uint32_t i = 0; i < workers; i++)
        if (!is_one || i == worker)
            add_worker(sum, i);
    return workers > 0;
}

static int tell(const char *command, const char *parameters, struct rte_tel_data *data)
{
    struct ckp_counters sum = {0};

    (void)command;
    pthread_mutex_lock(&lock);
    bool is_known = sum_up(&sum, parameters);
    pthread_mutex_unlock(&lock);
    if (!is_known)
        return -EINVAL;
    rte_tel_data_start_dict(data);
    for (int i = 0; i < CKP_COUNTERS; i++)
        rte_tel_data_add_dict_u64(data, ckp_counter_info[i].name, sum.value[i]);
    return 0;
}

static void set(const struct ckp_vitals *vitals, uint32_t worker_count)
{
    pthread_mutex_lock(&lock);
    vitals_of_workers = vitals;
    workers = worker_count;
    pthread_mutex_unlock(&lock);
}

void ckp_telemetry_start(const struct ckp_vitals *vitals, uint32_t worker_count)
{
    set(vitals, worker_count);
    rte_telemetry_register_cmd("/chokepoint/stats", tell,
                               "Counters of the probe, summed over workers. Parameter: one worker");
}

void ckp_telemetry_stop(void)
{
    set(NULL, 0);
}
