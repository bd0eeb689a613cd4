/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a running probe as text of Prometheus, and what follows from it. */
#ifndef CKP_METRICS_H
#define CKP_METRICS_H

#include "kafka_statistics.h"
#include "vitals.h"

#include <stdio.h>

/** The receive loop counts as stuck once it has not turned for so long. */
#define CKP_STUCK_NS INT64_C(10000000000)

/** Kafka counts as out of reach once it has owed an answer for so long. */
#define CKP_SILENT_NS INT64_C(5000000000)

/** What is the same for the whole run. */
struct ckp_metrics_identity {
    const char *probe;
    const char *tap;
    const char *version;
    const char *timestamp_source;
    int64_t timestamp_resolution_ns;
    uint64_t session;
    bool has_kafka;
    bool has_filter_file;     /* that may be read anew */
    const char *const *ports; /* their names */
    size_t port_count;
    const char *const *extended[CKP_PORTS_MAX]; /* names of what their drivers count beside */
    size_t extended_count[CKP_PORTS_MAX];
};

/** What the kernel knows of its clock. */
struct ckp_clock_status {
    bool is_synchronised;
    double offset_seconds; /* that the kernel still has to work off */
    double error_seconds;  /* the clock is wrong by at most this */
};

struct ckp_metrics_worker {
    struct ckp_vitals_reading reading;
    struct ckp_kafka_statistics kafka; /* of its producer */
};

struct ckp_metrics {
    struct ckp_metrics_identity identity;
    enum ckp_stage stage;
    struct ckp_tap_reading tap;
    uint64_t filters; /* that were taken, and those that were not */
    uint64_t filters_refused;
    struct ckp_clock_status clock;
    int64_t now_ns; /* monotonic */
    uint32_t worker_count;
    struct ckp_metrics_worker workers[CKP_WORKERS_MAX];
};

/** Text format 0.0.4. */
void ckp_metrics_print(const struct ckp_metrics *metrics, FILE *out);

/** Whether the probe lives: its receive loops turn, or have not begun. @return NULL, or why not */
const char *ckp_metrics_why_not_alive(const struct ckp_metrics *metrics);

/** Whether what comes is received and goes on. @return NULL, or why not */
const char *ckp_metrics_why_not_ready(const struct ckp_metrics *metrics);

#endif
