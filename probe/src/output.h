/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the workers, as the options say: a sink for each, and the ledger at the end. */
#ifndef CKP_OUTPUT_H
#define CKP_OUTPUT_H

#include "health.h"
#include "options.h"
#include "settlement.h"
#include "sink.h"
#include "worker.h"

/** What a source says of its frames. */
struct ckp_source {
    /** Called once privileges are given up, to tell session and resolution; NULL: they are known.
     */
    void (*learn)(void *self, struct ckp_source *source);
    void *self;
    uint64_t session;         /* unless --session says otherwise */
    bool has_hash_as_session; /* of frames, addresses included */
    enum ckp_timestamp_source timestamp_source;
    int64_t timestamp_resolution_ns;
    const volatile sig_atomic_t *stop; /* set once the probe has been told to end */
    bool is_lossless;                  /* it can wait for a slow sink */
    uint32_t receiving_workers;        /* the first so many; the others are handed packets */
    const char *const *ports;          /* their names, or NULL */
    size_t port_count;
    const char *const *extended[CKP_PORTS_MAX]; /* names of what their drivers count beside */
    size_t extended_count[CKP_PORTS_MAX];
};

/** Where the batches of one worker go. Of its thread alone while there are frames. */
struct ckp_outlet {
    struct ckp_sink sink;
    struct ckp_anonymiser *anonymiser; /* or NULL */
    int64_t tended_ns;
};

struct ckp_output {
    const struct ckp_options *options;
    uint64_t session;
    struct ckp_worker *workers;
    uint32_t worker_count;
    struct ckp_domain_rules domain_rules;
    struct ckp_outlet outlets[CKP_WORKERS_MAX];
    struct ckp_vitals vitals[CKP_WORKERS_MAX];
    struct ckp_tap_vitals tap;
    struct ckp_health *health; /* NULL without --metrics */
    struct ckp_dump *dump;     /* NULL without --ring-memory */
    FILE *ledger;              /* NULL: standard error */
    struct ckp_settlement settlement;
};

/** Opens the sinks, gives up all privileges (whatever else is to be opened must be open by then),
 * and starts the workers that write into the sinks. @return an exit code, 0 if all went well; else
 * one sentence was told and nothing is to be freed */
int ckp_output_open(struct ckp_output *output, const struct ckp_options *options,
                    const struct ckp_source *source, struct ckp_worker *workers,
                    uint32_t worker_count);

/** Of a worker's thread: whether its sink takes nothing more. */
bool ckp_output_has_failed(const struct ckp_output *output, uint32_t worker);

/** Of a worker's thread: how full the queue of its sink is, 0..1, or CKP_FILL_UNKNOWN. */
double ckp_output_fill(const struct ckp_output *output, uint32_t worker);

/** For the receive loop of a worker, as often as it likes: a few times a second looks after its
 * sink and publishes how things stand. @param now_ns of the monotonic clock */
void ckp_output_tend(struct ckp_output *output, uint32_t worker, int64_t now_ns);

/** From now on no frames are received, only delivered. */
void ckp_output_drain(struct ckp_output *output);

/** Once all workers have finished: waits for the last batches, writes the ledger and checks it, and
 * frees the workers. @return false if anything was lost; then one sentence was told */
bool ckp_output_close(struct ckp_output *output);

#endif
